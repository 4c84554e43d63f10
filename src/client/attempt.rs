//! One attempt: a request out, a whole answer back, within its limits.

use super::call::Call;
use super::limits::{End, Limits};
use super::send;
use crate::api::{Head, header};
use futures_util::future::{Either, select};
use js_sys::{Function, Promise, Reflect, Uint8Array};
use std::pin::pin;
use wasm_bindgen::prelude::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::AbortController;

/// Most bytes of a transaction that are read: far more than the service takes in.
const MAX_TRANSACTION_BYTES: usize = 64 * 1024 * 1024;
/// Most bytes of any other answer that are read: it may be anyone's error page.
const MAX_REFUSAL_BYTES: usize = 64 * 1024;

/// An answer, read to its end or to the bound of its kind.
pub struct Reply {
    pub status: u16,
    /// The `Headers` of the response.
    pub headers: JsValue,
    pub retry_after: Option<String>,
    pub body: Vec<u8>,
}

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
    let exchange = pin!(exchange(call, head, body, &controller));
    let ended = pin!(limits.ended());
    let result = match select(ended, exchange).await {
        Either::Left((End::Aborted, _)) => Err(Cut::Aborted),
        Either::Left((End::TimedOut, _)) => Err(Cut::TimedOut),
        Either::Right((reply, _)) => reply.map_err(Cut::Broken),
    };
    if result.is_err() {
        controller.abort();
    }
    result
}

async fn exchange(
    call: &Call,
    head: &Head,
    body: Option<&JsValue>,
    controller: &AbortController,
) -> Result<Reply, JsValue> {
    let signal = call.takes_signal().then(|| controller.signal());
    let answer = send::send(call, head, body, signal.as_ref())?;
    let response = JsFuture::from(Promise::resolve(&answer)).await?;
    let status = status(&response).ok_or_else(not_a_response)?;
    let headers = get(&response, "headers")?;
    get(&headers, "get")?.dyn_into::<Function>().map_err(|_| not_a_response())?;
    let limit =
        if (200..300).contains(&status) { MAX_TRANSACTION_BYTES } else { MAX_REFUSAL_BYTES };
    Ok(Reply {
        status,
        retry_after: header_value(&headers, header::RETRY_AFTER),
        headers,
        body: read_up_to(&response, limit).await?,
    })
}

fn not_a_response() -> JsValue {
    js_sys::TypeError::new("`fetch` must give a Response").into()
}

fn status(response: &JsValue) -> Option<u16> {
    let status = get(response, "status").ok()?.as_f64()?;
    let whole = status.fract() == 0.0 && (0.0..1000.0).contains(&status);
    whole.then_some(status as u16)
}

fn get(object: &JsValue, name: &str) -> Result<JsValue, JsValue> {
    Reflect::get(object, &JsValue::from_str(name))
}

fn call_method(object: &JsValue, name: &str) -> Result<JsValue, JsValue> {
    get(object, name)?.dyn_into::<Function>().map_err(|_| not_a_response())?.call0(object)
}

fn header_value(headers: &JsValue, name: &str) -> Option<String> {
    let get: Function = get(headers, "get").ok()?.dyn_into().ok()?;
    get.call1(headers, &JsValue::from_str(name)).ok()?.as_string()
}

/// Reads a body piece by piece, and drops what comes behind the limit.
async fn read_up_to(response: &JsValue, limit: usize) -> Result<Vec<u8>, JsValue> {
    let stream = get(response, "body")?;
    if stream.is_null() {
        return Ok(Vec::new());
    }
    if !stream.is_object() || !get(&stream, "getReader")?.is_function() {
        return read_whole(response, limit).await;
    }
    let reader = call_method(&stream, "getReader")?;
    let mut body = Vec::new();
    while let Some(piece) = next_piece(&reader).await? {
        append(&mut body, &piece, limit);
        if body.len() == limit {
            // Nothing is left to do with what comes, so neither with how it ends.
            let _ = call_method(&reader, "cancel").map(|cancelled| forget(&cancelled));
            break;
        }
    }
    Ok(body)
}

/// For a `fetch` whose responses have no stream.
async fn read_whole(response: &JsValue, limit: usize) -> Result<Vec<u8>, JsValue> {
    let buffer = JsFuture::from(Promise::resolve(&call_method(response, "arrayBuffer")?)).await?;
    let mut body = Vec::new();
    append(&mut body, &Uint8Array::new(&buffer), limit);
    Ok(body)
}

async fn next_piece(reader: &JsValue) -> Result<Option<Uint8Array>, JsValue> {
    let step = JsFuture::from(Promise::resolve(&call_method(reader, "read")?)).await?;
    if get(&step, "done")?.is_truthy() {
        return Ok(None);
    }
    Ok(Some(Uint8Array::new(&get(&step, "value")?)))
}

fn append(body: &mut Vec<u8>, piece: &Uint8Array, limit: usize) {
    let room = u32::try_from(limit - body.len()).unwrap_or(u32::MAX);
    body.extend(piece.subarray(0, piece.length().min(room)).to_vec());
}

/// Lets a promise end as it likes: a rejection that nobody awaits would end a Node process.
fn forget(promise: &JsValue) {
    let promise = Promise::resolve(promise);
    wasm_bindgen_futures::spawn_local(async move {
        let _ = JsFuture::from(promise).await;
    });
}
