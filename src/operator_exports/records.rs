//! Prices, units' profiles, and the data of local development.

use super::kv::{Kv, KvStore};
use super::{Outcome, author, from_js, to_js};
use crate::operator::{prices, seed, units};
use crate::scope::Mode;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// Reads a catalogue that a person wrote → `{currencyCode, unitPrices}`.
#[wasm_bindgen(js_name = parsePrices)]
pub fn parse_prices(file: &[u8]) -> Outcome {
    to_js(&prices::parse(file).map_err(|error| error.to_string())?)
}

/// Replaces the prices of a mode by a catalogue that a person wrote.
#[wasm_bindgen(js_name = setPrices)]
pub async fn set_prices(kv: Kv, by: String, mode: JsValue, file: Vec<u8>) -> Outcome {
    let store = KvStore::new(kv);
    let mode: Mode = from_js(mode)?;
    let catalogue = prices::parse(&file).map_err(|error| error.to_string())?;
    store.finish(prices::set(&store, &author(&by)?, mode, &catalogue).await)
}

/// The prices of a mode → `{currencyCode, unitPrices}`, or null.
#[wasm_bindgen(js_name = getPrices)]
pub async fn get_prices(kv: Kv, mode: JsValue) -> Outcome {
    let store = KvStore::new(kv);
    let mode: Mode = from_js(mode)?;
    store.finish(prices::get(&store, mode).await)
}

/// Replaces a unit's profile: `{name, logo?, accent?, language?, link?}` → `{unit, profile}`.
#[wasm_bindgen(js_name = setUnit)]
pub async fn set_unit(kv: Kv, by: String, unit: String, profile: JsValue) -> Outcome {
    let store = KvStore::new(kv);
    let profile = from_js(profile)?;
    store.finish(units::set(&store, &author(&by)?, &unit, profile).await)
}

/// A unit's profile → `{unit, profile}` or `{unit, problem}`, or null.
#[wasm_bindgen(js_name = getUnit)]
pub async fn get_unit(kv: Kv, unit: String) -> Outcome {
    let store = KvStore::new(kv);
    store.finish(units::get(&store, &unit).await)
}

/// All profiles.
#[wasm_bindgen(js_name = listUnits)]
pub async fn list_units(kv: Kv) -> Outcome {
    let store = KvStore::new(kv);
    store.finish(units::list(&store).await)
}

/// Removes a unit's profile → whether there was one.
#[wasm_bindgen(js_name = removeUnit)]
pub async fn remove_unit(kv: Kv, by: String, unit: String) -> Outcome {
    let store = KvStore::new(kv);
    store.finish(units::remove(&store, &author(&by)?, &unit).await)
}

/// Writes the data of local development where it is missing → `[{key, record}]`.
#[wasm_bindgen(js_name = seed)]
pub async fn write_seed(kv: Kv) -> Outcome {
    let store = KvStore::new(kv);
    store.finish(seed::seed(&store).await)
}
