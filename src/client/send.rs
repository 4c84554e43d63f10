//! How a request leaves: by the platform's `fetch`, or by the caller's own.

use super::call::Call;
use crate::api::Head;
use gloo_net::http::{Method, RequestBuilder};
use js_sys::{Object, Promise, Reflect};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use web_sys::{AbortSignal, RequestRedirect};

#[wasm_bindgen]
extern "C" {
    /// Not gloo-net's own: that one panics when `fetch` rejects with anything but an `Error` of
    /// this realm, as it does under Jest, and it keeps nothing of an error but its text.
    #[wasm_bindgen(catch, js_name = fetch)]
    fn platform_fetch(request: &web_sys::Request) -> Result<Promise, JsValue>;
}

/// Starts a request; gives what `fetch` gave. A redirect is not followed: it would carry the key
/// to wherever it leads.
pub fn send(
    call: &Call,
    head: &Head,
    body: Option<&JsValue>,
    signal: Option<&AbortSignal>,
) -> Result<JsValue, JsValue> {
    let url = call.base_url() + &head.path;
    match call.fetch() {
        None => Ok(platform_fetch(&request(&url, head, body, signal)?)?.into()),
        Some(fetch) => {
            let init = init(head, body, signal)?;
            fetch.call2(&JsValue::UNDEFINED, &JsValue::from_str(&url), &init)
        }
    }
}

fn request(
    url: &str,
    head: &Head,
    body: Option<&JsValue>,
    signal: Option<&AbortSignal>,
) -> Result<web_sys::Request, JsValue> {
    let mut builder = RequestBuilder::new(url)
        .method(if head.method == "GET" { Method::GET } else { Method::POST })
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
fn init(
    head: &Head,
    body: Option<&JsValue>,
    signal: Option<&AbortSignal>,
) -> Result<Object, JsValue> {
    let headers = head.headers.iter().map(|(name, value)| (*name, JsValue::from_str(value)));
    let members = [
        ("method", Some(JsValue::from_str(head.method))),
        ("headers", Some(object(headers)?.into())),
        ("redirect", Some(JsValue::from_str("manual"))),
        ("body", body.cloned()),
        ("signal", signal.map(JsValue::from)),
    ];
    object(members.into_iter().filter_map(|(name, value)| Some((name, value?))))
}

/// A plain object of these members.
pub fn object<'m>(members: impl Iterator<Item = (&'m str, JsValue)>) -> Result<Object, JsValue> {
    let object = Object::new();
    for (name, value) in members {
        Reflect::set(&object, &JsValue::from_str(name), &value)?;
    }
    Ok(object)
}
