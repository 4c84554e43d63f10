//! How a request leaves: by the platform's `fetch`, or by the caller's own.

use super::call::Call;
use crate::api::RequestHead;
use js_sys::Promise;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use web_sys::AbortSignal;

#[wasm_bindgen]
extern "C" {
    /// A plain object.
    #[wasm_bindgen(js_name = Object)]
    type Plain;
    #[wasm_bindgen(constructor, js_class = "Object")]
    fn new() -> Plain;
    #[wasm_bindgen(method, indexing_setter)]
    fn set(this: &Plain, name: &str, value: &JsValue);
}

/// Starts a request, and the reading of its answer.
///
/// Not by gloo-net, which serves neither end: its `send` knows only the platform's `fetch`, panics
/// when that rejects with anything but an `Error` of this realm, as under Jest, and keeps nothing of
/// an error but its text. Its `RequestBuilder` alone would be a second form of what a caller's
/// `fetch` takes as plain objects, for 1.7 KB of what a page downloads.
pub fn send(
    call: &Call,
    head: &RequestHead,
    body: Option<&JsValue>,
    signal: &AbortSignal,
) -> Result<Promise, JsValue> {
    let init = init(head, body, call.takes_signal().then_some(signal));
    call.exchange(&call.url(head), &init, signal)
}

/// The second argument of `fetch`. A redirect is not followed: it would carry the key to wherever it
/// leads.
fn init(head: &RequestHead, body: Option<&JsValue>, signal: Option<&AbortSignal>) -> Plain {
    let headers = Plain::new();
    for (name, value) in &head.headers {
        headers.set(name, &JsValue::from_str(value));
    }
    let init = Plain::new();
    init.set("method", &JsValue::from_str(head.method));
    init.set("headers", &headers);
    init.set("redirect", &JsValue::from_str("manual"));
    if let Some(body) = body {
        init.set("body", body);
    }
    if let Some(signal) = signal {
        init.set("signal", signal);
    }
    init
}
