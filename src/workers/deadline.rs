//! Deadlines and pauses: no request waits for the platform or a caller without a limit.

use js_sys::Promise;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(module = "/src/workers/within.js")]
extern "C" {
    /// The outcome of a promise, or a rejection with `undefined` when the time is up.
    pub fn within(promise: &Promise, milliseconds: u32) -> Promise;
    /// Settles when the time is up.
    pub fn pause(milliseconds: u32) -> Promise;
}
