//! The binding of a namespace of Workers KV, and the options of its calls.

use crate::pledges::store::LEAST_CACHE_SECONDS;
use js_sys::{Array, JSON, Promise, Uint8Array};
use serde::Serialize;
use std::cell::OnceCell;
use wasm_bindgen::intern;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use web_sys::ReadableStream;

#[wasm_bindgen]
extern "C" {
    /// A namespace of Workers KV. It replaces `worker::KvStore`, which converts options with serde and so
    /// adds 32 KB of wasm.
    #[derive(Clone)]
    pub type KvNamespace;
    #[wasm_bindgen(method, catch, js_name = getWithMetadata)]
    pub fn get_with_metadata(
        this: &KvNamespace,
        name: &str,
        options: &JsValue,
    ) -> Result<Promise, JsValue>;
    /// Reads the records with at most 100 names: a map from each name to its value and metadata.
    #[wasm_bindgen(method, catch, js_name = getWithMetadata)]
    pub fn get_all_with_metadata(
        this: &KvNamespace,
        names: &Array,
        options: &JsValue,
    ) -> Result<Promise, JsValue>;
    /// Reads the value of one name. If `names` is an array of at most 100 names, reads a map from each name
    /// to its value.
    #[wasm_bindgen(method, catch)]
    pub fn get(this: &KvNamespace, names: &JsValue, options: &JsValue) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch)]
    pub fn put(
        this: &KvNamespace,
        name: &str,
        value: &Uint8Array,
        options: &JsValue,
    ) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch)]
    pub fn list(this: &KvNamespace, options: &JsValue) -> Result<Promise, JsValue>;
    /// Removes a record, if it is there.
    #[wasm_bindgen(method, catch)]
    pub fn delete(this: &KvNamespace, name: &str) -> Result<Promise, JsValue>;

    /// The answer of `getWithMetadata`.
    pub type Found;
    /// The value as a stream; `None` if there is no record.
    #[wasm_bindgen(method, getter)]
    pub fn value(this: &Found) -> Option<ReadableStream>;
    #[wasm_bindgen(method, getter)]
    pub fn metadata(this: &Found) -> JsValue;
}

thread_local! {
    static BRIEFLY_CACHED: OnceCell<JsValue> = const { OnceCell::new() };
}

/// Returns the options of `getWithMetadata`, which request the value as a stream. With `is_recent`, a cached
/// value may be at most [`LEAST_CACHE_SECONDS`] old.
pub fn get_options(is_recent: bool) -> JsValue {
    if !is_recent {
        return intern("stream").into();
    }
    let json = || format!(r#"{{"type":"stream","cacheTtl":{LEAST_CACHE_SECONDS}}}"#);
    let make = || JSON::parse(&json()).unwrap_or_default();
    BRIEFLY_CACHED.with(|options| options.get_or_init(make).clone())
}

/// Returns the options of `put`: the metadata, and after how many seconds the record expires.
///
/// # Errors
/// Never for the metadata types of this crate.
pub fn put_options(metadata: &impl Serialize, seconds: Option<u32>) -> Result<JsValue, JsValue> {
    let metadata = serde_json::to_string(metadata).map_err(|error| error.to_string())?;
    JSON::parse(&match seconds {
        Some(seconds) => format!(r#"{{"metadata":{metadata},"expirationTtl":{seconds}}}"#),
        None => format!(r#"{{"metadata":{metadata}}}"#),
    })
}

#[derive(Serialize)]
pub struct ListOptions<'a> {
    pub prefix: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<&'a str>,
}
