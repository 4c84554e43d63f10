//! Sends a request: as a `Request` to the platform's `fetch`, or as plain objects to the caller's.

use super::js::{Call, PlainObject};
use crate::api::RequestHead;
use gloo_net::http::{Method, RequestBuilder};
use js_sys::Promise;
use wasm_bindgen::prelude::JsValue;
use web_sys::{AbortSignal, RequestRedirect};

/// Starts a request. Returns a promise of the [`Reply`](super::js::Reply).
///
/// Redirects are not followed, because they would send the key to another address. gloo-net's own
/// `send` is not used: it panics when `fetch` rejects with anything but an `Error` of this realm,
/// as under Jest, and keeps only the text of an error.
///
/// # Errors
/// If the request cannot be built, or the caller's `fetch` throws.
pub fn send(
    call: &Call,
    head: &RequestHead,
    body: Option<&JsValue>,
    signal: &AbortSignal,
) -> Result<Promise, JsValue> {
    let url = call.base_url() + &head.path;
    let accepted = call.takes_signal().then_some(signal);
    if call.has_own_fetch() {
        return call.exchange(&JsValue::from_str(&url), &init(head, body, accepted), signal);
    }
    let request = request(&url, head, body, accepted)?;
    call.exchange(&request.into(), &JsValue::UNDEFINED, signal)
}

/// Builds a `Request` of the platform.
fn request(
    url: &str,
    head: &RequestHead,
    body: Option<&JsValue>,
    signal: Option<&AbortSignal>,
) -> Result<web_sys::Request, JsValue> {
    let mut builder = RequestBuilder::new(url)
        .method(if body.is_some() { Method::POST } else { Method::GET })
        .redirect(RequestRedirect::Manual)
        .abort_signal(signal);
    for (name, value) in &head.headers {
        builder = builder.header(name, value);
    }
    let request = match body {
        Some(body) => builder.body(body),
        None => builder.build(),
    };
    // The builder's error has no details. The address and the headers were checked before.
    Ok(request.map_err(|_| js_sys::Error::new("the request can't be built"))?.into())
}

/// Builds the second argument of `fetch` of plain objects, which every implementation accepts.
fn init(head: &RequestHead, body: Option<&JsValue>, signal: Option<&AbortSignal>) -> PlainObject {
    let headers = PlainObject::new();
    for (name, value) in &head.headers {
        headers.set(name, &JsValue::from_str(value));
    }
    let init = PlainObject::new();
    init.set("method", &JsValue::from_str(head.method));
    init.set("headers", &headers);
    init.set("redirect", &JsValue::from_str("manual"));
    if let Some(body) = body {
        init.set("body", body);
    }
    if let Some(signal) = signal {
        init.set("signal", signal);
    }
    init
}
