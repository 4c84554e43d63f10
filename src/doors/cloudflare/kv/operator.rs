//! The calls of Workers KV that only operators make: reads of many records at once, and removals.

use super::namespace::put_options;
use super::{KvStore, WRITE_MS, answered, unavailable};
use crate::doors::cloudflare::deadline::{failure, pause, settled};
use crate::doors::cloudflare::json::to_js;
use crate::pledges::picture::PictureName;
use crate::pledges::store::{Key, LEAST_CACHE_SECONDS, OperatorStore, StoreError};
use js_sys::{Array, Map, Promise};
use serde::Serialize;
use wasm_bindgen::prelude::{JsCast as _, JsValue};

/// Maximum number of values that are read concurrently, one call each: Cloudflare's limit of connections.
const MAX_CONNECTIONS: usize = 6;
/// Maximum size of the values of one read, in bytes. An isolate has 128 MB, and JavaScript holds a second copy.
const MAX_READ_BYTES: usize = 32 * 1024 * 1024;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReadOptions {
    r#type: &'static str,
    cache_ttl: u32,
}

impl KvStore {
    /// Reads the values of at most 100 names with one call. Returns `None` if the values together have more
    /// than 25 MB.
    async fn read_together<K: Key>(&self, names: &Array) -> Result<Option<Array>, StoreError> {
        match settled(self.read(names), K::READ_MS).await {
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

    /// Reads the values of names, with one call for each name. Used when one call for all names is not
    /// possible.
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

    /// Starts to read the text stored under a name, or under each name in an array.
    fn read(&self, names: &JsValue) -> Result<Promise, JsValue> {
        // An operator who changes a record should see the change soon.
        let options = to_js(&ReadOptions { r#type: "text", cache_ttl: LEAST_CACHE_SECONDS })?;
        self.namespace.get(names, &options)
    }
}

/// Returns the bytes of a text that was read; `None` if there is no record.
fn bytes_of(text: JsValue) -> Option<Vec<u8>> {
    text.as_string().map(String::into_bytes)
}

fn too_large(kind: &str) -> StoreError {
    StoreError::Damaged(format!(
        "the records of one read have more than {MAX_READ_BYTES} bytes: {kind}"
    ))
}

impl OperatorStore for KvStore {
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
        let options = put_options(metadata, Some(seconds));
        self.write(&key.name(), value, options, K::KIND).await
    }

    async fn remove<K: Key>(&self, key: &K) -> Result<(), StoreError> {
        let removed = self.namespace.delete(&key.name());
        answered(removed, WRITE_MS, "delete", K::KIND).await.map(drop)
    }

    async fn keep_picture(&self, name: &PictureName, bytes: Vec<u8>) -> Result<bool, StoreError> {
        let Some(bucket) = &self.pictures else { return Ok(false) };
        bucket.keep_picture(name, bytes).await.map(|()| true)
    }

    async fn pause(&self, milliseconds: u32) {
        pause(milliseconds).await;
    }
}
