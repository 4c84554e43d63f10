use crate::doors::cloudflare::R2;
use crate::doors::cloudflare::json::to_js;
use crate::doors::cloudflare::r2::answered;
use crate::office::system::rule::bucket::{Bucket, Object, PutIf};
use crate::pledges::store::StoreError;
use js_sys::{Array, ArrayBuffer, Date, Promise, Uint8Array};
use serde_json::{Value, json};
use wasm_bindgen::prelude::{JsCast, JsValue, wasm_bindgen};

/// Deadline of a call, in milliseconds. A write that takes longer may still take effect.
const CALL_MS: u32 = 30_000;

#[wasm_bindgen]
extern "C" {
    type R2Object;
    #[wasm_bindgen(method, getter)]
    fn key(this: &R2Object) -> String;
    #[wasm_bindgen(method, getter)]
    fn etag(this: &R2Object) -> String;
    /// When the object was written.
    #[wasm_bindgen(method, getter)]
    fn uploaded(this: &R2Object) -> Date;
    #[wasm_bindgen(method, catch, js_name = arrayBuffer)]
    fn array_buffer(this: &R2Object) -> Result<Promise, JsValue>;

    type R2Objects;
    #[wasm_bindgen(method, getter)]
    fn objects(this: &R2Objects) -> Array;
}

/// A bucket of R2. The version of an object is its ETag.
pub struct R2Bucket(R2);

impl R2Bucket {
    pub fn new(bucket: R2) -> Self {
        R2Bucket(bucket)
    }

    /// Returns the first 1,000 objects whose names begin with a prefix.
    async fn objects(&self, prefix: &str) -> Result<impl Iterator<Item = R2Object>, StoreError> {
        let options = to_js(&json!({ "prefix": prefix }));
        let list = options.and_then(|options| self.0.list(&options));
        let listed: R2Objects = answered(list, CALL_MS, "list").await?.unchecked_into();
        Ok(listed.objects().to_vec().into_iter().map(JsCast::unchecked_into))
    }
}

impl Bucket for R2Bucket {
    async fn get(&self, name: &str) -> Result<Option<Object>, StoreError> {
        let found = answered(self.0.get(name), CALL_MS, "get").await?;
        if found.is_null() {
            return Ok(None);
        }
        let object: R2Object = found.unchecked_into();
        let buffer: ArrayBuffer =
            answered(object.array_buffer(), CALL_MS, "read").await?.unchecked_into();
        Ok(Some(Object { bytes: Uint8Array::new(&buffer).to_vec(), version: object.etag() }))
    }

    async fn put(
        &self,
        name: &str,
        bytes: Vec<u8>,
        condition: PutIf<'_>,
    ) -> Result<Option<String>, StoreError> {
        let copy = Uint8Array::from(bytes.as_slice());
        drop(bytes);
        let options = to_js(&put_options(condition));
        let put = options.and_then(|options| self.0.put(name, &copy, &options));
        let written = answered(put, CALL_MS, "put").await?;
        Ok((!written.is_null()).then(|| written.unchecked_into::<R2Object>().etag()))
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        Ok(self.objects(prefix).await?.map(|object| object.key()).collect())
    }

    async fn list_before(&self, prefix: &str, before_ms: u64) -> Result<Vec<String>, StoreError> {
        let is_before = |object: &R2Object| object.uploaded().get_time() < before_ms as f64;
        Ok(self.objects(prefix).await?.filter(is_before).map(|object| object.key()).collect())
    }

    async fn delete(&self, names: &[String]) -> Result<(), StoreError> {
        let names = names.iter().map(|name| JsValue::from_str(name)).collect();
        answered(self.0.delete(&names), CALL_MS, "delete").await.map(drop)
    }
}

fn put_options(condition: PutIf<'_>) -> Value {
    match condition {
        PutIf::Always => json!({}),
        PutIf::Missing => json!({ "onlyIf": { "etagDoesNotMatch": "*" } }),
        PutIf::Version(version) => json!({ "onlyIf": { "etagMatches": version } }),
    }
}
