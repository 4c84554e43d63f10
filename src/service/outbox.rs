//! The notification queue, and its messages.

use crate::pledge::NotificationService;
use serde::{Deserialize, Serialize};
use std::pin::Pin;

/// A message of the queue. It has no personal data.
///
/// In the JSON, a messaging service's message has the ID as `transactionId`. A release that knows only e-mails does not
/// read such a message: after a rollback it drops the message, and sends no e-mail that nobody asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", into = "Queued")]
pub struct Message {
    /// The transaction's ID.
    #[serde(alias = "transactionId")]
    pub id: String,
    /// When the transaction was created, an RFC 3339 date-time.
    pub created_at: String,
    /// 1 for the first notification. Each resend has the next number.
    #[serde(default = "first_round")]
    pub round: u32,
    /// The service that delivers. Messages about e-mails leave it out, as those of earlier releases do.
    #[serde(default)]
    pub service: NotificationService,
}

/// The JSON of a [`Message`].
#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum Queued {
    Email { id: String, created_at: String, round: u32 },
    Other { transaction_id: String, created_at: String, round: u32, service: NotificationService },
}

impl From<Message> for Queued {
    fn from(Message { id, created_at, round, service }: Message) -> Self {
        match service {
            NotificationService::Email => Queued::Email { id, created_at, round },
            service => Queued::Other { transaction_id: id, created_at, round, service },
        }
    }
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
