//! The positions at which the steps of erasing a person begin.

use crate::office::orders::rows::order::PageCursor;
use crate::office::shared::rule::position::Position;
use crate::pledges::store::ReceivedKey;
use std::fmt::{self, Display, Formatter};

/// The position at which a step of erasing a person begins. A form can carry it as text in a hidden field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErasureCursor {
    /// The ID of a delivery of a shop system; `None` is the beginning.
    Received(Option<String>),
    /// A position among the transactions that the ledger finds; `None` is the first one.
    Found(Option<PageCursor>),
    /// A position in the lists of Workers KV.
    Listed(Position),
}

impl ErasureCursor {
    /// Parses the position from its text. Returns `None` if the text is not a position.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(id) = text.strip_prefix(RECEIVED) {
            return ReceivedKey::from_id(id).map(|key| ErasureCursor::Received(Some(key.id())));
        }
        match text.strip_prefix(FOUND) {
            Some("") => Some(ErasureCursor::Found(None)),
            Some(place) => PageCursor::parse(place).map(|place| ErasureCursor::Found(Some(place))),
            None => Position::parse(text).map(ErasureCursor::Listed),
        }
    }
}

/// The prefixes of positions among deliveries and in the ledger, written as text. The text of a position in KV begins with a
/// digit instead.
const RECEIVED: &str = "received-";
const FOUND: &str = "found-";

impl Display for ErasureCursor {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ErasureCursor::Received(Some(id)) => write!(out, "{RECEIVED}{id}"),
            ErasureCursor::Received(None) => Ok(()),
            ErasureCursor::Found(Some(place)) => write!(out, "{FOUND}{place}"),
            ErasureCursor::Found(None) => out.write_str(FOUND),
            ErasureCursor::Listed(position) => position.fmt(out),
        }
    }
}
