//! The rules of restores.

use super::kv::{CommandStore, Kv};
use super::{CommandOutcome, author, from_js, to_js};
use crate::office::keys::rule as keys;
use crate::office::orders::rule as transactions;
use crate::office::system::rule::restore::{BackupSummary, Restore};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// The facts about a backup that are collected before anything is restored.
#[wasm_bindgen(js_name = Survey)]
#[derive(Default)]
pub struct Survey(BackupSummary);

#[wasm_bindgen(js_class = Survey)]
impl Survey {
    pub fn add(&mut self, name: &str, value: &str) {
        self.0.add(name, value);
    }
}

/// Returns an empty survey, to which the records of a backup are added.
#[wasm_bindgen(js_name = surveyBackup)]
pub fn survey_backup() -> Survey {
    Survey::default()
}

#[wasm_bindgen(js_name = Choice)]
pub struct Choice(Restore);

#[wasm_bindgen(js_class = Choice)]
impl Choice {
    pub fn takes(&self, name: &str) -> bool {
        self.0.takes(name)
    }

    #[wasm_bindgen(js_name = isKey)]
    pub fn is_key(&self, name: &str) -> bool {
        keys::is_key(name)
    }

    #[wasm_bindgen(getter, js_name = secretReplaced)]
    pub fn secret_replaced(&self) -> bool {
        self.0.secret_replaced
    }
}

/// Returns the [`Choice`] for the options `{withKeys, onlyTransactions, onlyLedger, overwrite}` and the survey of a backup.
#[wasm_bindgen(js_name = chooseRecords)]
pub async fn choose_records(kv: Kv, options: JsValue, survey: Survey) -> Result<Choice, JsValue> {
    let store = CommandStore::new(kv);
    let options = from_js(options)?;
    Restore::new(&store, options, survey.0).await.map(Choice).map_err(|error| store.failure(&error))
}

/// Returns the API key that a record `{name, metadata, expiration?}` of a backup describes, in the format of
/// the key list. Returns null for any other record.
#[wasm_bindgen(js_name = backedKey)]
pub fn backed_key(record: JsValue) -> CommandOutcome {
    to_js(&keys::backed(&from_js(record)?))
}

/// Takes the name of a record that marks a transaction as erased. Returns the name of the transaction's own
/// record. Returns undefined for any other name.
#[wasm_bindgen(js_name = markedBy)]
pub fn marked_by(name: &str) -> Option<String> {
    transactions::marked(name)
}

/// Takes the name of a record about the delivery of a transaction's e-mail. Returns the name of the
/// transaction's own record. Returns undefined for any other name.
#[wasm_bindgen(js_name = aboutMailOf)]
pub fn about_mail_of(name: &str) -> Option<String> {
    transactions::about(name)
}

#[wasm_bindgen(js_name = isErased)]
pub fn is_erased(name: &str, metadata: JsValue) -> bool {
    from_js(metadata).is_ok_and(|metadata| transactions::is_erased(name, &metadata))
}

/// Erases the personal data in a transaction of a backup. Returns `{value, metadata}`, or null if the record is damaged.
/// `now_ms` is the time of the erasure in milliseconds.
#[wasm_bindgen(js_name = eraseRestored)]
pub async fn erase_restored(
    kv: Kv,
    name: String,
    value: String,
    metadata: JsValue,
    now_ms: f64,
) -> CommandOutcome {
    let store = CommandStore::new(kv);
    let metadata = from_js(metadata)?;
    let now_ms = now_ms as u64;
    store.finish(transactions::erase_restored(&store, now_ms, &name, &value, metadata).await)
}

/// Records in the audit log that a restore begins, and the hashes of the API keys that the restore will
/// write. If this function throws, the restore must not begin.
#[wasm_bindgen(js_name = recordRestore)]
pub async fn record_restore(kv: Kv, by: String, on: Vec<String>) -> CommandOutcome {
    let store = CommandStore::new(kv);
    store.finish(author(&by)?.record(&store, "transactions restore", on).await)
}
