//! One attempt: sends a request and awaits the whole answer within a limit of time.

use super::js::{Call, Reply};
use super::limits::{self, Interruption};
use super::send;
use crate::api::RequestHead;
use futures_util::future::{Either, select};
use std::pin::pin;
use wasm_bindgen::prelude::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::AbortController;

/// The reason why there is no answer.
pub enum AttemptError {
    /// The caller's signal fired, or the time was over.
    Interrupted(Interruption),
    /// The connection or the caller's `fetch` failed with this value.
    Connection(JsValue),
}

/// Sends the request and reads the answer. An attempt that fails also closes its connection.
///
/// # Errors
/// If the whole answer does not arrive in time.
pub async fn attempt(
    call: &Call,
    head: &RequestHead,
    body: Option<&JsValue>,
) -> Result<Reply, AttemptError> {
    let signal = call.signal();
    if limits::is_aborted(signal.as_ref()) {
        return Err(AttemptError::Interrupted(Interruption::Aborted));
    }
    let controller = AbortController::new().map_err(AttemptError::Connection)?;
    let answer =
        send::send(call, head, body, &controller.signal()).map_err(AttemptError::Connection)?;
    let limit = pin!(limits::wait(signal, call.timeout_ms()));
    let result = match select(limit, JsFuture::from(answer)).await {
        Either::Left((interruption, _)) => Err(AttemptError::Interrupted(interruption)),
        Either::Right((reply, _)) => {
            reply.map(JsValue::unchecked_into).map_err(AttemptError::Connection)
        }
    };
    if result.is_err() {
        controller.abort();
    }
    result
}
