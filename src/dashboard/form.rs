//! What a form sends.

use super::{Refusal, Result};
use crate::scope::Mode;
use std::collections::BTreeMap;

/// Most fields that are read.
const MAX_FIELDS: usize = 200;

/// The fields of a form, or the parameters of an address. Of two with one name the first counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Form(BTreeMap<String, String>);

impl Form {
    pub fn parse(encoded: &[u8]) -> Self {
        let mut fields = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(encoded).take(MAX_FIELDS) {
            fields.entry(name.into_owned()).or_insert_with(|| value.into_owned());
        }
        Form(fields)
    }

    /// A field without blanks around it; empty if it was not sent.
    pub fn text(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// A field as it was sent; empty if it was not.
    pub fn raw(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// A field without blanks around it; `None` if nothing is left.
    pub fn given(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// These fields alone.
    pub fn only(&self, names: &[&str]) -> Self {
        let mut fields = self.0.clone();
        fields.retain(|name, _| names.contains(&&**name));
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
