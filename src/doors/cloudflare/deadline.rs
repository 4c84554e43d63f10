//! Deadlines and pauses. Each wait of a request, for the platform or for the caller, has a deadline.

use js_sys::Promise;
use wasm_bindgen::prelude::{JsCast as _, JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(module = "/src/doors/cloudflare/within.js")]
extern "C" {
    /// Returns a promise that settles as `promise` does, or rejects with `undefined` when the time is over.
    pub fn within(promise: &Promise, milliseconds: u32) -> Promise;
    /// Returns a promise that is fulfilled when the time is over.
    #[wasm_bindgen(js_name = pause)]
    fn paused(milliseconds: u32) -> Promise;
}

/// Waits for this many milliseconds.
pub async fn pause(milliseconds: u32) {
    let _: Result<_, JsValue> = JsFuture::from(paused(milliseconds)).await; // never rejects
}

/// Waits for the promise of a call, until a deadline in milliseconds.
///
/// # Errors
/// What the call threw, or what its promise was rejected with; `undefined` when the time is over.
pub async fn settled(
    promise: Result<Promise, JsValue>,
    milliseconds: u32,
) -> Result<JsValue, JsValue> {
    JsFuture::from(within(&promise?, milliseconds)).await
}

/// Describes why a call failed, for the log. `milliseconds` is the call's deadline.
pub fn failure(error: &JsValue, milliseconds: u32) -> String {
    match error.is_undefined() {
        true => format!("no answer in {milliseconds} ms"),
        false => describe(error),
    }
}

/// Describes an error without its stack: `TypeError: no such key`.
fn describe(error: &JsValue) -> String {
    match error.dyn_ref::<js_sys::Error>() {
        Some(error) => error.to_string().into(),
        None => format!("{error:?}"),
    }
}
