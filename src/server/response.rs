//! A response of the platform's.

use super::log_error;
use crate::handle::{Body, Media, Response};
use js_sys::{JsString, Object, Reflect, Uint8Array};
use std::borrow::Cow;
use std::cell::RefCell;
use wasm_bindgen::prelude::{JsCast as _, JsValue};
use web_sys::{ReadableStream, ResponseInit};

thread_local! {
    /// What the answers so far began with: there are few such heads, and each is made once.
    static KNOWN: RefCell<Vec<(Head, ResponseInit)>> = const { RefCell::new(Vec::new()) };
}

/// All of a response that comes before its body.
struct Head {
    status: u16,
    media: Media,
    headers: Vec<(&'static str, Cow<'static, str>)>,
}

pub fn convert(response: Response<ReadableStream>) -> web_sys::Response {
    let Response { status, media, headers, body, log } = response;
    if let Some(cause) = &log {
        log_error("the service could not answer:", &JsValue::from_str(cause));
    }
    let head = Head { status, media, headers };
    let init = KNOWN.with_borrow_mut(|known| head.find_or_make(known));
    // Only a status or header that is none can fail here, and all of ours are written in the code.
    build(body, &init).unwrap_or_else(|_| web_sys::Response::error())
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

impl Head {
    fn find_or_make(self, known: &mut Vec<(Head, ResponseInit)>) -> ResponseInit {
        if let Some((_, init)) = known.iter().find(|(head, _)| head.is(&self)) {
            return init.clone();
        }
        let init = self.init();
        if !self.is_of_few() {
            return init;
        }
        let init = as_response(init);
        known.push((self, init.clone()));
        init
    }

    fn is(&self, other: &Head) -> bool {
        self.status == other.status && self.media == other.media && self.headers == other.headers
    }

    /// Whether all of it is written in the code: of the origins in requests there is no end.
    fn is_of_few(&self) -> bool {
        self.headers.iter().all(|(_, value)| matches!(value, Cow::Borrowed(_)))
    }

    fn init(&self) -> ResponseInit {
        let headers = Object::new();
        let more = self.headers.iter().map(|(name, value)| (*name, &**value));
        for (name, value) in self.media.headers().iter().copied().chain(more) {
            // A plain object takes any member.
            let _ = Reflect::set(&headers, &JsString::from(name), &JsString::from(value));
        }
        let init = ResponseInit::new();
        init.set_status(self.status);
        init.set_headers(&headers);
        init
    }
}

/// The same as a response without a body, which has all members of an init: the platform copies its
/// status and headers at once, where it would ask a plain object for each.
fn as_response(init: ResponseInit) -> ResponseInit {
    match web_sys::Response::new_with_opt_str_and_init(None, &init) {
        Ok(response) => response.unchecked_into(),
        Err(_) => init,
    }
}
