//! Seed data for local development.

use super::CommandOutcome;
use super::kv::{CommandStore, Kv};
use crate::doors::platform::Platform;
use crate::office::demo;
use crate::office::demo::{demo_updates, development as seed};
use wasm_bindgen::prelude::wasm_bindgen;

/// Writes the seed data that is missing. Returns `[{key, record}]`.
#[wasm_bindgen(js_name = seed)]
pub async fn write_seed(kv: Kv) -> CommandOutcome {
    let store = CommandStore::new(kv);
    store.finish(seed::seed(&store).await)
}

/// Writes the demo data of the dashboard, unless it exists. Returns whether it was written. `origin` is the service's
/// origin.
#[wasm_bindgen(js_name = seedDemo)]
pub async fn write_demo(kv: Kv, origin: String) -> CommandOutcome {
    let store = CommandStore::new(kv);
    store.finish(demo::seed(&store, store.ledger(), &Platform, &Platform, &origin).await)
}

/// Publishes the demo's updates (news for buyers), unless some updates already exist. Returns whether they
/// were published. The ledger must be ready.
#[wasm_bindgen(js_name = seedUpdates)]
pub async fn write_updates(kv: Kv) -> CommandOutcome {
    let store = CommandStore::new(kv);
    store.finish(demo_updates::seed(&store, store.ledger(), &Platform, &Platform).await)
}
