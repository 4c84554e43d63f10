//! The queue of the ledger: a create that was recorded puts a message into it, and does not wait.

use super::outbox::Putting;
use crate::pledge::TransactionId;
use crate::store::{LedgerUnsentKey, NoMetadata, Recorded, Store};

/// The queue of the ledger.
pub trait LedgerQueue {
    /// Begins to put a message into the queue, as [`put_or_mark`] does, and returns at once: the answer of
    /// the create waits for nothing of it.
    fn send(&self, message: Recorded);
}

/// Waits for a message that is put into the queue. If the queue does not take it, marks the transaction, so
/// that the next reconciliation finds it at once. Without the mark it is found later, by the pass over all.
pub async fn put_or_mark(store: &impl Store, id: &TransactionId, message: Putting<'_>) {
    if !message.await {
        let _ = store.put(&LedgerUnsentKey(id), b"{}".to_vec(), &NoMetadata).await;
    }
}
