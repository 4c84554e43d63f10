//! The notification queue, and its messages.

use crate::pledge::NotificationService;
use serde::{Deserialize, Serialize};
use std::pin::Pin;

/// A message of the queue. It has no personal data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// The transaction's ID.
    pub id: String,
    /// When the transaction was created, an RFC 3339 date-time.
    pub created_at: String,
    /// 1 for the first notification. Each resend has the next number.
    #[serde(default = "first_round")]
    pub round: u32,
    /// The service that delivers. Messages about e-mails leave it out, as those of earlier releases do.
    #[serde(default, skip_serializing_if = "NotificationService::is_email")]
    pub service: NotificationService,
}

/// Returns the round of the first notification.
pub(super) fn first_round() -> u32 {
    1
}

/// A future that returns whether the message is in the queue.
pub type PutFuture<'m> = Pin<Box<dyn Future<Output = bool> + 'm>>;

/// The notification queue.
pub trait Outbox {
    /// Puts a message into the queue. The queue delivers it at least once, after a delay within which KV usually shows
    /// the transaction's record. Returns whether the queue took the message within 2 seconds.
    fn put<'m>(&'m self, message: &'m Message) -> PutFuture<'m>;
}
