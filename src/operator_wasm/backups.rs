//! Backups: the contents of an incremental backup, and the record of the last backups.

use super::kv::{Kv, KvStore};
use super::{Outcome, author, from_js, to_js};
use crate::ledger::Next;
use crate::operator::{backups, increment};
use crate::store::BackupKey;
use serde_json::Value;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// Records that `by` made a full or incremental backup of this many records. Returns `{at, records, by}`.
#[wasm_bindgen(js_name = recordBackup)]
pub async fn record_backup(kv: Kv, by: String, is_increment: bool, records: u32) -> Outcome {
    let store = KvStore::new(kv);
    let kind = if is_increment { BackupKey::Increment } else { BackupKey::Full };
    store.finish(backups::record(&store, &author(&by)?, kind, records.into()).await)
}

/// Takes the times in the header of the previous backup. Returns `{since, completeUpTo}` of the increment that continues it.
#[wasm_bindgen(js_name = spanOfIncrement)]
pub async fn span(kv: Kv, started_at: String, complete_up_to: Option<String>) -> Outcome {
    let store = KvStore::new(kv);
    let span = increment::span(store.ledger(), &started_at, complete_up_to.as_deref());
    store.finish(span.await)
}

/// Returns a page of the transactions that were created or erased since a time: `{ids, next}`. The argument `next` is
/// the one that the previous page returned, null for the first page.
#[wasm_bindgen(js_name = changedTransactions)]
pub async fn changed(kv: Kv, since: String, next: JsValue) -> Outcome {
    let store = KvStore::new(kv);
    let next: Option<Next> = from_js(next)?;
    let page = increment::changed(store.ledger(), &since, next.unwrap_or_default());
    store.finish(page.await)
}

/// Returns the prefixes of the records that an increment lists.
#[wasm_bindgen(js_name = listedByIncrement)]
pub fn listed() -> Outcome {
    to_js(&increment::listed())
}

/// Returns how an increment since a time treats a listed record. `"taken"`: the increment contains it. `"known"`: the
/// previous backup has it. `"last"`: the previous backup has it and all records that follow in the list.
#[wasm_bindgen(js_name = fateInIncrement)]
pub fn fate(name: &str, expiration: Option<f64>, since: &str) -> Outcome {
    to_js(&increment::fate(name, expiration.map(|seconds| seconds as u64), since))
}

/// Whether increments list all records of the kind that this name has, so that the last backup alone determines which
/// of them exist.
#[wasm_bindgen(js_name = isListedWhole)]
pub fn is_whole(name: &str) -> bool {
    increment::is_whole(name)
}

/// Returns the name of a transaction's record, or undefined for an invalid ID.
#[wasm_bindgen(js_name = recordOf)]
pub fn record_of(id: &str) -> Option<String> {
    increment::name_of(id)
}

/// Returns the name of the replay record of a transaction's record, or undefined if it has none.
#[wasm_bindgen(js_name = replayOf)]
pub fn replay_of(name: &str, metadata: JsValue) -> Option<String> {
    let metadata: Value = from_js(metadata).ok()?;
    increment::replay_of(name, &metadata)
}
