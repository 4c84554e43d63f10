//! The ledger's queue. After recording a create request or receiving an order of a shop system, the service puts a message
//! into this queue, and does not wait for the result.

use crate::pledges::store::{LedgerUnsentKey, NoMetadata, ReceivedKey, Recorded, Store};
use crate::pledges::types::TransactionId;
use serde::{Deserialize, Serialize};

pub trait LedgerQueue {
    /// Begins to put a message into the queue, and returns at once, so that the answer to the create request is not
    /// delayed. If the queue does not accept the message, the transaction is [marked](mark_unsent).
    fn send(&self, message: Recorded);
    /// Begins to put a message about a received order into the queue, and returns at once. If the queue does not accept the
    /// message, the office finds the order in a list of the store.
    fn send_received(&self, received: &ReceivedKey);
}

/// The message about a received order.
#[derive(Debug, Serialize, Deserialize)]
pub struct ReceivedMessage {
    /// The [ID](ReceivedKey::id) of the delivery.
    pub received: String,
}

/// Marks a transaction whose message the ledger's queue did not accept. The next reconciliation of the ledger
/// with KV then finds the transaction immediately. Without the mark, it is found later, when all transactions
/// are compared.
pub async fn mark_unsent(store: &impl Store, id: &TransactionId) {
    let _ = store.put(&LedgerUnsentKey(id), b"{}".to_vec(), &NoMetadata).await;
}
