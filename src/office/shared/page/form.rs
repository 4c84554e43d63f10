use super::refusal::{Refusal, Result};
use crate::pledges::scope::Mode;

/// Maximum number of fields; the rest are ignored. A table of prices has 2 fields in each of 200 rows.
const MAX_FIELDS: usize = 500;

/// The fields of a form, or the parameters of a query string. If a name occurs twice, the first value counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    pub fn parse(encoded: &[u8]) -> Self {
        let fields = form_urlencoded::parse(encoded).take(MAX_FIELDS);
        Form(fields.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// Returns a field, trimmed; empty if it was not sent.
    pub fn text(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// Returns a field as it was sent; empty if it was not sent.
    pub fn raw(&self, name: &str) -> &str {
        self.0.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Returns a field, trimmed; `None` if it is empty.
    pub fn given(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// Returns the fields whose names begin with this prefix. The names are without the prefix, and the values are trimmed.
    pub fn with_prefix(&self, prefix: &str) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .filter_map(move |(name, text)| Some((name.strip_prefix(prefix)?, text.trim())))
    }

    /// Returns whether the form has a field of this name.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(own, _)| own == name)
    }

    pub fn only(&self, names: &[&str]) -> Self {
        let mut fields = self.0.clone();
        fields.retain(|(name, _)| names.contains(&&**name));
        Form(fields)
    }

    /// Returns the field `mode`, which defaults to live.
    pub fn mode(&self) -> Result<Mode> {
        match self.given("mode") {
            None => Ok(Mode::Live),
            Some(name) => {
                Mode::from_name(name).ok_or_else(|| Refusal::invalid("`mode` must be live or test"))
            }
        }
    }
}
