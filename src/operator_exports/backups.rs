//! Backups: what an incremental one takes, and the record of the last ones.

use super::kv::{Kv, KvStore};
use super::{Outcome, author, from_js, to_js};
use crate::ledger::Next;
use crate::operator::{backups, increment};
use crate::store::BackupKey;
use serde_json::Value;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// Records that `by` has made a backup of so many records, an increment or a full one → `{at, records, by}`.
#[wasm_bindgen(js_name = recordBackup)]
pub async fn record_backup(kv: Kv, by: String, is_increment: bool, records: u32) -> Outcome {
    let store = KvStore::new(kv);
    let kind = if is_increment { BackupKey::Increment } else { BackupKey::Full };
    store.finish(backups::record(&store, &author(&by)?, kind, records.into()).await)
}

/// The times of the header of the backup before → `{since, completeUpTo}` of the one that continues it.
#[wasm_bindgen(js_name = spanOfIncrement)]
pub async fn span(kv: Kv, started_at: String, complete_up_to: Option<String>) -> Outcome {
    let store = KvStore::new(kv);
    let span = increment::span(store.ledger(), &started_at, complete_up_to.as_deref());
    store.finish(span.await)
}

/// A page of the transactions that were created or erased since a time, after `next` of the page before → `{ids, next}`.
#[wasm_bindgen(js_name = changedTransactions)]
pub async fn changed(kv: Kv, since: String, next: JsValue) -> Outcome {
    let store = KvStore::new(kv);
    let next: Option<Next> = from_js(next)?;
    let page = increment::changed(store.ledger(), &since, next.unwrap_or_default());
    store.finish(page.await)
}

/// The prefixes of the records that an increment lists.
#[wasm_bindgen(js_name = listedByIncrement)]
pub fn listed() -> Outcome {
    to_js(&increment::listed())
}

/// What becomes of a record of a list in a backup since a time → `"taken"`, `"known"` or `"last"`.
#[wasm_bindgen(js_name = fateInIncrement)]
pub fn fate(name: &str, expiration: Option<f64>, since: &str) -> Outcome {
    to_js(&increment::fate(name, expiration.map(|seconds| seconds as u64), since))
}

/// Whether the last backup alone says which records there are of this one's kind.
#[wasm_bindgen(js_name = isListedWhole)]
pub fn is_whole(name: &str) -> bool {
    increment::is_whole(name)
}

/// The name of a transaction's record, or undefined.
#[wasm_bindgen(js_name = recordOf)]
pub fn record_of(id: &str) -> Option<String> {
    increment::name_of(id)
}

/// The name of the replay record of a transaction with this name and metadata, or undefined.
#[wasm_bindgen(js_name = replayOf)]
pub fn replay_of(name: &str, metadata: JsValue) -> Option<String> {
    let metadata: Value = from_js(metadata).ok()?;
    increment::replay_of(name, &metadata)
}
