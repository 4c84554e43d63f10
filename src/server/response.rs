//! A response of the platform's.

use super::log_error;
use crate::handle::{Body, Media, Response};
use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::JsValue;
use web_sys::{ReadableStream, ResponseInit};

thread_local! {
    /// The answers to nearly all requests have the same status and headers.
    static JSON_OK: ResponseInit = init::<&str>(200, Media::Json, &[]);
}

pub fn convert(response: Response<ReadableStream>) -> web_sys::Response {
    if let Some(cause) = &response.log {
        log_error("the service could not answer:", &JsValue::from_str(cause));
    }
    let usual =
        response.status == 200 && response.media == Media::Json && response.headers.is_empty();
    let built = if usual {
        JSON_OK.with(|init| build(response.body, init))
    } else {
        build(response.body, &init(response.status, response.media, &response.headers))
    };
    // Only a status or header that is none can fail here, and all of ours are written in the code.
    built.unwrap_or_else(|_| web_sys::Response::error())
}

fn build(body: Body<ReadableStream>, init: &ResponseInit) -> Result<web_sys::Response, JsValue> {
    match body {
        Body::Empty => web_sys::Response::new_with_opt_str_and_init(None, init),
        Body::Stored(stream) => {
            web_sys::Response::new_with_opt_readable_stream_and_init(Some(&stream), init)
        }
        Body::Bytes(bytes) => {
            // A copy: the platform sends it when the module's memory has long moved on.
            let bytes = Uint8Array::from(bytes.as_slice());
            web_sys::Response::new_with_opt_js_u8_array_and_init(Some(&bytes), init)
        }
    }
}

fn init<V: AsRef<str>>(status: u16, media: Media, more: &[(&str, V)]) -> ResponseInit {
    let usual = media.headers().iter().copied();
    let more = more.iter().map(|(name, value)| (*name, value.as_ref()));
    let headers: Array = usual
        .chain(more)
        .map(|(name, value)| Array::of2(&JsValue::from_str(name), &JsValue::from_str(value)))
        .collect();
    let init = ResponseInit::new();
    init.set_status(status);
    init.set_headers(&headers);
    init
}
