//! Deadlines: nothing that a request waits for may keep it for ever.

use futures_util::future::{Either, select};
use gloo_timers::future::TimeoutFuture;
use js_sys::Promise;
use std::pin::pin;
use wasm_bindgen::prelude::wasm_bindgen;

/// Awaits `work` for so many milliseconds at most: `None` if it was dropped then.
pub async fn within<W: Future>(milliseconds: u32, work: W) -> Option<W::Output> {
    match select(pin!(work), TimeoutFuture::new(milliseconds)).await {
        Either::Left((output, _)) => Some(output),
        Either::Right(_) => None,
    }
}

#[wasm_bindgen(module = "/src/server/within.js")]
extern "C" {
    /// As [`within`], of a promise: rejected with `undefined` when the time is up.
    #[wasm_bindgen(js_name = within)]
    pub fn promise_within(promise: &Promise, milliseconds: u32) -> Promise;
}
