//! Positions in lists, from which a later request continues.

use std::fmt::{self, Display, Formatter};

/// Largest size of a position's text, in bytes. The text contains a cursor of Workers KV (a few hundred
/// bytes) and a record's name (at most 512 bytes).
const MAX_BYTES: usize = 2_048;
/// Separates the parts of a position's text. It does not occur in the names of the listed records.
const SEPARATOR: char = '~';

/// A position in several lists that are read one after the other. Its text, `{list}~{after}~{cursor}`, fits a
/// hidden field of a form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The index of the list.
    pub(crate) list: usize,
    pub(crate) cursor: Option<String>,
    /// The name of the last processed record of the page. Unlike an index, the name stays valid if records of
    /// the page are removed or added.
    pub(crate) after: Option<String>,
}

impl Position {
    /// Parses the text of a position; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let is_plain = text.len() <= MAX_BYTES && text.bytes().all(|byte| byte.is_ascii_graphic());
        let (list, rest) = text.split_once(SEPARATOR).filter(|_| is_plain)?;
        let (after, cursor) = rest.split_once(SEPARATOR)?;
        let list = list.parse().ok()?;
        let part = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        Some(Position { list, cursor: part(cursor), after: part(after) })
    }

    /// Returns whether this position is before a record of the page. If so, the record has not been processed
    /// yet.
    pub(crate) fn is_before(&self, name: &str) -> bool {
        self.after.as_deref().is_none_or(|after| name > after)
    }

    pub(crate) fn after(&self, name: &str) -> Self {
        Position { after: Some(name.to_owned()), ..self.clone() }
    }

    /// Returns the position at the beginning of the page with this cursor. Without a cursor, returns the
    /// beginning of the next list.
    pub(crate) fn next_page(&self, cursor: Option<String>) -> Self {
        let list = self.list + usize::from(cursor.is_none());
        Position { list, cursor, after: None }
    }
}

impl Display for Position {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let part = |text: &'_ Option<String>| text.clone().unwrap_or_default();
        let (after, cursor) = (part(&self.after), part(&self.cursor));
        write!(out, "{}{SEPARATOR}{after}{SEPARATOR}{cursor}", self.list)
    }
}
