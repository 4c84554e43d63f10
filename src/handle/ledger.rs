//! The queue of the ledger: a create that was recorded puts a message into it, and does not wait.

use crate::pledge::TransactionId;
use crate::store::{LedgerUnsentKey, NoMetadata, Recorded, Store};

/// The queue of the ledger.
pub trait LedgerQueue {
    /// Begins to put a message into the queue, and returns at once: the answer of the create waits for nothing
    /// of it. A message that the queue does not take is [marked](mark_unsent).
    fn send(&self, message: Recorded);
}

/// Marks a transaction whose message the queue did not take, so that the next reconciliation finds it at
/// once. Without the mark it is found later, by the pass over all.
pub async fn mark_unsent(store: &impl Store, id: &TransactionId) {
    let _ = store.put(&LedgerUnsentKey(id), b"{}".to_vec(), &NoMetadata).await;
}
