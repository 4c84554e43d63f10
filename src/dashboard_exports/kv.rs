//! Workers KV as the operator's store.

use crate::store::{
    Key, LEAST_CACHE_SECONDS, Listed, ListingStore, OperatorStore, Page, Store, StoreError, Stored,
};
use crate::workers::deadline::{pause, within};
use crate::workers::json::{from_js, to_js};
use crate::workers::kv::{
    KvNamespace, LIST_MS, ListOptions, WRITE_MS, answered, damaged_metadata, failure, find,
    get_options, put_options, unavailable,
};
use js_sys::{Array, Map, Promise, Uint8Array};
use serde::{Deserialize, Serialize};
use serde_wasm_bindgen::from_value;
use wasm_bindgen::prelude::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::ReadableStream;

/// Most values that are read one by one at once: Cloudflare's limit of connections.
const MAX_CONNECTIONS: usize = 6;
/// Most bytes of the values of one read: an isolate has 128 MB, and JavaScript has them once more.
const MAX_READ_BYTES: usize = 32 * 1024 * 1024;

/// A namespace of Workers KV, with all that an operator does with it.
pub struct OperatorKv(pub KvNamespace);

/// What KV lists.
#[derive(Deserialize)]
struct ListedPage {
    keys: Vec<Listed>,
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReadOptions {
    r#type: &'static str,
    cache_ttl: u32,
}

impl OperatorKv {
    /// Writes a record, to end after so many seconds.
    async fn write<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
        seconds: Option<u32>,
    ) -> Result<(), StoreError> {
        let bytes = Uint8Array::from(value.as_slice());
        drop(value); // before the wait
        let put = put_options(metadata, seconds)
            .and_then(|options| self.0.put(&key.name(), &bytes, &options));
        answered(put, WRITE_MS, "put", K::KIND).await.map(drop)
    }

    /// The values of at most 100 names by one call; `None` if they have over 25 MB.
    async fn read_together<K: Key>(&self, names: &Array) -> Result<Option<Array>, StoreError> {
        let found = match self.read(names) {
            Ok(promise) => JsFuture::from(within(&promise, K::READ_MS)).await,
            Err(thrown) => Err(thrown),
        };
        match found {
            Ok(found) => {
                let found: Map = found.unchecked_into();
                Ok(Some(names.iter().map(|name| found.get(&name)).collect()))
            }
            Err(error) => match failure(&error, K::READ_MS) {
                cause if cause.contains(" 413") => Ok(None),
                cause => Err(unavailable("get", K::KIND, &cause)),
            },
        }
    }

    /// The same by a call for each.
    async fn read_one_by_one<K: Key>(
        &self,
        names: &Array,
    ) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let names: Vec<JsValue> = names.iter().collect();
        let (mut values, mut bytes) = (Vec::new(), 0);
        for some in names.chunks(MAX_CONNECTIONS) {
            let reads: Result<Array, JsValue> = some.iter().map(|name| self.read(name)).collect();
            let read = reads.map(|reads| Promise::all(&reads));
            let texts: Array = answered(read, K::READ_MS, "get", K::KIND).await?.unchecked_into();
            for value in texts.iter().map(bytes_of) {
                bytes += value.as_ref().map_or(0, Vec::len);
                values.push(value);
            }
            if bytes > MAX_READ_BYTES {
                return Err(too_large(K::KIND));
            }
        }
        Ok(values)
    }

    /// Begins to read the text of a name, or of each of an array.
    fn read(&self, names: &JsValue) -> Result<Promise, JsValue> {
        // Who changes a record is to see it soon.
        let options = to_js(&ReadOptions { r#type: "text", cache_ttl: LEAST_CACHE_SECONDS })?;
        self.0.get(names, &options)
    }
}

/// The bytes of a text that was read; `None` if there is no record.
fn bytes_of(text: JsValue) -> Option<Vec<u8>> {
    text.as_string().map(String::into_bytes)
}

fn too_large(kind: &str) -> StoreError {
    StoreError::Damaged(format!(
        "the records that are read together have over {MAX_READ_BYTES} bytes: {kind}"
    ))
}

impl Store for OperatorKv {
    type Value = ReadableStream;

    async fn get<K: Key>(
        &self,
        key: &K,
    ) -> Result<Option<Stored<ReadableStream, K::Metadata>>, StoreError> {
        let found = self.0.get_with_metadata(&key.name(), &get_options(Some(LEAST_CACHE_SECONDS)));
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
        self.write(key, value, metadata, K::KEPT_SECONDS).await
    }
}

impl ListingStore for OperatorKv {
    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<Page, StoreError> {
        let page = to_js(&ListOptions { prefix, cursor }).and_then(|options| self.0.list(&options));
        let page = answered(page, LIST_MS, "list", "names").await?;
        let damaged = || StoreError::Damaged("the list of names has another form".to_owned());
        let ListedPage { keys, cursor } = from_js(&page).ok_or_else(damaged)?;
        Ok(Page { records: keys, cursor })
    }
}

impl OperatorStore for OperatorKv {
    async fn get_values<K: Key>(&self, keys: &[K]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        if keys.is_empty() {
            return Ok(Vec::new()); // KV refuses an empty array
        }
        let names: Array = keys.iter().map(|key| JsValue::from_str(&key.name())).collect();
        match self.read_together::<K>(&names).await? {
            Some(texts) => Ok(texts.iter().map(bytes_of).collect()),
            None => self.read_one_by_one::<K>(&names).await,
        }
    }

    async fn put_for<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
        seconds: u32,
    ) -> Result<(), StoreError> {
        self.write(key, value, metadata, Some(seconds)).await
    }

    async fn remove<K: Key>(&self, key: &K) -> Result<(), StoreError> {
        let removed = self.0.delete(&key.name());
        answered(removed, WRITE_MS, "delete", K::KIND).await.map(drop)
    }

    async fn pause(&self, milliseconds: u32) {
        pause(milliseconds).await;
    }
}
