use crate::pledges::http::{Body, Media, Response, Splice};
use js_sys::Uint8Array;
use std::borrow::Cow;
use std::cell::RefCell;
use wasm_bindgen::prelude::{JsCast as _, JsValue, wasm_bindgen};
use web_sys::{Headers, ReadableStream, ResponseInit};
use worker::{console_error, console_log};

#[wasm_bindgen(module = "/src/doors/cloudflare/spliced.js")]
extern "C" {
    /// Returns the stream with the first `old` replaced by `new`.
    fn spliced(stream: &ReadableStream, old: &str, new: &str) -> ReadableStream;
}

thread_local! {
    /// A cache of the status and headers of earlier answers. There are few combinations, and making `Headers`
    /// is slow.
    static HEADS: RefCell<Vec<(Head, ResponseInit)>> = const { RefCell::new(Vec::new()) };
}

/// The parts of a response that come before its body.
#[derive(PartialEq)]
struct Head {
    status: u16,
    media: Media,
    headers: Vec<(&'static str, Cow<'static, str>)>,
}

/// Makes the platform's response. The service never has an invalid status or header. If it had one, this
/// function would return `undefined`, and `recover.js` would answer the request.
pub fn to_web_response(response: Response<ReadableStream>) -> web_sys::Response {
    let Response { status, media, headers, body, log } = response;
    match &log {
        Some(line) if status >= 500 => console_error!("{line}"),
        Some(line) => console_log!("{line}"),
        None => {}
    }
    let init = HEADS.with_borrow_mut(|heads| Head { status, media, headers }.find_or_make(heads));
    let made = init.and_then(|init| match body {
        Body::Empty => web_sys::Response::new_with_opt_str_and_init(None, &init),
        Body::Stored(stream) => {
            web_sys::Response::new_with_opt_readable_stream_and_init(Some(&stream), &init)
        }
        Body::Spliced(stream, Splice { old, new }) => {
            let stream = spliced(&stream, old, &new);
            web_sys::Response::new_with_opt_readable_stream_and_init(Some(&stream), &init)
        }
        Body::Bytes(bytes) => {
            // A copy, because the platform sends the bytes after this memory was reused.
            let bytes = Uint8Array::from(bytes.as_slice());
            web_sys::Response::new_with_opt_js_u8_array_and_init(Some(&bytes), &init)
        }
    });
    made.unwrap_or_else(|_| JsValue::UNDEFINED.unchecked_into())
}

impl Head {
    fn find_or_make(self, heads: &mut Vec<(Head, ResponseInit)>) -> Result<ResponseInit, JsValue> {
        if let Some((_, init)) = heads.iter().find(|(head, _)| *head == self) {
            return Ok(init.clone());
        }
        let init = self.init()?;
        if self.is_cacheable() {
            heads.push((self, init.clone())); // at most one for each status and kind of body
        }
        Ok(init)
    }

    /// Returns whether all headers are constants, so that they can be cached. A header that repeats the
    /// request's origin is not cached, because there can be any number of origins.
    fn is_cacheable(&self) -> bool {
        self.headers.iter().all(|(_, value)| matches!(value, Cow::Borrowed(_)))
    }

    /// Makes the `init` argument for the final response. The argument is itself a response without a body,
    /// because the platform copies a response's status and headers in one step. From a plain object, it
    /// reads the members one by one.
    fn init(&self) -> Result<ResponseInit, JsValue> {
        let headers = Headers::new()?;
        let more = self.headers.iter().map(|(name, value)| (*name, &**value));
        for (name, value) in self.media.headers().iter().copied().chain(more) {
            headers.set(name, value)?;
        }
        let init = ResponseInit::new();
        init.set_status(self.status);
        init.set_headers(&headers);
        Ok(web_sys::Response::new_with_opt_str_and_init(None, &init)?.unchecked_into())
    }
}
