//! The record of a notification whose message waits in the queue.

use crate::pledges::version::Version;
use serde::{Deserialize, Serialize};

/// `mail-queued:{id}`: records that the message for a notification is in the queue. The message may also be
/// for a resend of the notification.
///
/// The record is ignored once this sending or a later resend has an outcome. It is also ignored one day after
/// the message was due.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Queued {
    /// The number of this sending: 1 for the first notification, and one more for each resend.
    pub round: u32,
    /// When the message was last known to be in the queue, an RFC 3339 date-time.
    pub at: String,
    /// When the queue should deliver the message, an RFC 3339 date-time.
    pub until: String,
    /// The mail service's code that says why the message waits. `None` if an operator put the message into
    /// the queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_deserializing)]
    pub version: Version,
}
