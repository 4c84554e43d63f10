use crate::doors::cloudflare::deadline::{failure, within};
use crate::doors::cloudflare::json::{log_error, to_js};
use crate::office::system::rule::bucket::{Bucket, Object, PutIf};
use crate::pledges::store::StoreError;
use js_sys::{Array, ArrayBuffer, Promise, Uint8Array};
use serde_json::{Value, json};
use wasm_bindgen::prelude::{JsCast as _, JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;

/// Deadline of a call, in milliseconds. A write that takes longer may still take effect.
const CALL_MS: u32 = 30_000;

#[wasm_bindgen]
extern "C" {
    /// A bucket of R2. This type replaces `worker::Bucket`, which has no deadlines.
    pub type R2;
    #[wasm_bindgen(method, catch)]
    fn get(this: &R2, name: &str) -> Result<Promise, JsValue>;
    /// Writes an object. Resolves to `null` if the condition in the options is not met.
    #[wasm_bindgen(method, catch)]
    fn put(
        this: &R2,
        name: &str,
        bytes: &Uint8Array,
        options: &JsValue,
    ) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn list(this: &R2, options: &JsValue) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn delete(this: &R2, names: &Array) -> Result<Promise, JsValue>;

    type R2Object;
    #[wasm_bindgen(method, getter)]
    fn key(this: &R2Object) -> String;
    #[wasm_bindgen(method, getter)]
    fn etag(this: &R2Object) -> String;
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
}

impl Bucket for R2Bucket {
    async fn get(&self, name: &str) -> Result<Option<Object>, StoreError> {
        let found = answered(self.0.get(name), "get").await?;
        if found.is_null() {
            return Ok(None);
        }
        let object: R2Object = found.unchecked_into();
        let buffer: ArrayBuffer = answered(object.array_buffer(), "read").await?.unchecked_into();
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
        let written = answered(put, "put").await?;
        Ok((!written.is_null()).then(|| written.unchecked_into::<R2Object>().etag()))
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let options = to_js(&json!({ "prefix": prefix }));
        let list = options.and_then(|options| self.0.list(&options));
        let listed: R2Objects = answered(list, "list").await?.unchecked_into();
        Ok(listed
            .objects()
            .iter()
            .map(|object| object.unchecked_into::<R2Object>().key())
            .collect())
    }

    async fn delete(&self, names: &[String]) -> Result<(), StoreError> {
        let names = names.iter().map(|name| JsValue::from_str(name)).collect();
        answered(self.0.delete(&names), "delete").await.map(drop)
    }
}

fn put_options(condition: PutIf<'_>) -> Value {
    match condition {
        PutIf::Always => json!({}),
        PutIf::Missing => json!({ "onlyIf": { "etagDoesNotMatch": "*" } }),
        PutIf::Version(version) => json!({ "onlyIf": { "etagMatches": version } }),
    }
}

/// Waits for the answer to a call, until a deadline. If the call fails, logs why.
async fn answered(
    promise: Result<Promise, JsValue>,
    operation: &str,
) -> Result<JsValue, StoreError> {
    let outcome = match promise {
        Ok(promise) => JsFuture::from(within(&promise, CALL_MS)).await,
        Err(thrown) => Err(thrown),
    };
    outcome.map_err(|error| {
        log_error(&[("bucket", operation), ("cause", &failure(&error, CALL_MS))]);
        StoreError::Unavailable
    })
}
