use super::key::Key;
use super::metadata::NoMetadata;
use crate::pledges::types::TransactionId;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The key `cancelled:{transaction id}` of a record that says when an operator cancelled the transaction. An
/// operator may write the record when crediting the transaction in full. The timeline then shows the
/// cancellation, and no notification about the transaction is sent any more. An erasure keeps the record, because it has no personal data.
#[derive(Clone, Copy, Debug)]
pub struct CancelledKey<'k>(pub &'k TransactionId);

impl Key for CancelledKey<'_> {
    type Metadata = NoMetadata;
    const KIND: &'static str = "mark of a cancellation";
    const PREFIX: &'static str = "cancelled:";
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0.as_str())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancelled {
    /// When the transaction was cancelled, an RFC 3339 date-time.
    pub at: String,
}
