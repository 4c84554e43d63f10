//! Workers KV as a store.

use super::deadline::within;
use super::json::{from_js, log_error, to_js};
use crate::store::{Key, Listed, ListingStore, Page, Store, StoreError, Stored, StoredValue};
use js_sys::{JSON, Promise, Uint8Array};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_wasm_bindgen::from_value;
use std::cell::OnceCell;
use wasm_bindgen::intern;
use wasm_bindgen::prelude::{JsCast as _, JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use web_sys::ReadableStream;

/// Deadline of a list, in milliseconds.
pub const LIST_MS: u32 = 5_000;
/// Deadline of a write, in milliseconds. A write that takes longer may have been kept.
pub const WRITE_MS: u32 = 15_000;

#[wasm_bindgen]
extern "C" {
    /// A namespace of Workers KV. `worker::KvStore` takes options by serde, which adds 32 KB of wasm.
    #[derive(Clone)]
    pub type KvNamespace;
    /// One record.
    #[wasm_bindgen(method, catch, js_name = getWithMetadata)]
    pub fn get_with_metadata(
        this: &KvNamespace,
        name: &str,
        options: &JsValue,
    ) -> Result<Promise, JsValue>;
    /// Writes a record.
    #[wasm_bindgen(method, catch)]
    pub fn put(
        this: &KvNamespace,
        name: &str,
        value: &Uint8Array,
        options: &JsValue,
    ) -> Result<Promise, JsValue>;

    /// A page of names.
    #[wasm_bindgen(method, catch)]
    pub fn list(this: &KvNamespace, options: &JsValue) -> Result<Promise, JsValue>;

    /// The value of a name, or a map of those of at most 100 names.
    #[wasm_bindgen(method, catch)]
    pub fn get(this: &KvNamespace, names: &JsValue, options: &JsValue) -> Result<Promise, JsValue>;

    /// Removes a record, if it is there.
    #[wasm_bindgen(method, catch)]
    pub fn delete(this: &KvNamespace, name: &str) -> Result<Promise, JsValue>;

    type Found;
    #[wasm_bindgen(method, getter)]
    fn value(this: &Found) -> Option<ReadableStream>;
    #[wasm_bindgen(method, getter)]
    fn metadata(this: &Found) -> JsValue;
}

thread_local! {
    /// The options of a read that bounds KV's cache, made once.
    static BRIEFLY_CACHED: OnceCell<JsValue> = const { OnceCell::new() };
}

/// A namespace of Workers KV as a store.
#[derive(Clone)]
pub struct KvStore(pub KvNamespace);

impl Store for KvStore {
    type Value = ReadableStream;

    async fn get<K: Key>(
        &self,
        key: &K,
    ) -> Result<Option<Stored<ReadableStream, K::Metadata>>, StoreError> {
        let found = self.0.get_with_metadata(&key.name(), &get_options(K::CACHE_SECONDS));
        let Some((value, metadata)) = find(found, K::READ_MS, K::KIND).await? else {
            return Ok(None);
        };
        let metadata = from_value(metadata).map_err(|_| damaged_metadata(K::KIND))?;
        Ok(Some(Stored { value, metadata }))
    }

    async fn put<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
    ) -> Result<(), StoreError> {
        let options = put_options(metadata, K::KEPT_SECONDS);
        write(&self.0, &key.name(), value, options, K::KIND).await
    }
}

/// Writes a record. Not generic: compiled once.
async fn write(
    namespace: &KvNamespace,
    name: &str,
    value: Vec<u8>,
    options: Result<JsValue, JsValue>,
    kind: &str,
) -> Result<(), StoreError> {
    // A copy, because the platform may read it later. The original is freed before the wait.
    let bytes = Uint8Array::from(value.as_slice());
    drop(value);
    let put = options.and_then(|options| namespace.put(name, &bytes, &options));
    answered(put, WRITE_MS, "put", kind).await?;
    Ok(())
}

/// The options of a list.
#[derive(Serialize)]
pub struct ListOptions<'a> {
    pub prefix: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<&'a str>,
}

/// What is read of a page of KV: names alone.
#[derive(Deserialize)]
struct ListedPage {
    keys: Vec<ListedName>,
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Deserialize)]
struct ListedName {
    name: String,
}

