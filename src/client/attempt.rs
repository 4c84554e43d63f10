//! One attempt: a request out, a whole answer back, within its time.

use super::call::{Call, Reply};
use super::limits;
use super::send;
use crate::api::RequestHead;
use futures_util::future::{Either, select};
use std::pin::pin;
use wasm_bindgen::prelude::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::AbortController;

/// Why there is no answer.
pub enum AttemptError {
    /// The caller's signal fired.
    Aborted,
    /// The time for one attempt was over.
    TimedOut,
    /// The connection, or the caller's `fetch`, failed with this.
    Connection(JsValue),
}

/// Sends the request and reads the answer. An attempt that ends early takes its connection along.
///
/// # Errors
/// If there is no whole answer in time.
pub async fn attempt(
    call: &Call,
    head: &RequestHead,
    body: Option<&JsValue>,
) -> Result<Reply, AttemptError> {
    let signal = call.signal();
    if limits::is_aborted(signal.as_ref()) {
        return Err(AttemptError::Aborted);
    }
    let controller = AbortController::new().map_err(AttemptError::Connection)?;
    let answer =
        send::send(call, head, body, &controller.signal()).map_err(AttemptError::Connection)?;
    let limit = pin!(limits::wait(signal, call.timeout_ms()));
    let result = match select(limit, JsFuture::from(answer)).await {
        Either::Left((end, _)) => Err(end),
        Either::Right((reply, _)) => {
            reply.map(JsValue::unchecked_into).map_err(AttemptError::Connection)
        }
    };
    if result.is_err() {
        controller.abort();
    }
    result
}
