//! The position at which a step of an erasure begins.

use crate::office::orders::rows::order::PageCursor;
use crate::office::shared::rule::position::Position;
use std::fmt::{self, Display, Formatter};

/// The position at which a step of erasing a person begins. A form can carry it as text in a hidden field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErasureCursor {
    /// A position among the transactions that the ledger finds; `None` is the beginning.
    Found(Option<PageCursor>),
    /// A position in the lists of Workers KV.
    Listed(Position),
}

impl ErasureCursor {
    /// Parses the position in the units' records from its text. Returns `None` if the text is not a
    /// position.
    pub fn parse(text: &str) -> Option<Self> {
        match text.strip_prefix(FOUND) {
            Some(place) => PageCursor::parse(place).map(|place| ErasureCursor::Found(Some(place))),
            None => Position::parse(text).map(ErasureCursor::Listed),
        }
    }
}

/// The prefix of a position in the ledger, written as text. The text of a position in KV begins with a
/// digit instead.
const FOUND: &str = "found-";

impl Display for ErasureCursor {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ErasureCursor::Found(Some(place)) => write!(out, "{FOUND}{place}"),
            ErasureCursor::Found(None) => Ok(()),
            ErasureCursor::Listed(position) => position.fmt(out),
        }
    }
}
