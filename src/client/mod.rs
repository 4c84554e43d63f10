//! The wasm part of the npm package's `PledgeClient`: a call's request, its attempts and waits, and
//! the check of the answer.
//!
//! The package's JavaScript reads options, calls `fetch`, and makes the transaction or the error.
//! Any value that a caller passed may throw when it is used, so every binding to one catches: an
//! exception that crossed a future would leave its promise pending for ever.

mod attempt;
mod call;
mod js;
mod limits;
mod send;

use crate::api::{Credentials, Operation};
use crate::scope::Mode;
use js::Call;
use lol_alloc::{FreeListAllocator, LockedAllocator};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// Checks a key and a unit ID. Returns the message if one of them cannot be sent.
#[wasm_bindgen(js_name = checkCredentials)]
pub fn check_credentials(api_key: &str, unit_id: Option<String>) -> Option<String> {
    let problem = Credentials::new(api_key, unit_id.as_deref()).err()?;
    Some(<&str>::from(problem).to_owned())
}

/// Whether a key is one of live mode (§5.3).
#[wasm_bindgen(js_name = isLiveKey)]
pub fn is_live_key(api_key: &str) -> bool {
    api_key.starts_with(Mode::Live.key_prefix())
}

/// Creates a transaction, if `create`, or gets one: `subject` is the valid body or the ID. Resolves
/// to a [`Conclusion`](call::Conclusion), also if the call fails.
///
/// # Errors
/// Never: every conclusion converts to a JavaScript value.
#[wasm_bindgen]
pub async fn send(call: Call, create: bool, subject: JsValue) -> Result<JsValue, JsValue> {
    let operation = if create { Operation::Create } else { Operation::Get };
    let conclusion = call::run(&call, operation, subject).await;
    Ok(serde_wasm_bindgen::to_value(&conclusion)?)
}

/// Half as large as the standard library's. A call allocates little, and frees it soon.
#[global_allocator]
static ALLOCATOR: LockedAllocator<FreeListAllocator> =
    LockedAllocator::new(FreeListAllocator::new());
