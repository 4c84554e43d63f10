//! Workers KV as a store.

mod backup;
mod namespace;
mod operator;

pub use namespace::{KvNamespace, put_options};

use super::deadline::{failure, settled};
use super::json::{from_js, log_error, to_js};
use super::r2::R2;
use crate::pledges::picture::PictureName;
use crate::pledges::store::{
    Key, LEAST_CACHE_SECONDS, ListPage, ListingStore, Store, StoreError, Stored, StoredValue,
};
use js_sys::{Promise, Uint8Array};
use namespace::{Found, ListOptions, get_options};
use serde::Deserialize;
use serde_wasm_bindgen::from_value;
use wasm_bindgen::prelude::{JsCast as _, JsValue};
use web_sys::ReadableStream;

/// Deadline of a list, in milliseconds.
const LIST_MS: u32 = 5_000;
/// Deadline of a write, in milliseconds. A write that takes longer may still take effect.
const WRITE_MS: u32 = 15_000;

/// A namespace of Workers KV as a store.
#[derive(Clone)]
pub struct KvStore {
    namespace: KvNamespace,
    /// Whether each value that is read is at most [`LEAST_CACHE_SECONDS`] old.
    is_recent: bool,
    /// The bucket with the pictures.
    pictures: Option<R2>,
}

impl KvStore {
    /// Makes the store for the service. The cache TTL of a read depends on the kind of record.
    pub fn new(namespace: KvNamespace) -> Self {
        KvStore { namespace, is_recent: false, pictures: None }
    }

    /// Makes the store for operators. Its reads are as fresh as Workers KV allows.
    pub fn for_operators(namespace: KvNamespace) -> Self {
        KvStore { namespace, is_recent: true, pictures: None }
    }

    /// Lets the store find and keep pictures in a bucket, if one is bound.
    pub fn with_pictures(self, pictures: Option<R2>) -> Self {
        KvStore { pictures, ..self }
    }

    /// Returns a page of a list, in the form of KV's answer.
    async fn listed(&self, prefix: &str, cursor: Option<&str>) -> Result<JsValue, StoreError> {
        let options = to_js(&ListOptions { prefix, cursor });
        let page = options.and_then(|options| self.namespace.list(&options));
        answered(page, LIST_MS, "list", "names").await
    }

    /// Writes a record. This function is not generic, so that it is compiled only once.
    async fn write(
        &self,
        name: &str,
        value: Vec<u8>,
        options: Result<JsValue, JsValue>,
        kind: &str,
    ) -> Result<(), StoreError> {
        // A copy, because the platform may read it later. The original is freed before the wait.
        let bytes = Uint8Array::from(value.as_slice());
        drop(value);
        let put = options.and_then(|options| self.namespace.put(name, &bytes, &options));
        answered(put, WRITE_MS, "put", kind).await?;
        Ok(())
    }
}

impl Store for KvStore {
    type Value = ReadableStream;

    async fn get<K: Key>(
        &self,
        key: &K,
    ) -> Result<Option<Stored<ReadableStream, K::Metadata>>, StoreError> {
        // `get_options` supports no other values.
        const { assert!(matches!(K::CACHE_SECONDS, None | Some(LEAST_CACHE_SECONDS))) };
        let options = get_options(self.is_recent || K::CACHE_SECONDS.is_some());
        let found = self.namespace.get_with_metadata(&key.name(), &options);
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
        self.write(&key.name(), value, options, K::KIND).await
    }

    async fn picture(&self, name: &PictureName) -> Result<Option<ReadableStream>, StoreError> {
        match &self.pictures {
            Some(bucket) => bucket.picture(name).await,
            None => Ok(None),
        }
    }
}

/// A page of a list. `R` is the part of each record that the caller reads.
#[derive(Deserialize)]
struct ListedPage<R> {
    keys: Vec<R>,
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Deserialize)]
struct ListedName {
    name: String,
}

impl ListingStore for KvStore {
    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, StoreError> {
        let page = self.listed(prefix, cursor).await?;
        let ListedPage { keys: records, cursor } = from_js(&page).ok_or_else(damaged_list)?;
        Ok(ListPage { records, cursor })
    }

    /// Lists only names. The code that reads metadata would add 6 KB to the service's compressed wasm.
    async fn names(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let page = self.listed(prefix, None).await?;
        let page: ListedPage<ListedName> = from_js(&page).ok_or_else(damaged_list)?;
        Ok(page.keys.into_iter().map(|record| record.name).collect())
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

/// Returns a value and its metadata; `None` if there is no record. This function is not generic, so that it
/// is compiled only once.
///
/// # Errors
/// Those of [`answered`].
async fn find(
    promise: Result<Promise, JsValue>,
    milliseconds: u32,
    kind: &str,
) -> Result<Option<(ReadableStream, JsValue)>, StoreError> {
    let found: Found = answered(promise, milliseconds, "get", kind).await?.unchecked_into();
    let value = found.value(); // null in KV's answer if there is no record
    Ok(value.map(|value| (value, found.metadata())))
}

/// Waits for the answer to a call of KV, until a deadline. If the call fails, logs the failure, but neither
/// the key nor the value.
///
/// # Errors
/// [`StoreError::Unavailable`] if the call fails or misses the deadline.
async fn answered(
    promise: Result<Promise, JsValue>,
    milliseconds: u32,
    operation: &str,
    kind: &str,
) -> Result<JsValue, StoreError> {
    let outcome = settled(promise, milliseconds).await; // KV throws for a name that is too long
    outcome.map_err(|error| unavailable(operation, kind, &failure(&error, milliseconds)))
}

/// Logs why a call failed, and returns the error.
fn unavailable(operation: &str, kind: &str, failure: &str) -> StoreError {
    log_error(&[("kv", operation), ("record", kind), ("cause", failure)]);
    StoreError::Unavailable
}

fn damaged_list() -> StoreError {
    StoreError::Damaged("the list of names has an unexpected form".to_owned())
}

/// Returns the error for metadata of an unexpected form. It does not contain serde's own text, which would
/// quote the metadata.
fn damaged_metadata(kind: &str) -> StoreError {
    StoreError::Damaged(format!("the metadata of the stored {kind} is damaged"))
}
