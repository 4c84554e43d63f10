//! How a request leaves: as the platform's `Request`, or as what the caller's own `fetch` takes.

use super::call::Call;
use crate::api::RequestHead;
use gloo_net::http::{Method, RequestBuilder};
use js_sys::Promise;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use web_sys::{AbortSignal, RequestRedirect};

#[wasm_bindgen]
extern "C" {
    /// A plain object.
    #[wasm_bindgen(js_name = Object)]
    type Plain;
    #[wasm_bindgen(constructor, js_class = "Object")]
    fn new() -> Plain;
    #[wasm_bindgen(method, indexing_setter)]
    fn set(this: &Plain, name: &str, value: &JsValue);
}

/// Starts a request. A redirect is not followed: it would carry the key to wherever it leads.
///
/// Not by gloo-net's own `send`: that one panics when `fetch` rejects with anything but an `Error`
/// of this realm, as under Jest, and it keeps nothing of an error but its text.
pub fn send(
    call: &Call,
    head: &RequestHead,
    body: Option<&JsValue>,
    signal: &AbortSignal,
) -> Result<Promise, JsValue> {
    let url = call.url(head);
    let taken = call.takes_signal().then_some(signal);
    if call.has_own_fetch() {
        return call.exchange(&JsValue::from_str(&url), &init(head, body, taken), signal);
    }
    let request = request(&url, head, body, taken)?;
    call.exchange(&request.into(), &JsValue::UNDEFINED, signal)
}

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
    // Its error is text alone; that the address and the headers are good was checked before.
    Ok(request.map_err(|_| js_sys::Error::new("the request can't be built"))?.into())
}

/// The second argument of `fetch`, of plain objects: whatever takes the platform's takes these.
fn init(head: &RequestHead, body: Option<&JsValue>, signal: Option<&AbortSignal>) -> Plain {
    let headers = Plain::new();
    for (name, value) in &head.headers {
        headers.set(name, &JsValue::from_str(value));
    }
    let init = Plain::new();
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
