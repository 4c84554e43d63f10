//! The context that a handler gets with a request.

use js_sys::Promise;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// The context of a request: the class `Call` in `recover.js`. `impact-pledge/testing` has its own class.
    pub type Call;
    /// The ID of the request.
    #[wasm_bindgen(method, getter)]
    pub fn id(this: &Call) -> String;
    /// Makes the platform continue with a promise after the answer. Call it before the answer.
    #[wasm_bindgen(method, js_name = waitUntil)]
    pub fn wait_until(this: &Call, promise: &Promise);
}
