//! The ledger's queue. A create request that was recorded puts a message into the queue, and does not wait for it.

use crate::pledge::TransactionId;
use crate::store::{LedgerUnsentKey, NoMetadata, Recorded, Store};

/// The ledger's queue.
pub trait LedgerQueue {
    /// Begins to put a message into the queue, and returns at once, so that the answer to the create request is not
    /// delayed. If the queue does not accept the message, the transaction is [marked](mark_unsent).
    fn send(&self, message: Recorded);
}

/// Marks a transaction whose message the queue did not accept, so that the next reconciliation finds it immediately.
/// Without the mark, the pass over all transactions finds it later.
pub async fn mark_unsent(store: &impl Store, id: &TransactionId) {
    let _ = store.put(&LedgerUnsentKey(id), b"{}".to_vec(), &NoMetadata).await;
}
