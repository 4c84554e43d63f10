//! The wasm part of the npm package's `PledgeClient`. It builds the requests of a call, checks the responses,
//! and decides about retries. It keeps no state between calls.
//!
//! The package's JavaScript reads options, awaits everything, and builds the transaction or the error. The
//! wasm part never awaits, because wasm-bindgen runs all futures in the async context of the call that came
//! first. A caller's `fetch` would then see the `AsyncLocalStorage` of another call.

mod call;
mod js;
mod request;

use crate::pledges::api::{Credentials, InvalidArgument};
use crate::pledges::scope::Mode;
use js::{ClientCall, Reply, get_random_values};
use lol_alloc::{FreeListAllocator, LockedAllocator};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use web_sys::AbortSignal;

/// Checks an API key and a unit ID. If one of them cannot be sent, returns an error message; otherwise
/// undefined.
#[wasm_bindgen(js_name = checkCredentials)]
pub fn check_credentials(api_key: &str, unit_id: Option<String>) -> JsValue {
    message(Credentials::new(api_key, unit_id.as_deref()))
}

/// Whether an API key is a live key (§5.3).
#[wasm_bindgen(js_name = isLiveKey)]
pub fn is_live_key(api_key: &str) -> bool {
    api_key.starts_with(Mode::Live.key_prefix())
}

/// Generates an idempotency key: 128 random bits in hexadecimal. Returns undefined if the platform has no source of
/// randomness.
#[wasm_bindgen(js_name = newIdempotencyKey)]
pub fn new_idempotency_key() -> JsValue {
    let mut bytes = [0; 16];
    match get_random_values(&mut bytes) {
        Ok(()) => base16ct::lower::encode_string(&bytes).into(),
        Err(_) => JsValue::UNDEFINED,
    }
}

/// Checks the arguments of a call. If one of them cannot be sent, returns an error message; otherwise
/// undefined.
#[wasm_bindgen(js_name = checkCall)]
pub fn check_call(call: &ClientCall) -> JsValue {
    message(call::head(call))
}

fn message<T>(checked: Result<T, InvalidArgument>) -> JsValue {
    checked.map_or_else(|problem| <&str>::from(problem).into(), |_| JsValue::UNDEFINED)
}

/// Returns the arguments of `fetch` for an attempt. If the caller provides `fetch`, these are a URL and
/// `init`. Otherwise, the only argument is a `Request`.
///
/// # Errors
/// If the request cannot be built, which [`check_call`] and the checks of options prevent.
#[wasm_bindgen(js_name = fetchArguments)]
pub fn fetch_arguments(call: &ClientCall, signal: Option<AbortSignal>) -> Result<JsValue, JsValue> {
    let head = call::head(call).map_err(<&str>::from)?;
    Ok(request::arguments(call, &head, signal.as_ref())?.into())
}

/// Evaluates an attempt, and returns a [`Conclusion`](call::Conclusion). `reply` is the response, if there
/// was one. `is_unsent` is true if no connection was established. `retries` is the number of retries so far.
///
/// # Errors
/// Never: every conclusion converts to a JavaScript value.
#[wasm_bindgen]
pub fn conclude(
    call: &ClientCall,
    reply: Option<Reply>,
    is_unsent: bool,
    retries: u32,
) -> Result<JsValue, JsValue> {
    let conclusion = call::conclude(call, reply.as_ref(), is_unsent, retries);
    Ok(serde_wasm_bindgen::to_value(&conclusion)?)
}

/// An allocator with half the code size of the standard library's. A call allocates little memory, and frees it soon.
#[global_allocator]
static ALLOCATOR: LockedAllocator<FreeListAllocator> =
    LockedAllocator::new(FreeListAllocator::new());
