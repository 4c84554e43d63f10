//! What a request has beside it.

use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// The call of a handler, the class of that name in `recover.js`. `impact-pledge/testing` has its own.
    pub type Call;
    /// The ID of the request.
    #[wasm_bindgen(method, getter)]
    pub fn id(this: &Call) -> String;
}
