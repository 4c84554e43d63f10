//! Workers KV as a store.

use super::deadline::within;
use crate::json::Encode as _;
use crate::store::{Key, Metadata as _, Store, StoreError, Stored, StoredValue};
use js_sys::{JSON, Object, Promise, Reflect, Uint8Array};
use wasm_bindgen::intern;
use wasm_bindgen::prelude::{JsCast as _, JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use web_sys::ReadableStream;
use worker::console_error;

/// How long a read may take, in milliseconds.
const READ_MS: u32 = 5_000;
/// How long a write may take, in milliseconds. One that took longer may have been kept.
const WRITE_MS: u32 = 15_000;

#[wasm_bindgen]
extern "C" {
    /// A namespace of Workers KV: `worker::KvStore` takes options by serde, which is 32 KB of wasm.
    pub type KvNamespace;
    #[wasm_bindgen(method, catch, js_name = getWithMetadata)]
    fn get_with_metadata(this: &KvNamespace, name: &str, kind: &str) -> Result<Promise, JsValue>;
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
    fn metadata(this: &Found) -> Option<Members>;

    /// Metadata that is there.
    #[wasm_bindgen(js_name = Object)]
    type Members;
    #[wasm_bindgen(method, structural, indexing_getter)]
    fn get(this: &Members, name: &str) -> JsValue;
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
        let name = key.name();
        let found = self.0.get_with_metadata(&name, intern("stream"));
        let found = answered(found, READ_MS, || format!("get of `{}`", kind(&name))).await?;
        let found: Found = found.unchecked_into();
        let Some(value) = found.value() else { return Ok(None) };
        let metadata = read_metadata::<K>(found.metadata()).map_err(|error| {
            console_error!("the metadata of a `{}` record is not valid: {error}", kind(&name));
            StoreError
        })?;
        Ok(Some(Stored { value, metadata }))
    }

    async fn put<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
    ) -> Result<(), StoreError> {
        let name = key.name();
        // A copy: the platform may read it when the module's memory has long moved on.
        let value = Uint8Array::from(value.as_slice());
        let options = put_options::<K>(metadata).map_err(|_| StoreError)?;
        let put = self.0.put(&name, &value, &options);
        answered(put, WRITE_MS, || format!("put of `{}`", kind(&name))).await?;
        Ok(())
    }
}

impl StoredValue for ReadableStream {
    async fn read(self) -> Result<Vec<u8>, StoreError> {
        let response = web_sys::Response::new_with_opt_readable_stream(Some(&self));
        let buffer = response.and_then(|response| response.array_buffer());
        let buffer = buffer.map(|promise| promise.unchecked_into());
        let buffer = answered(buffer, READ_MS, || "read of a value".to_owned()).await?;
        Ok(Uint8Array::new(&buffer).to_vec())
    }
}

/// Awaits what KV promised: the one place where KV is waited for. The log names the operation, never
/// a key or a value.
async fn answered(
    promise: Result<Promise, JsValue>,
    milliseconds: u32,
    operation: impl FnOnce() -> String,
) -> Result<JsValue, StoreError> {
    let outcome = match promise {
        Ok(promise) => within(milliseconds, JsFuture::from(promise)).await,
        Err(thrown) => Some(Err(thrown)),
    };
    let failure = match outcome {
        Some(Ok(answer)) => return Ok(answer),
        Some(Err(error)) => describe(&error),
        None => format!("no answer in {milliseconds} ms"),
    };
    console_error!("Workers KV failed: {}: {failure}", operation());
    Err(StoreError)
}

/// An error without its stack: `TypeError: no such key`.
fn describe(error: &JsValue) -> String {
    match error.dyn_ref::<js_sys::Error>() {
        Some(error) => error.to_string().into(),
        None => format!("{error:?}"),
    }
}

/// What stands before the colon of a key's text: `transaction`.
fn kind(name: &str) -> &str {
    name.split_once(':').map_or(name, |(kind, _)| kind)
}

fn read_metadata<K: Key>(members: Option<Members>) -> Result<K::Metadata, crate::json::Mismatch> {
    K::Metadata::read(members.map(|members| move |name| members.get(intern(name)).as_string()))
}

fn put_options<K: Key>(metadata: &K::Metadata) -> Result<Object, JsValue> {
    let options = Object::new();
    let metadata = String::from_utf8(metadata.to_json()).map_err(|error| error.to_string())?;
    Reflect::set(&options, &intern("metadata").into(), &JSON::parse(&metadata)?)?;
    if let Some(seconds) = K::LIFETIME_SECONDS {
        Reflect::set(&options, &intern("expirationTtl").into(), &seconds.into())?;
    }
    Ok(options)
}
