//! The record of a round whose message is in the queue.

use crate::version::Version;
use serde::{Deserialize, Serialize};

/// `mail-queued:{id}`: the record of a round whose message is in the queue. It is ignored once this round or a later
/// one has ended, and a day after the time at which the queue should deliver the message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Queued {
    /// The number of the round.
    pub round: u32,
    /// When the message was found to be in the queue, an RFC 3339 date-time.
    pub at: String,
    /// When the queue should deliver the message, an RFC 3339 date-time.
    pub until: String,
    /// Why the message waits: a mail service's code. `None` if an operator put it into the queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The format of the record.
    #[serde(default)]
    pub version: Version,
}
