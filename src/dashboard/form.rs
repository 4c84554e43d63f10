//! What a form sends.

use super::{Refusal, Result};
use crate::scope::Mode;

/// Most fields that are read.
const MAX_FIELDS: usize = 200;

/// The fields of a form, or the parameters of an address. Of two with one name the first counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    pub fn parse(encoded: &[u8]) -> Self {
        let fields = form_urlencoded::parse(encoded).take(MAX_FIELDS);
        Form(fields.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// A field without blanks around it; empty if it was not sent.
    pub fn text(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// A field as it was sent; empty if it was not.
    pub fn raw(&self, name: &str) -> &str {
        self.0.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }

    /// A field without blanks around it; `None` if nothing is left.
    pub fn given(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// These fields alone.
    pub fn only(&self, names: &[&str]) -> Self {
        let mut fields = self.0.clone();
        fields.retain(|(name, _)| names.contains(&&**name));
        Form(fields)
    }

    /// The field `mode`: live where it was not sent.
    pub fn mode(&self) -> Result<Mode> {
        match self.given("mode") {
            None => Ok(Mode::Live),
            Some(name) => Mode::from_name(name)
                .ok_or_else(|| Refusal::invalid("there are the modes live and test")),
        }
    }
}
