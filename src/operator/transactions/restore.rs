//! What a restore does with transactions that were erased.

use super::Record;
use super::erase::without_texts;
use crate::operator::Result;
use crate::store::{
    ErasedKey, FailedMailKey, Key as _, NotificationKey, OperatorStore, Recorded, TransactionKey,
    TransactionMetadata,
};
use serde::Serialize;
use serde_json::Value;

/// The name of the transaction's record, if a record of this name marks it as erased.
pub fn marked(name: &str) -> Option<String> {
    ErasedKey::parse(name).map(|id| TransactionKey(&id).name())
}

/// The name of the transaction's record, if a record of this name says what became of its e-mail. A
/// restore leaves the place's own, which may be newer: an older one could cause a second e-mail.
pub fn about(name: &str) -> Option<String> {
    let failed = FailedMailKey::parse(name).map(|(_, id)| id);
    NotificationKey::parse(name).or(failed).map(|id| TransactionKey(&id).name())
}

/// Whether a record of this name and metadata is a transaction that was erased. A restore leaves it.
pub fn is_erased(name: &str, metadata: &Value) -> bool {
    let id = TransactionKey::parse(name);
    let recorded = id.and_then(|id| Recorded::from_metadata(id, metadata).ok());
    recorded.is_some_and(|recorded| recorded.summary.erased.is_some())
}

/// A record of a backup as it is restored.
#[derive(Clone, Debug, Serialize)]
pub struct Restored {
    /// The answer of the get operation.
    pub value: String,
    /// The metadata beside it.
    pub metadata: TransactionMetadata,
}

/// Erases a transaction of a backup that is marked as erased; `None` if it is damaged: then it is left
/// out, as nobody knows what it has.
///
/// # Errors
/// If the store fails.
pub async fn erase_restored(
    store: &impl OperatorStore,
    now_ms: u64,
    name: &str,
    value: &str,
    metadata: Value,
) -> Result<Option<Restored>> {
    let Some(id) = TransactionKey::parse(name) else { return Ok(None) };
    let record = Record { id, value: value.as_bytes().to_vec(), metadata };
    if record.transaction().is_err() || record.metadata().is_err() {
        return Ok(None);
    }
    let (value, metadata) = without_texts(store, &record, now_ms).await?;
    Ok(String::from_utf8(value).ok().map(|value| Restored { value, metadata }))
}
