//! The call of Workers KV that only backups make: it reads whole records.

use super::namespace::get_options;
use super::{KvStore, damaged_metadata, find, unavailable};
use crate::doors::cloudflare::deadline::{failure, settled};
use crate::doors::cloudflare::json::to_js;
use crate::pledges::store::{
    BackupStore, LEAST_CACHE_SECONDS, RawRecord, RawRecords, StoreError, StoredValue as _,
};
use js_sys::{Array, JSON, Map};
use serde_json::json;
use serde_json::value::RawValue;
use wasm_bindgen::prelude::{JsCast as _, JsValue, wasm_bindgen};

/// Deadline of a read, in milliseconds.
const READ_MS: u32 = 15_000;
/// The name of the records in logs.
const KIND: &str = "any";
/// Stands in a text for bytes that are not UTF-8.
const REPLACEMENT: char = '\u{fffd}';

#[wasm_bindgen]
extern "C" {
    /// A record in the answer to a read of several records.
    type Together;
    /// The value as text; `None` if there is no record.
    #[wasm_bindgen(method, getter)]
    fn value(this: &Together) -> Option<String>;
    #[wasm_bindgen(method, getter)]
    fn metadata(this: &Together) -> JsValue;
}

impl KvStore {
    /// Reads at most 100 records with one call. Returns `None` if they have more than 25 MB.
    async fn records_together(&self, names: &Array) -> Result<Option<Map>, StoreError> {
        let options = to_js(&json!({ "type": "text", "cacheTtl": LEAST_CACHE_SECONDS }));
        let read =
            options.and_then(|options| self.namespace.get_all_with_metadata(names, &options));
        match settled(read, READ_MS).await {
            Ok(found) => Ok(Some(found.unchecked_into())),
            Err(error) => match failure(&error, READ_MS) {
                cause if cause.contains(" 413") => Ok(None),
                cause => Err(unavailable("get", KIND, &cause)),
            },
        }
    }

    /// Reads the bytes and the metadata of one record.
    async fn record_alone(&self, name: &str) -> Result<Option<RawRecord>, StoreError> {
        let found = self.namespace.get_with_metadata(name, &get_options(true));
        let Some((value, metadata)) = find(found, READ_MS, KIND).await? else { return Ok(None) };
        let value = value.read(READ_MS).await?;
        Ok(Some(RawRecord { value, metadata: raw(&metadata)? }))
    }
}

impl BackupStore for KvStore {
    async fn get_records(&self, names: &[String]) -> Result<RawRecords, StoreError> {
        let listed = names.iter().map(|name| JsValue::from_str(name)).collect();
        let together = self.records_together(&listed).await?;
        let (mut records, mut calls) = (Vec::with_capacity(names.len()), 1);
        for name in names {
            let found = together.as_ref().map(|map| map.get(&JsValue::from_str(name)));
            records.push(match found.map(|found| read(&found)) {
                Some(Some(record)) => record?,
                Some(None) | None => {
                    calls += 1;
                    self.record_alone(name).await?
                }
            });
        }
        Ok(RawRecords { records, calls })
    }
}

/// Returns a record that was read together with others. Returns `None` if its value may not be text: then its bytes must be
/// read.
fn read(found: &JsValue) -> Option<Result<Option<RawRecord>, StoreError>> {
    let value = found.is_object().then(|| found.unchecked_ref::<Together>().value()).flatten();
    let Some(value) = value else { return Some(Ok(None)) };
    if value.contains(REPLACEMENT) {
        return None;
    }
    let metadata = raw(&found.unchecked_ref::<Together>().metadata());
    Some(metadata.map(|metadata| Some(RawRecord { value: value.into_bytes(), metadata })))
}

/// Returns metadata as JSON; `None` if there is none.
fn raw(metadata: &JsValue) -> Result<Option<Box<RawValue>>, StoreError> {
    if metadata.is_null() || metadata.is_undefined() {
        return Ok(None);
    }
    let json = JSON::stringify(metadata).ok().and_then(|json| json.as_string());
    let json = json.and_then(|json| RawValue::from_string(json).ok());
    json.map(Some).ok_or_else(|| damaged_metadata(KIND))
}
