//! How a restore treats erased transactions.

use super::Record;
use super::erase::without_texts;
use crate::office::shared::rule::error::Result;
use crate::pledges::store::{
    ErasedKey, FailedMailKey, Key as _, NotificationKey, OperatorStore, Recorded, TransactionKey,
    TransactionMetadata,
};
use serde::Serialize;
use serde_json::Value;

/// Converts the name of an erasure mark to the name of the erased transaction's record. Returns `None` for
/// any other name.
pub fn marked(name: &str) -> Option<String> {
    ErasedKey::parse(name).map(|id| TransactionKey(&id).name())
}

/// Parses the name of a record with an e-mail's delivery state. Returns the name of the record of the
/// e-mail's transaction, or `None` for any other name.
///
/// A restore keeps the existing delivery state, because an older state could cause a second e-mail.
pub fn about(name: &str) -> Option<String> {
    let failed = FailedMailKey::parse(name).map(|(_, id, _)| id);
    let ended = NotificationKey::parse(name).map(|(id, _)| id);
    ended.or(failed).map(|id| TransactionKey(&id).name())
}

/// Returns whether a record belongs to an erased transaction, by the record's name and metadata. A restore
/// does not overwrite such a record.
pub fn is_erased(name: &str, metadata: &Value) -> bool {
    let id = TransactionKey::parse(name);
    let recorded = id.and_then(|id| Recorded::from_metadata(id, metadata).ok());
    recorded.is_some_and(|recorded| recorded.summary.erased.is_some())
}

#[derive(Clone, Debug, Serialize)]
pub struct Restored {
    /// The value: the response of the get operation (contract §4.2).
    pub value: String,
    pub metadata: TransactionMetadata,
}

/// Removes the personal data from a transaction's record that comes from a backup. The caller has found
/// that the transaction is marked as erased. Returns `None` for a damaged record. Such a record must not be
/// restored, because its contents are unknown.
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
