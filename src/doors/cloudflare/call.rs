//! The context that a handler gets with a request.

use js_sys::Promise;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// The context of a request, in JavaScript: the class `Call` of `recover.js`, or the one of
    /// `impact-pledge/testing`.
    pub type Call;
    #[wasm_bindgen(method, getter)]
    pub fn id(this: &Call) -> String;
    /// Keeps the platform running after the answer, until `promise` has settled. Must be called before the
    /// request is answered.
    #[wasm_bindgen(method, js_name = waitUntil)]
    pub fn wait_until(this: &Call, promise: &Promise);
}
