//! The record that a transaction was cancelled, which only the timeline reads.

use super::key::Key;
use super::metadata::NoMetadata;
use crate::pledge::TransactionId;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The key `cancelled:{transaction id}` of the record that says when an operator cancelled a transaction. An
/// operator who credits a transaction in full can choose to write it, so that the timeline shows the
/// cancellation. The record has no personal data, so an erasure keeps it.
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

/// The value of the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancelled {
    /// When the transaction was cancelled, an RFC 3339 date-time.
    pub at: String,
}
