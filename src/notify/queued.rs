//! The record of a round whose message is in the queue.

use crate::version::Version;
use serde::{Deserialize, Serialize};

/// A round whose message is in the queue: `mail-queued:{id}`. It counts until a round as late has ended, or
/// a day after the queue was to deliver it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Queued {
    /// The round.
    pub round: u32,
    /// Since when it is known to be there, an RFC 3339 date-time.
    pub at: String,
    /// When the queue delivers it, an RFC 3339 date-time.
    pub until: String,
    /// Why it waits: a mail service's code. `None` if an operator has put it there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The format of the record.
    #[serde(default)]
    pub version: Version,
}
