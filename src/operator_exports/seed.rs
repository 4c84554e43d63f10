//! The data of local development.

use super::Outcome;
use super::kv::{Kv, KvStore};
use crate::operator::{demo, seed};
use crate::platform::Platform;
use wasm_bindgen::prelude::wasm_bindgen;

/// Writes the data of local development where it is missing → `[{key, record}]`.
#[wasm_bindgen(js_name = seed)]
pub async fn write_seed(kv: Kv) -> Outcome {
    let store = KvStore::new(kv);
    store.finish(seed::seed(&store).await)
}

/// Writes what the dashboard shows in local development, unless it is there → whether it did. `origin` is the
/// service's.
#[wasm_bindgen(js_name = seedDemo)]
pub async fn write_demo(kv: Kv, origin: String) -> Outcome {
    let store = KvStore::new(kv);
    store.finish(demo::seed(&store, &Platform, &Platform, &origin).await)
}
