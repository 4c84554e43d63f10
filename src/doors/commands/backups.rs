//! Backups: what an incremental backup contains, and the record of when the last backups were made.

use super::kv::{CommandStore, Kv};
use super::{CommandOutcome, author, from_js, to_js};
use crate::office::orders::rows::changed::Next;
use crate::office::system::rule::{backups, increment};
use crate::pledges::store::BackupKey;
use serde_json::Value;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// Records that `by` made a full or incremental backup of this many records. Returns `{at, records, by}`.
#[wasm_bindgen(js_name = recordBackup)]
pub async fn record_backup(kv: Kv, by: String, is_increment: bool, records: u32) -> CommandOutcome {
    let store = CommandStore::new(kv);
    let kind = if is_increment { BackupKey::Increment } else { BackupKey::Full };
    store.finish(backups::record(&store, &author(&by)?, kind, records.into()).await)
}

/// Returns the time span `{since, completeUpTo}` of the next incremental backup. The arguments are the times
/// in the header of the previous backup.
#[wasm_bindgen(js_name = spanOfIncrement)]
pub async fn span(kv: Kv, started_at: String, complete_up_to: Option<String>) -> CommandOutcome {
    let store = CommandStore::new(kv);
    let span = increment::span(store.ledger(), &started_at, complete_up_to.as_deref());
    store.finish(span.await)
}

/// Returns a page of the transactions that were created or erased since a time: `{ids, next}`. To get the
/// next page, pass the returned `next`; for the first page, pass null.
#[wasm_bindgen(js_name = changedTransactions)]
pub async fn changed(kv: Kv, since: String, next: JsValue) -> CommandOutcome {
    let store = CommandStore::new(kv);
    let next: Option<Next> = from_js(next)?;
    let page = increment::changed(store.ledger(), &since, next.unwrap_or_default());
    store.finish(page.await)
}

/// Returns the name prefixes of the records that an incremental backup lists in KV.
#[wasm_bindgen(js_name = listedByIncrement)]
pub fn listed() -> CommandOutcome {
    to_js(&increment::listed())
}

/// Decides whether an incremental backup contains a record of KV's list. `since` is the time from which the
/// backup takes changes.
///
/// - `"taken"`: this backup contains the record.
/// - `"known"`: the previous backup contains it.
/// - `"last"`: the previous backup contains it and all records that follow in the list.
#[wasm_bindgen(js_name = fateInIncrement)]
pub fn fate(name: &str, expiration: Option<f64>, since: &str) -> CommandOutcome {
    to_js(&increment::fate(name, expiration.map(|seconds| seconds as u64), since))
}

/// Returns whether the record is of a kind that each incremental backup contains in full. For such a kind,
/// the last backup alone determines which records exist.
#[wasm_bindgen(js_name = isListedWhole)]
pub fn is_whole(name: &str) -> bool {
    increment::is_whole(name)
}

/// Returns the name of a transaction's record, or undefined for an invalid ID.
#[wasm_bindgen(js_name = recordOf)]
pub fn record_of(id: &str) -> Option<String> {
    increment::name_of(id)
}

/// Returns the name of a transaction's replay record, given the name and the metadata of the transaction's
/// record. Returns undefined if the create request had no idempotency key.
#[wasm_bindgen(js_name = replayOf)]
pub fn replay_of(name: &str, metadata: JsValue) -> Option<String> {
    let metadata: Value = from_js(metadata).ok()?;
    increment::replay_of(name, &metadata)
}
