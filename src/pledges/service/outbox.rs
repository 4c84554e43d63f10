//! The notification queue, and its messages.

use crate::pledges::types::NotificationService;
use serde::{Deserialize, Serialize};
use std::pin::Pin;

/// A message of the notification queue. It has no personal data.
///
/// In the JSON of a message for a messaging service, the transaction's ID is named `transactionId`. An older
/// release that knows only e-mails cannot read such a message. After a rollback, that release drops the
/// message, instead of sending an e-mail that nobody asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", into = "QueuedMessage")]
pub struct Message {
    /// The transaction's ID.
    #[serde(alias = "transactionId")]
    pub id: String,
    /// When the transaction was created, an RFC 3339 date-time.
    pub created_at: String,
    /// The number of this sending of the notification: 1 for the first sending, and one more for each resend.
    #[serde(default = "first_round")]
    pub round: u32,
    /// The service that delivers the notification. The message of an e-mail leaves out this member, as in
    /// earlier releases.
    #[serde(default)]
    pub service: NotificationService,
}

/// The JSON of a [`Message`].
#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum QueuedMessage {
    Email { id: String, created_at: String, round: u32 },
    Other { transaction_id: String, created_at: String, round: u32, service: NotificationService },
}

impl From<Message> for QueuedMessage {
    fn from(Message { id, created_at, round, service }: Message) -> Self {
        match service {
            NotificationService::Email => QueuedMessage::Email { id, created_at, round },
            service => QueuedMessage::Other { transaction_id: id, created_at, round, service },
        }
    }
}

/// Returns 1, the number of a notification's first sending. Each resend has the next number.
pub(super) fn first_round() -> u32 {
    1
}

/// A future that returns whether the queue accepted the message.
pub type PutFuture<'m> = Pin<Box<dyn Future<Output = bool> + 'm>>;

/// The notification queue.
pub trait Outbox {
    /// Puts a message into the queue. Returns whether the queue accepted it within 2 seconds. The queue
    /// delivers the message at least once, after a delay. By then, KV usually shows the transaction's record.
    fn put<'m>(&'m self, message: &'m Message) -> PutFuture<'m>;
}
