//! Restores.

use super::kv::{Kv, KvStore};
use super::{Outcome, author, from_js, to_js};
use crate::operator::restore::{Backed, Restore};
use crate::operator::{keys, transactions};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// What is seen of a backup before anything of it is restored.
#[wasm_bindgen(js_name = Survey)]
#[derive(Default)]
pub struct Survey(Backed);

#[wasm_bindgen(js_class = Survey)]
impl Survey {
    /// Takes note of a record.
    pub fn add(&mut self, name: &str, value: &str) {
        self.0.add(name, value);
    }
}

/// Begins a look at a backup.
#[wasm_bindgen(js_name = surveyBackup)]
pub fn survey_backup() -> Survey {
    Survey::default()
}

/// Which records of a backup are restored.
#[wasm_bindgen(js_name = Choice)]
pub struct Choice(Restore);

#[wasm_bindgen(js_class = Choice)]
impl Choice {
    /// Whether a record of this name is restored.
    pub fn takes(&self, name: &str) -> bool {
        self.0.takes(name)
    }

    /// Whether a record of this name is an API key's.
    #[wasm_bindgen(js_name = isKey)]
    pub fn is_key(&self, name: &str) -> bool {
        keys::is_key(name)
    }

    /// Whether the secret of the place is replaced.
    #[wasm_bindgen(getter, js_name = secretReplaced)]
    pub fn secret_replaced(&self) -> bool {
        self.0.secret_replaced
    }
}

/// `{withKeys, onlyTransactions, overwrite}` and what was seen of the backup → a [`Choice`].
#[wasm_bindgen(js_name = chooseRecords)]
pub async fn choose_records(kv: Kv, wish: JsValue, survey: Survey) -> Result<Choice, JsValue> {
    let store = KvStore::new(kv);
    let wish = from_js(wish)?;
    Restore::new(&store, wish, survey.0).await.map(Choice).map_err(|error| store.failure(&error))
}

/// The API key of a backup's record: `{name, metadata, expiration?}` → as the key list has it, or null.
#[wasm_bindgen(js_name = backedKey)]
pub fn backed_key(record: JsValue) -> Outcome {
    to_js(&keys::backed(&from_js(record)?))
}

/// The name of the record that one of this name marks as erased, or undefined.
#[wasm_bindgen(js_name = markedBy)]
pub fn marked_by(name: &str) -> Option<String> {
    transactions::marked(name)
}

/// The name of the record of the transaction whose e-mail a record of this name is about, or undefined.
#[wasm_bindgen(js_name = aboutMailOf)]
pub fn about_mail_of(name: &str) -> Option<String> {
    transactions::about(name)
}

/// Whether a record of this name and metadata is a transaction that was erased.
#[wasm_bindgen(js_name = isErased)]
pub fn is_erased(name: &str, metadata: JsValue) -> bool {
    from_js(metadata).is_ok_and(|metadata| transactions::is_erased(name, &metadata))
}

/// Erases a transaction of a backup, at a time in milliseconds → `{value, metadata}`, or null if it is
/// damaged.
#[wasm_bindgen(js_name = eraseRestored)]
pub async fn erase_restored(
    kv: Kv,
    name: String,
    value: String,
    metadata: JsValue,
    now_ms: f64,
) -> Outcome {
    let store = KvStore::new(kv);
    let metadata = from_js(metadata)?;
    let now_ms = now_ms as u64;
    store.finish(transactions::erase_restored(&store, now_ms, &name, &value, metadata).await)
}

/// Records in the audit log that a restore is about to bring back API keys, by their hashes. If this throws, nothing may be restored.
#[wasm_bindgen(js_name = recordRestore)]
pub async fn record_restore(kv: Kv, by: String, on: Vec<String>) -> Outcome {
    let store = KvStore::new(kv);
    store.finish(author(&by)?.record(&store, "transactions restore", on).await)
}