impl From<ListedName> for Listed {
    fn from(ListedName { name }: ListedName) -> Self {
        Listed { name, metadata: Value::Null, expiration: None }
    }
}

impl ListingStore for KvStore {
    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<Page, StoreError> {
        let page = to_js(&ListOptions { prefix, cursor }).and_then(|options| self.0.list(&options));
        let page = answered(page, LIST_MS, "list", "names").await?;
        let damaged = || StoreError::Damaged("the list of names has another form".to_owned());
        let ListedPage { keys, cursor } = from_js(&page).ok_or_else(damaged)?;
        Ok(Page { records: keys.into_iter().map(Listed::from).collect(), cursor })
    }
}

impl StoredValue for ReadableStream {
    async fn read(self, milliseconds: u32) -> Result<Vec<u8>, StoreError> {
        let response = web_sys::Response::new_with_opt_readable_stream(Some(&self));
        let buffer = response.and_then(|response| response.array_buffer());
        let buffer = buffer.map(|promise| promise.unchecked_into());
        let buffer = answered(buffer, milliseconds, "read", "value").await?;
        Ok(Uint8Array::new(&buffer).to_vec())
    }
}

/// Awaits a promise of KV with a deadline, and logs its failure without key or value.
///
/// # Errors
/// [`StoreError::Unavailable`] if it fails, or takes longer.
pub async fn answered(
    promise: Result<Promise, JsValue>,
    milliseconds: u32,
    operation: &str,
    kind: &str,
) -> Result<JsValue, StoreError> {
    let outcome = match promise {
        Ok(promise) => JsFuture::from(within(&promise, milliseconds)).await,
        Err(thrown) => Err(thrown), // KV throws for a name that is too long
    };
    outcome.map_err(|error| unavailable(operation, kind, &failure(&error, milliseconds)))
}

/// Why a call failed, for the log.
pub fn failure(error: &JsValue, milliseconds: u32) -> String {
    match error.is_undefined() {
        true => format!("no answer in {milliseconds} ms"),
        false => describe(error),
    }
}

/// Logs why a call failed.
pub fn unavailable(operation: &str, kind: &str, failure: &str) -> StoreError {
    log_error(&[("kv", operation), ("record", kind), ("cause", failure)]);
    StoreError::Unavailable
}

/// An error without its stack: `TypeError: no such key`.
pub fn describe(error: &JsValue) -> String {
    match error.dyn_ref::<js_sys::Error>() {
        Some(error) => error.to_string().into(),
        None => format!("{error:?}"),
    }
}

/// The error for metadata of another form. serde's text would quote it.
pub fn damaged_metadata(kind: &str) -> StoreError {
    StoreError::Damaged(format!("the metadata of the stored {kind} is damaged"))
}

/// A value and its metadata; `None` if there is no record. Not generic: compiled once.
///
/// # Errors
/// As [`answered`].
pub async fn find(
    promise: Result<Promise, JsValue>,
    milliseconds: u32,
    kind: &str,
) -> Result<Option<(ReadableStream, JsValue)>, StoreError> {
    let found: Found = answered(promise, milliseconds, "get", kind).await?.unchecked_into();
    let value = found.value(); // KV's null where there is none
    Ok(value.map(|value| (value, found.metadata())))
}

/// Options that read a value as a stream, and from a cache that is not older than `cache_seconds`.
pub fn get_options(cache_seconds: Option<u32>) -> JsValue {
    let Some(seconds) = cache_seconds else { return intern("stream").into() };
    let json = || format!(r#"{{"type":"stream","cacheTtl":{seconds}}}"#);
    let make = || JSON::parse(&json()).unwrap_or_default();
    BRIEFLY_CACHED.with(|options| options.get_or_init(make).clone())
}

/// Options that write metadata, and end a record after so many seconds.
///
/// # Errors
/// Never for the types of keys.
pub fn put_options(metadata: &impl Serialize, seconds: Option<u32>) -> Result<JsValue, JsValue> {
    let metadata = serde_json::to_string(metadata).map_err(|error| error.to_string())?;
    JSON::parse(&match seconds {
        Some(seconds) => format!(r#"{{"metadata":{metadata},"expirationTtl":{seconds}}}"#),
        None => format!(r#"{{"metadata":{metadata}}}"#),
    })
}
