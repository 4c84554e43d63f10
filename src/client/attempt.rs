//! One attempt: a request out, a whole answer back, within its limits.

use super::call::{Call, Reply};
use super::limits::{End, Limits};
use super::send;
use crate::api::Head;
use futures_util::future::{Either, select};
use std::pin::pin;
use wasm_bindgen::prelude::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::AbortController;

/// Why there is no answer.
pub enum Cut {
    /// The caller's signal fired.
    Aborted,
    /// The time for one attempt was over.
    TimedOut,
    /// The connection, or the caller's `fetch`, failed with this.
    Broken(JsValue),
}

/// Sends the request and reads the answer. An attempt that ends early takes its connection along.
pub async fn attempt(call: &Call, head: &Head, body: Option<&JsValue>) -> Result<Reply, Cut> {
    let limits = Limits::new(call.signal(), call.timeout_ms());
    if limits.is_aborted() {
        return Err(Cut::Aborted);
    }
    let controller = AbortController::new().map_err(Cut::Broken)?;
    let signal = call.takes_signal().then(|| controller.signal());
    let answer = send::send(call, head, body, signal.as_ref()).map_err(Cut::Broken)?;
    let result = match select(pin!(limits.ended()), JsFuture::from(answer)).await {
        Either::Left((End::Aborted, _)) => Err(Cut::Aborted),
        Either::Left((End::TimedOut, _)) => Err(Cut::TimedOut),
        Either::Right((reply, _)) => reply.map(JsValue::unchecked_into).map_err(Cut::Broken),
    };
    if result.is_err() {
        controller.abort();
    }
    result
}
