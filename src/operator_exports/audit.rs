//! The record of changes.

use super::kv::{Kv, KvStore};
use super::{Outcome, author};
use wasm_bindgen::prelude::wasm_bindgen;

/// Records a change that a script is about to make by itself: `by` whom, by which command, and the IDs
/// of what it changes. If this throws, the change must not be made.
#[wasm_bindgen(js_name = recordChange)]
pub async fn record_change(kv: Kv, by: String, command: String, on: Vec<String>) -> Outcome {
    let store = KvStore::new(kv);
    store.finish(author(&by)?.record(&store, &command, on).await)
}
