//! Deadlines: no request waits for the platform or a caller without a limit.

use js_sys::Promise;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(module = "/src/server/within.js")]
extern "C" {
    /// The outcome of a promise, or a rejection with `undefined` when the time is up.
    pub fn within(promise: &Promise, milliseconds: u32) -> Promise;
}
