//! Transactions.

use super::kv::{Kv, KvStore};
use super::{Outcome, author, from_js, to_js};
use crate::operator::prices::PriceList;
use crate::operator::transactions::{self, By, Lines, Report, Shown, UsageQuery, View, Wanted};
use crate::operator::{OperatorError, notifications};
use crate::platform::Platform;
use crate::store::MAX_READS;
use js_sys::{Function, JSON};
use serde::{Deserialize, Serialize};
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

/// One transaction: `{reveal, timeline}` → `{row, repeatable, key, transaction, prices, mail}`. With one of
/// the two, it is recorded `by` whom.
#[wasm_bindgen(js_name = showTransaction)]
pub async fn show_transaction(kv: Kv, by: Option<String>, id: String, view: JsValue) -> Outcome {
    let store = KvStore::new(kv);
    let view: View = from_js(view)?;
    let record = transactions::get(&store, &id).await.map_err(|error| store.failure(&error))?;
    let shown = if view.reveal || view.timeline {
        let author = author(by.as_deref().unwrap_or_default())?;
        transactions::reveal(&store, &author, &record, view).await
    } else {
        record.show(view)
    };
    let mut shown = shown.map_err(|error| store.failure(&error))?;
    let paid_at = record.paid_at(&store).await.map_err(|error| store.failure(&error))?;
    shown.transaction.charge.paid_at = paid_at.map(|paid_at| paid_at.as_str().to_owned().into());
    let prices = record.prices(&store).await.map_err(|error| store.failure(&error))?;
    let mail = notifications::status(&store, &Platform, &record).await;
    let mail = mail.map_err(|error| store.failure(&error))?;
    let shown = Priced { shown, prices, mail };
    // serde-wasm-bindgen refuses a quantity of 2^53.
    JSON::parse(&serde_json::to_string(&shown).map_err(|error| error.to_string())?)
}

#[derive(Serialize)]
struct Priced<'r> {
    #[serde(flatten)]
    shown: Shown<'r>,
    prices: Option<PriceList>,
    mail: notifications::Status,
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

fn read_query(query: JsValue) -> Result<UsageQuery, JsValue> {
    let query: UsageQuery = from_js(query)?;
    query.wanted.check().map_err(|error| error.to_string())?;
    Ok(query)
}

/// Sums transactions: `{wanted: {unit?, mode?}, month?, unpriced?}` → `{sums, transactions, damaged}`.
/// Calls `on_rows` with the rows of each page.
#[wasm_bindgen(js_name = sumTransactions)]
pub async fn sum_transactions(kv: Kv, query: JsValue, on_rows: Function) -> Outcome {
    let store = KvStore::new(kv);
    let mut report = Report::new(&store, read_query(query)?);
    while let Some(rows) = report.next().await.map_err(|error| store.failure(&error))? {
        on_rows.call1(&JsValue::NULL, &to_js(&rows)?)?;
    }
    to_js(&report.finish())
}

/// Sums transactions as [`sum_transactions`] does, and reads each of them. Calls `on_text` with the parts of a file for a
/// spreadsheet.
#[wasm_bindgen(js_name = exportTransactions)]
pub async fn export_transactions(kv: Kv, query: JsValue, on_text: Function) -> Outcome {
    let store = KvStore::new(kv);
    let mut report = Report::new(&store, read_query(query)?);
    let mut lines = Lines::new(&store);
    let write = |text: String| on_text.call1(&JsValue::NULL, &text.into());
    write(transactions::spreadsheet_head())?;
    while let Some(rows) = report.next().await.map_err(|error| store.failure(&error))? {
        for rows in rows.chunks(MAX_READS) {
            let some = lines.of(rows).await.map_err(|error| store.failure(&error))?;
            write(transactions::for_spreadsheet(&some))?;
        }
    }
    to_js(&report.finish())
}
