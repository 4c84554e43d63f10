//! The request of an attempt: a `Request` for the platform's `fetch`, or plain objects for the caller's `fetch`.

use super::js::{ClientCall, PlainObject};
use crate::pledges::api::RequestHead;
use gloo_net::http::{Method, RequestBuilder};
use wasm_bindgen::prelude::JsValue;
use web_sys::{AbortSignal, RequestRedirect};

/// Returns the arguments of `fetch` for an attempt, as the members `input` and `init`.
///
/// Redirects are not followed, because they would send the key to another address.
///
/// # Errors
/// If the request cannot be built.
pub fn arguments(
    call: &ClientCall,
    head: &RequestHead,
    signal: Option<&AbortSignal>,
) -> Result<PlainObject, JsValue> {
    let url = call.base_url() + &head.path;
    let body = call.is_create().then(|| call.subject());
    let arguments = PlainObject::new();
    if call.fetch().is_some() {
        arguments.set("input", &JsValue::from_str(&url));
        arguments.set("init", &init(head, body.as_ref(), signal));
    } else {
        arguments.set("input", &request(&url, head, body.as_ref(), signal)?.into());
    }
    Ok(arguments)
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
    // The builder's error has no details. URL and headers were checked before.
    Ok(request.map_err(|_| js_sys::Error::new("the request can't be built"))?.into())
}

/// Builds the second argument of `fetch` from plain objects, which every implementation accepts.
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
