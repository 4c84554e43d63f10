//! What a request has beside it.

use js_sys::Promise;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// The call of a handler, the class of that name in `recover.js`. `impact-pledge/testing` has its own.
    pub type Call;
    /// The ID of the request.
    #[wasm_bindgen(method, getter)]
    pub fn id(this: &Call) -> String;
    /// Lets the platform go on with a promise after the answer. To be called before that.
    #[wasm_bindgen(method, js_name = waitUntil)]
    pub fn wait_until(this: &Call, promise: &Promise);
}
