//! The notification queue, and its messages.

use crate::pledges::types::NotificationService;
use serde::{Deserialize, Serialize};
use std::pin::Pin;

/// A message of the notification queue. It has no personal data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// The transaction's ID.
    pub id: String,
    /// When the transaction was created, an RFC 3339 date-time.
    pub created_at: String,
    /// The number of this sending of the notification: 1 for the first sending, and one more for each resend.
    pub round: u32,
    /// The service that delivers the notification.
    pub service: NotificationService,
}

/// The [round](Message::round) of a notification's first sending.
pub(super) const FIRST_ROUND: u32 = 1;

/// A future that returns whether the queue accepted the message.
pub type PutFuture<'m> = Pin<Box<dyn Future<Output = bool> + 'm>>;

/// The notification queue.
pub trait Outbox {
    /// Puts a message into the queue. Returns whether the queue accepted it within 2 seconds. The queue
    /// delivers the message at least once, after a delay. By then, KV usually shows the transaction's record.
    fn put<'m>(&'m self, message: &'m Message) -> PutFuture<'m>;
}
