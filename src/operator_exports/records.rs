//! Prices, units' profiles, and the data of local development.

use super::kv::{Kv, KvStore};
use super::{Outcome, author, from_js, now, to_js};
use crate::charge::Catalogue;
use crate::operator::prices::Edit;
use crate::operator::{OperatorError, demo, prices, seed, units};
use crate::platform::Platform;
use crate::scope::Mode;
use serde::Serialize;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// Reads a catalogue that a person wrote → `{currencyCode, unitPrices}`.
#[wasm_bindgen(js_name = parsePrices)]
pub fn parse_prices(file: &[u8]) -> Outcome {
    to_js(&prices::parse(file).map_err(|error| error.to_string())?)
}

/// What is found out about the prices of a mode, with the edition that was seen.
#[derive(Serialize)]
struct AtEdition<T> {
    seen: String,
    #[serde(flatten)]
    found: T,
}

/// What would change if this were the catalogue of a mode → `{seen, currency, prices, risks}`.
#[wasm_bindgen(js_name = comparePrices)]
pub async fn compare_prices(kv: Kv, mode: JsValue, file: Vec<u8>) -> Outcome {
    let store = KvStore::new(kv);
    let mode: Mode = from_js(mode)?;
    let catalogue = prices::parse(&file).map_err(|error| error.to_string())?;
    let now = prices::current(&store, mode).await;
    store.finish(
        now.map(|now| AtEdition { seen: now.edition().to_owned(), found: now.compare(&catalogue) }),
    )
}

/// The catalogue of a mode with one price set → `{seen, currencyCode, unitPrices}`.
#[wasm_bindgen(js_name = withPrice)]
pub async fn with_price(kv: Kv, mode: JsValue, offering: String, price: String) -> Outcome {
    let store = KvStore::new(kv);
    let mode: Mode = from_js(mode)?;
    let change = async || -> Result<_, OperatorError> {
        let now = prices::current(&store, mode).await?;
        let found = Catalogue { prices: None, ..now.with(&Edit::Set { offering, price })? };
        Ok(AtEdition { seen: now.edition().to_owned(), found })
    };
    store.finish(change().await)
}

/// Replaces the prices of a mode that were seen by a catalogue that a person wrote → the time that names it.
#[wasm_bindgen(js_name = setPrices)]
pub async fn set_prices(kv: Kv, by: String, mode: JsValue, file: Vec<u8>, seen: String) -> Outcome {
    let store = KvStore::new(kv);
    let mode: Mode = from_js(mode)?;
    let edit = Edit::All(prices::parse(&file).map_err(|error| error.to_string())?);
    let author = author(&by)?;
    let set = prices::set(&store, store.ledger(), &author, mode, &edit, Some(&seen)).await;
    store.finish(now(set))
}

/// The price lists of a mode, the oldest first → `[{mode, time, by, change: {currency, prices}}]`.
#[wasm_bindgen(js_name = listPrices)]
pub async fn list_prices(kv: Kv, mode: JsValue) -> Outcome {
    let store = KvStore::new(kv);
    let mode: Mode = from_js(mode)?;
    store.finish(prices::history(&store, mode, usize::MAX, usize::MAX).await)
}

/// The prices of a mode → `{currencyCode, unitPrices}`, or null.
#[wasm_bindgen(js_name = getPrices)]
pub async fn get_prices(kv: Kv, mode: JsValue) -> Outcome {
    let store = KvStore::new(kv);
    let mode: Mode = from_js(mode)?;
    store.finish(prices::get(&store, mode).await)
}

/// Sets members of a unit's profile: `{name?, logo?, accent?, language?, link?}` → `{unit, profile}`.
#[wasm_bindgen(js_name = setUnit)]
pub async fn set_unit(kv: Kv, by: String, unit: String, members: JsValue) -> Outcome {
    let store = KvStore::new(kv);
    let members = from_js(members)?;
    store.finish(now(units::set(&store, store.ledger(), &author(&by)?, &unit, members).await))
}

/// Takes members from a unit's profile: `["accent", …]` → `{unit, profile}`, or null if it has none.
#[wasm_bindgen(js_name = unsetUnit)]
pub async fn unset_unit(kv: Kv, by: String, unit: String, members: JsValue) -> Outcome {
    let store = KvStore::new(kv);
    let members: Vec<units::Member> = from_js(members)?;
    store.finish(now(units::unset(&store, store.ledger(), &author(&by)?, &unit, &members).await))
}

/// A unit's profile → `{unit, profile}` or `{unit, problem}`, or null.
#[wasm_bindgen(js_name = getUnit)]
pub async fn get_unit(kv: Kv, unit: String) -> Outcome {
    let store = KvStore::new(kv);
    store.finish(units::get(&store, &unit).await)
}

/// All units: those of the register, with `created` and `by`, and those that only have a profile.
#[wasm_bindgen(js_name = listUnits)]
pub async fn list_units(kv: Kv) -> Outcome {
    let store = KvStore::new(kv);
    store.finish(units::list(&store, usize::MAX).await.map(|(units, _)| units))
}

/// Removes a unit's profile, and the unit from the register → whether there was one of the two.
#[wasm_bindgen(js_name = removeUnit)]
pub async fn remove_unit(kv: Kv, by: String, unit: String) -> Outcome {
    let store = KvStore::new(kv);
    store.finish(now(units::remove(&store, store.ledger(), &author(&by)?, &unit).await))
}

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
