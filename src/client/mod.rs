//! The door to JavaScript of the npm package's `PledgeClient`.
//!
//! `client.js` of the package reads options, exchanges bytes with `fetch`, makes the error classes
//! and parses what arrives; here is what a call does: ask, wait, ask again, judge the answer.
//! Whatever JavaScript hands in may throw, so every binding to it catches: an exception that
//! crossed a future would leave its promise pending for ever.

mod attempt;
mod call;
mod limits;
mod send;

use crate::api::{Caller, Operation};
use crate::auth::Mode;
use call::{Call, Outcome};
use lol_alloc::{FreeListAllocator, LockedAllocator};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// What is wrong with a key or a unit ID, if anything.
#[wasm_bindgen(js_name = checkCaller)]
pub fn check_caller(api_key: &str, unit_id: Option<String>) -> Option<String> {
    Caller::new(api_key, unit_id.as_deref()).err().map(|unfit| unfit.message().to_owned())
}

/// Whether a key is for production (§5.3).
#[wasm_bindgen(js_name = isLiveKey)]
pub fn is_live_key(api_key: &str) -> bool {
    api_key.starts_with(Mode::Live.key_prefix())
}

/// Creates a transaction of a body that was judged valid, or gets one by its ID: `subject` is the
/// one or the other. Never rejects.
#[wasm_bindgen]
pub async fn ask(call: Call, create: bool, subject: JsValue) -> Outcome {
    let operation = if create { Operation::Create } else { Operation::Get };
    call::run(&call, operation, subject).await
}

/// Half as large as the standard library's. What a call allocates is little, and soon gone.
#[global_allocator]
static ALLOCATOR: LockedAllocator<FreeListAllocator> =
    LockedAllocator::new(FreeListAllocator::new());
