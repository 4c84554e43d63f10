//! Transactions.

use super::kv::{Kv, KvStore};
use super::{Outcome, author, from_js, to_js};
use crate::operator::OperatorError;
use crate::operator::transactions::{self, By, Report, View, Wanted};
use crate::platform::Platform;
use js_sys::{Function, JSON};
use serde::Deserialize;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[derive(Deserialize)]
struct Sought {
    wanted: Wanted,
    by: By,
}

/// `{wanted: {unit?, mode?}, by: {reference} | {email}}` → `{transactions, damaged: {count, first}}`.
#[wasm_bindgen(js_name = findTransactions)]
pub async fn find_transactions(kv: Kv, sought: JsValue) -> Outcome {
    let store = KvStore::new(kv);
    let Sought { wanted, by } = from_js(sought)?;
    store.finish(transactions::find(&store, wanted, &by).await)
}

/// How many records a search over all units lists → `{records, more}`.
#[wasm_bindgen(js_name = sizeOfAll)]
pub async fn size_of_all(kv: Kv) -> Outcome {
    let store = KvStore::new(kv);
    store.finish(transactions::size_of_all(&store).await)
}

/// One transaction: `{reveal, timeline}` → `{row, repeatable, transaction}`.
#[wasm_bindgen(js_name = showTransaction)]
pub async fn show_transaction(kv: Kv, id: String, view: JsValue) -> Outcome {
    let store = KvStore::new(kv);
    let view: View = from_js(view)?;
    let record = transactions::get(&store, &id).await.map_err(|error| store.failure(&error))?;
    let shown = record.show(view).map_err(|error| store.failure(&error))?;
    // serde-wasm-bindgen refuses a quantity of 2^53.
    JSON::parse(&serde_json::to_string(&shown).map_err(|error| error.to_string())?)
}

/// Throws if a transaction cannot be erased.
#[wasm_bindgen(js_name = checkErasable)]
pub async fn check_erasable(kv: Kv, id: String) -> Outcome {
    let store = KvStore::new(kv);
    let record = transactions::get(&store, &id).await;
    store.finish(record.and_then(|record| transactions::check_erasable(&Platform, &record)))
}

/// Erases the personal data of a transaction → `{id, at, before}`.
#[wasm_bindgen(js_name = eraseTransaction)]
pub async fn erase_transaction(kv: Kv, by: String, id: String) -> Outcome {
    let store = KvStore::new(kv);
    let author = author(&by)?;
    let erase = async || -> Result<_, OperatorError> {
        let record = transactions::get(&store, &id).await?;
        transactions::erase(&store, &author, &record).await
    };
    store.finish(erase().await)
}

/// Sums transactions: `{wanted: {unit?, mode?}, month?, unpriced?}` → `{sums, transactions, damaged}`.
/// Calls `on_rows` with the rows of each page.
#[wasm_bindgen(js_name = sumTransactions)]
pub async fn sum_transactions(kv: Kv, query: JsValue, on_rows: Function) -> Outcome {
    let store = KvStore::new(kv);
    let mut report = Report::new(&store, from_js(query)?);
    while let Some(rows) = report.next().await.map_err(|error| store.failure(&error))? {
        on_rows.call1(&JsValue::NULL, &to_js(&rows)?)?;
    }
    to_js(&report.finish())
}
