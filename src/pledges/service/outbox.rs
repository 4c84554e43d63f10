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
    /// The IDs of updates that an e-mail with news is to tell of. Empty for a notification that the create request asked for.
    /// For an e-mail with news, `round` is the month in which it was queued, such as `202611`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub updates: Vec<String>,
}

/// Maximum number of messages that are put into the queue at once: Cloudflare's limit.
pub const MAX_BATCH: usize = 100;

/// The [round](Message::round) of a notification's first sending.
pub(super) const FIRST_ROUND: u32 = 1;

/// A future that returns whether the queue accepted the message.
pub type PutFuture<'m> = Pin<Box<dyn Future<Output = bool> + 'm>>;

/// The notification queue.
pub trait Outbox {
    /// Puts a message into the queue. Returns whether the queue accepted it within 2 seconds. The queue
    /// delivers the message at least once, after a delay. By then, KV usually shows the transaction's record.
    fn put<'m>(&'m self, message: &'m Message) -> PutFuture<'m>;

    /// Puts at most [`MAX_BATCH`] messages into the queue, as [`put`](Self::put) does. If the result is `false`, the queue may
    /// have accepted some of them.
    fn put_all<'m>(&'m self, messages: &'m [Message]) -> PutFuture<'m> {
        Box::pin(async move {
            let mut is_put = true;
            for message in messages {
                is_put = is_put && self.put(message).await;
            }
            is_put
        })
    }
}
