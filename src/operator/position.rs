//! Places in lists, at which a later request goes on.

use std::fmt::{self, Display, Formatter};

/// Most bytes of the text of a position: a cursor of Workers KV has a few hundred, a name at most 512.
const MAX_BYTES: usize = 2_048;
/// Between the parts of the text. No name of a record that is listed in steps has it.
const SEPARATOR: char = '~';

/// A place in one list or several, one after the other. Its text, `{list}~{after}~{cursor}`, fits a
/// hidden field of a form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Which of the lists, from 0 to 9.
    pub(super) list: usize,
    /// The cursor that leads to the page; `None` for the first one.
    pub(super) cursor: Option<String>,
    /// The name of the last record of the page that was dealt with. It stays right if records of the
    /// page are no longer listed, or others come before them.
    pub(super) after: Option<String>,
}

impl Position {
    /// Reads the text of a position; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let is_plain = text.len() <= MAX_BYTES && text.bytes().all(|byte| byte.is_ascii_graphic());
        let (list, rest) = text.split_once(SEPARATOR).filter(|_| is_plain)?;
        let (after, cursor) = rest.split_once(SEPARATOR)?;
        let list = list.parse::<char>().ok()?.to_digit(10)? as usize;
        let part = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        Some(Position { list, cursor: part(cursor), after: part(after) })
    }

    /// Whether a record of its page was not yet dealt with.
    pub(super) fn is_before(&self, name: &str) -> bool {
        self.after.as_deref().is_none_or(|after| name > after)
    }

    /// The same page, after a record of it.
    pub(super) fn after(&self, name: &str) -> Self {
        Position { after: Some(name.to_owned()), ..self.clone() }
    }

    /// The beginning of the next page, which the cursor of this one leads to, or of the next list.
    pub(super) fn next_page(&self, cursor: Option<String>) -> Self {
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
