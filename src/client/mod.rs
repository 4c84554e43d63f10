//! The door to JavaScript of the npm package's `PledgeClient`.
//!
//! `client.js` of the package reads options, exchanges bytes with `fetch`, makes the error classes
//! and parses what arrives; a call's attempts, its waits and the check of the answer are here.
//! Whatever JavaScript hands in may throw, so every binding to it catches: an exception that
//! crossed a future would leave its promise pending for ever.

mod attempt;
mod call;
mod limits;
mod send;

use crate::api::{Credentials, Operation};
use crate::scope::Mode;
use call::Call;
use lol_alloc::{FreeListAllocator, LockedAllocator};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// What is wrong with a key or a unit ID, if anything.
#[wasm_bindgen(js_name = checkCredentials)]
pub fn check_credentials(api_key: &str, unit_id: Option<String>) -> Option<String> {
    let problem = Credentials::new(api_key, unit_id.as_deref()).err()?;
    Some(<&str>::from(problem).to_owned())
}

/// Whether a key is for production (§5.3).
#[wasm_bindgen(js_name = isLiveKey)]
pub fn is_live_key(api_key: &str) -> bool {
    api_key.starts_with(Mode::Live.key_prefix())
}

/// Creates a transaction of a body that is valid, or gets one by its ID: `subject` is the one or
/// the other. Resolves to a [`Conclusion`](call::Conclusion), whatever happens.
///
/// # Errors
/// Never: a conclusion has nothing that cannot be a JavaScript value.
#[wasm_bindgen]
pub async fn send(call: Call, create: bool, subject: JsValue) -> Result<JsValue, JsValue> {
    let operation = if create { Operation::Create } else { Operation::Get };
    let conclusion = call::run(&call, operation, subject).await;
    Ok(serde_wasm_bindgen::to_value(&conclusion)?)
}

/// Half as large as the standard library's. What a call allocates is little, and soon gone.
#[global_allocator]
static ALLOCATOR: LockedAllocator<FreeListAllocator> =
    LockedAllocator::new(FreeListAllocator::new());
