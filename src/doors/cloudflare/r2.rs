//! Buckets of R2. The service reads pictures from one; the dashboard also writes, and keeps backups in another.

use super::deadline::{failure, settled};
use super::json::log_error;
use crate::pledges::picture::PictureName;
use crate::pledges::store::StoreError;
use js_sys::{Array, Promise, Uint8Array};
use wasm_bindgen::prelude::{JsCast as _, JsValue, wasm_bindgen};
use web_sys::ReadableStream;

/// Deadline until a picture begins to arrive, in milliseconds.
const READ_MS: u32 = 5_000;
/// Deadline of a write of a picture, in milliseconds. A write that takes longer may still take effect.
const WRITE_MS: u32 = 15_000;

#[wasm_bindgen]
extern "C" {
    /// A bucket of R2. This type replaces `worker::Bucket`, which has no deadlines.
    #[derive(Clone)]
    pub type R2;
    #[wasm_bindgen(method, catch)]
    pub fn get(this: &R2, name: &str) -> Result<Promise, JsValue>;
    /// Writes an object. Resolves to `null` if the condition in the options is not met.
    #[wasm_bindgen(method, catch)]
    pub fn put(
        this: &R2,
        name: &str,
        bytes: &Uint8Array,
        options: &JsValue,
    ) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch)]
    pub fn list(this: &R2, options: &JsValue) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch)]
    pub fn delete(this: &R2, names: &Array) -> Result<Promise, JsValue>;

    type FoundObject;
    #[wasm_bindgen(method, getter)]
    fn body(this: &FoundObject) -> ReadableStream;
}

impl R2 {
    /// Returns a picture, not yet read; `None` if there is none.
    ///
    /// # Errors
    /// If the bucket does not answer in time.
    pub async fn picture(&self, name: &PictureName) -> Result<Option<ReadableStream>, StoreError> {
        let found = answered(self.get(name.as_str()), READ_MS, "get").await?;
        Ok((!found.is_null()).then(|| found.unchecked_into::<FoundObject>().body()))
    }

    /// Writes a picture.
    ///
    /// # Errors
    /// If the picture may not have been written.
    pub async fn keep_picture(&self, name: &PictureName, bytes: Vec<u8>) -> Result<(), StoreError> {
        let copy = Uint8Array::from(bytes.as_slice());
        drop(bytes);
        let put = self.put(name.as_str(), &copy, &JsValue::UNDEFINED);
        answered(put, WRITE_MS, "put").await.map(drop)
    }
}

/// Waits for the answer to a call, until a deadline in milliseconds. If the call fails, logs why.
///
/// # Errors
/// If the call fails or misses the deadline.
pub async fn answered(
    promise: Result<Promise, JsValue>,
    milliseconds: u32,
    operation: &str,
) -> Result<JsValue, StoreError> {
    settled(promise, milliseconds).await.map_err(|error| {
        log_error(&[("bucket", operation), ("cause", &failure(&error, milliseconds))]);
        StoreError::Unavailable
    })
}
