//! Workers KV as a store.

use super::log_error;
use super::name::constant;
use super::promise::Promise;
use crate::store::{Key, Store, StoreError, Stored, StoredValue};
use js_sys::{JSON, JsString, Object, Reflect, Uint8Array};
use wasm_bindgen::prelude::{JsCast as _, JsValue, wasm_bindgen};
use web_sys::ReadableStream;

#[wasm_bindgen]
extern "C" {
    /// A namespace of Workers KV.
    pub type KvNamespace;
    #[wasm_bindgen(method, catch, js_name = getWithMetadata)]
    fn get_with_metadata(
        this: &KvNamespace,
        name: &str,
        kind: &JsString,
    ) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn put(
        this: &KvNamespace,
        name: &str,
        value: &Uint8Array,
        options: &Object,
    ) -> Result<Promise, JsValue>;

    type Found;
    #[wasm_bindgen(method, getter)]
    fn value(this: &Found) -> Option<ReadableStream>;
    #[wasm_bindgen(method, getter)]
    fn metadata(this: &Found) -> JsValue;
}

/// A namespace of Workers KV as a store.
pub struct KvStore(KvNamespace);

impl KvStore {
    /// Keeps its records in this namespace.
    pub fn new(namespace: KvNamespace) -> Self {
        KvStore(namespace)
    }
}

impl Store for KvStore {
    type Value = ReadableStream;

    async fn get<K: Key>(
        &self,
        key: &K,
    ) -> Result<Option<Stored<ReadableStream, K::Metadata>>, StoreError> {
        let found = constant("stream", |kind| self.0.get_with_metadata(&key.name(), kind));
        let found: Found = settle(found).await?.unchecked_into();
        let Some(value) = found.value() else { return Ok(None) };
        let metadata = read_metadata::<K>(&found.metadata())?;
        Ok(Some(Stored { value, metadata }))
    }

    async fn put<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
    ) -> Result<(), StoreError> {
        // A copy: the platform may read it when the module's memory has long moved on.
        let value = Uint8Array::from(value.as_slice());
        settle(self.0.put(&key.name(), &value, &put_options::<K>(metadata)?)).await?;
        Ok(())
    }
}

impl StoredValue for ReadableStream {
    async fn read(self) -> Result<Vec<u8>, StoreError> {
        let response = web_sys::Response::new_with_opt_readable_stream(Some(&self));
        let buffer = response.and_then(|response| response.array_buffer());
        let buffer = settle(buffer.map(|promise| promise.unchecked_into())).await?;
        Ok(Uint8Array::new(&buffer).to_vec())
    }
}

/// What a promise comes to; a failure is the operator's to know, not the caller's.
async fn settle(promise: Result<Promise, JsValue>) -> Result<JsValue, StoreError> {
    let outcome = match promise {
        Ok(promise) => promise.settled().await,
        Err(thrown) => Err(thrown),
    };
    outcome.map_err(|error| {
        log_error("Workers KV failed:", &error);
        StoreError::Unavailable
    })
}

fn read_metadata<K: Key>(metadata: &JsValue) -> Result<K::Metadata, StoreError> {
    let json = JSON::stringify(metadata).ok().and_then(|json| json.as_string());
    serde_json::from_str(&json.unwrap_or_default())
        .map_err(|error| StoreError::damaged("metadata", &error))
}

fn put_options<K: Key>(metadata: &K::Metadata) -> Result<Object, StoreError> {
    let metadata = serde_json::to_string(metadata).map_err(|_| StoreError::Unavailable)?;
    let metadata = JSON::parse(&metadata).map_err(|_| StoreError::Unavailable)?;
    let options = Object::new();
    set(&options, "metadata", &metadata);
    Ok(options)
}

fn set(object: &Object, name: &str, value: &JsValue) {
    // A plain object takes any member.
    let _ = Reflect::set(object, &JsString::from(name), value);
}
