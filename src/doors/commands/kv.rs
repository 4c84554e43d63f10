//! Implements the store with the Workers KV namespace that `scripts/lib/operator.mjs` passes.

use super::ledger::{Database, LedgerPort};
use super::{CommandOutcome, from_js, thrown_as, to_js};
use crate::office::shared::rows::port::{Ledger, LedgerError, Unbound};
use crate::office::shared::rule::error::OperatorError;
use crate::pledges::picture::PictureName;
use crate::pledges::store::{
    Key, ListPage, ListingStore, OperatorStore, Store, StoreError, Stored,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    /// A local or deployed namespace. Its calls have timeouts and retries.
    pub type Kv;
    #[wasm_bindgen(method, catch)]
    async fn list(this: &Kv, prefix: &str, cursor: Option<&str>) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch)]
    async fn read(this: &Kv, names: Vec<String>) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch)]
    async fn write(this: &Kv, entry: JsValue) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch)]
    async fn remove(this: &Kv, name: &str) -> Result<JsValue, JsValue>;
    /// Stores a picture in the bucket. Resolves to false if no bucket is bound.
    #[wasm_bindgen(method, catch, js_name = keepPicture)]
    async fn keep_picture(this: &Kv, name: &str, bytes: Vec<u8>) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch)]
    async fn pause(this: &Kv, milliseconds: u32) -> Result<JsValue, JsValue>;
    /// The database of the ledger that belongs to this namespace, if one is bound.
    #[wasm_bindgen(method, getter)]
    fn ledger(this: &Kv) -> Option<Database>;
}

/// A KV namespace, used as the store. It keeps the JavaScript error of a failed call, which has more detail
/// than [`StoreError`].
pub struct CommandStore {
    kv: Kv,
    ledger: Box<dyn Ledger>,
    thrown: Rc<RefCell<Option<JsValue>>>,
}

#[derive(Deserialize)]
struct FoundText {
    value: Option<String>,
    #[serde(default)]
    metadata: Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EntryToPut<'e> {
    key: String,
    value: &'e str,
    #[serde(skip_serializing_if = "Value::is_null")]
    metadata: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    expiration_ttl: Option<u32>,
}

impl CommandStore {
    pub fn new(kv: Kv) -> Self {
        let thrown = Rc::<RefCell<_>>::default();
        let ledger: Box<dyn Ledger> = match kv.ledger() {
            Some(database) => Box::new(LedgerPort { database, thrown: Rc::clone(&thrown) }),
            None => Box::new(Unbound),
        };
        CommandStore { kv, ledger, thrown }
    }

    /// Returns the ledger that belongs to this namespace.
    pub fn ledger(&self) -> &dyn Ledger {
        &*self.ledger
    }

    /// Keeps an error from JavaScript until the operation ends.
    pub fn keep(&self, thrown: JsValue) {
        self.thrown.replace(Some(thrown));
    }

    /// Removes and returns the last error that was thrown.
    pub fn kept(&self) -> Option<JsValue> {
        self.thrown.take()
    }

    /// Converts the result of an operation for the script.
    pub fn finish(&self, outcome: Result<impl Serialize, OperatorError>) -> CommandOutcome {
        outcome.map_err(|error| self.failure(&error)).and_then(|value| to_js(&value))
    }

    /// Returns the value to throw to the script: the kept JavaScript error if a call failed, `{refused}` if a rule refused
    /// the call, otherwise the message of `error`.
    pub fn failure(&self, error: &OperatorError) -> JsValue {
        let thrown = match error {
            OperatorError::Store(StoreError::Unavailable)
            | OperatorError::Ledger(LedgerError::Unavailable) => self.thrown.take(),
            OperatorError::Invalid(refused) => Some(thrown_as("refused", refused)),
            _ => None,
        };
        thrown.unwrap_or_else(|| error.to_string().into())
    }

    /// Converts the result of a call, and keeps the error if it threw one.
    fn answer<T>(&self, outcome: Result<T, JsValue>) -> Result<T, StoreError> {
        outcome.map_err(|thrown| {
            self.keep(thrown);
            StoreError::Unavailable
        })
    }

    async fn found(&self, names: Vec<String>) -> Result<Vec<FoundText>, StoreError> {
        let found = self.kv.read(names).await.and_then(from_js);
        self.answer(found)
    }

    async fn write<K: Key>(
        &self,
        key: &K,
        value: &[u8],
        metadata: &K::Metadata,
        expiration_ttl: Option<u32>,
    ) -> Result<(), StoreError> {
        let damaged = |_| StoreError::Damaged(format!("the new {} is not text", K::KIND));
        let value = str::from_utf8(value).map_err(damaged)?;
        let metadata = serde_json::to_value(metadata).unwrap_or_default();
        let entry = EntryToPut { key: key.name(), value, metadata, expiration_ttl };
        let entry = self.answer(to_js(&entry))?;
        self.answer(self.kv.write(entry).await).map(drop)
    }
}

impl Store for CommandStore {
    type Value = Vec<u8>;

    async fn get<K: Key>(
        &self,
        key: &K,
    ) -> Result<Option<Stored<Vec<u8>, K::Metadata>>, StoreError> {
        let found = self.found(vec![key.name()]).await?;
        let Some(FoundText { value: Some(value), metadata }) = found.into_iter().next() else {
            return Ok(None);
        };
        let metadata = serde_json::from_value(metadata)
            .map_err(|error| StoreError::damaged("metadata", &error))?;
        Ok(Some(Stored { value: value.into_bytes(), metadata }))
    }

    async fn put<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
    ) -> Result<(), StoreError> {
        self.write(key, &value, metadata, K::KEPT_SECONDS).await
    }
}

impl ListingStore for CommandStore {
    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, StoreError> {
        let page = self.kv.list(prefix, cursor).await.and_then(from_js);
        self.answer(page)
    }
}

impl OperatorStore for CommandStore {
    async fn get_values<K: Key>(&self, keys: &[K]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let found = self.found(keys.iter().map(Key::name).collect()).await?;
        Ok(found.into_iter().map(|record| Some(record.value?.into_bytes())).collect())
    }

    async fn put_for<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
        seconds: u32,
    ) -> Result<(), StoreError> {
        self.write(key, &value, metadata, Some(seconds)).await
    }

    async fn remove<K: Key>(&self, key: &K) -> Result<(), StoreError> {
        self.answer(self.kv.remove(&key.name()).await).map(drop)
    }

    async fn keep_picture(&self, name: &PictureName, bytes: Vec<u8>) -> Result<bool, StoreError> {
        let is_kept = self.answer(self.kv.keep_picture(name.as_str(), bytes).await)?;
        Ok(is_kept.is_truthy())
    }

    async fn pause(&self, milliseconds: u32) {
        let _: Result<_, JsValue> = self.kv.pause(milliseconds).await; // a timer does not fail
    }
}
