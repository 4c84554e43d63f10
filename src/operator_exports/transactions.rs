//! Transactions.

use super::kv::{Kv, KvStore};
use super::{Outcome, author, from_js, now, to_js};
use crate::ledger::Direction;
use crate::operator::prices::PriceList;
use crate::operator::transactions::{
    self, By, Export, ListQuery, PersonPlace, PersonStep, Shown, View, Wanted,
};
use crate::operator::usage::{self, MonthUsage, Usage};
use crate::operator::{Coverage, OperatorError, Sum, notifications, quantities};
use crate::platform::Platform;
use crate::settlement::Month;
use js_sys::{Function, JSON};
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// Most transactions that a command finds.
const MOST_FOUND: usize = 1_000;

#[derive(Deserialize)]
struct Sought {
    wanted: Wanted,
    by: By,
}

/// The newest that match: `{wanted: {unit?, mode?}, by: {reference} | {email}}` → `{transactions, more, completeUpTo?,
/// damaged?: {count, first}}`, the last two from the ledger alone.
#[wasm_bindgen(js_name = findTransactions)]
pub async fn find_transactions(kv: Kv, sought: JsValue) -> Outcome {
    let store = KvStore::new(kv);
    let Sought { wanted, by } = from_js(sought)?;
    let of = (&wanted, &by);
    let newest = &Direction::Newest;
    store.finish(transactions::find(&store, store.ledger(), of, newest, MOST_FOUND).await)
}

/// The newest that are selected, at most so many: `{wanted: {unit?, mode?}, key?, month?, unpriced?}` → `{orders,
/// completeUpTo, damaged: {count, first}}`.
#[wasm_bindgen(js_name = listTransactions)]
pub async fn list_transactions(kv: Kv, query: JsValue, most: u32) -> Outcome {
    let store = KvStore::new(kv);
    let query: ListQuery = from_js(query)?;
    let newest = &Direction::Newest;
    store.finish(transactions::list(store.bound()?, &query, newest, most as usize).await)
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
        now(transactions::erase(&store, store.ledger(), &author, &record).await)
    };
    store.finish(erase().await)
}

#[derive(Deserialize)]
struct Person {
    wanted: Wanted,
    email: String,
    /// Where the step before ended.
    next: Option<String>,
}

/// Erases transactions of an address, at most so many: `{wanted: {unit, mode?}, email, next?}` → `{erased: [{id, unit, mode,
/// at, before}], refused: [[id, reason]], damaged: {count, first}, listed, next}`. `next` is null at the end.
#[wasm_bindgen(js_name = erasePerson)]
pub async fn erase_person(kv: Kv, by: String, person: JsValue, at_most: u32) -> Outcome {
    let store = KvStore::new(kv);
    let Person { wanted, email, next } = from_js(person)?;
    let next = next.as_deref().and_then(PersonPlace::parse);
    let (of, next, at_most) = ((&wanted, &*email), next.as_ref(), at_most as usize);
    let author = author(&by)?;
    let records = (&store, store.bound()?);
    let step =
        transactions::erase_person_step(records, &author, of, next, at_most, usize::MAX).await;
    store.finish(
        now(step).map(|step| Step { next: step.next.as_ref().map(PersonPlace::to_string), step }),
    )
}

#[derive(Serialize)]
struct Step {
    #[serde(flatten)]
    step: PersonStep,
    next: Option<String>,
}

// ---- Sums ----------------------------------------------------------------------------------------

/// Selects months of shops.
#[derive(Deserialize)]
struct UsageQuery {
    wanted: Wanted,
    month: Option<Month>,
    /// Only shops whose month is not marked as paid.
    #[serde(default)]
    unpaid: bool,
}

#[derive(Serialize)]
struct Summed {
    sums: Vec<Sum>,
    transactions: u64,
    #[serde(flatten)]
    coverage: Coverage,
}

impl Summed {
    fn new(usage: Usage) -> Self {
        let sums = usage.months.into_iter().flat_map(MonthUsage::into_sums).collect::<Vec<_>>();
        let transactions = sums.iter().map(|sum| sum.transactions).sum();
        Summed { sums, transactions, coverage: usage.coverage }
    }
}

async fn usage_of(store: &KvStore, query: &UsageQuery) -> Result<Usage, JsValue> {
    let UsageQuery { wanted, month, unpaid } = query;
    let usage = usage::of_all(store, store.bound()?, wanted, *month).await;
    let mut usage = usage.map_err(|error| store.failure(&error))?;
    if *unpaid {
        usage.months.retain(|month| month.settled.is_none());
    }
    Ok(usage)
}

/// Sums transactions by month, unit, mode and currency: `{wanted: {unit?, mode?}, month?, unpaid?}` → `{sums, transactions,
/// completeUpTo, damaged: {count, first}}`.
#[wasm_bindgen(js_name = sumTransactions)]
pub async fn sum_transactions(kv: Kv, query: JsValue) -> Outcome {
    let store = KvStore::new(kv);
    to_js(&Summed::new(usage_of(&store, &from_js(query)?).await?))
}

/// Sums the transactions of a month as [`sum_transactions`] does, and reads each of them. Calls `on_text` with the parts of a
/// file for a spreadsheet.
#[wasm_bindgen(js_name = exportTransactions)]
pub async fn export_transactions(kv: Kv, query: JsValue, on_text: Function) -> Outcome {
    let store = KvStore::new(kv);
    let query: UsageQuery = from_js(query)?;
    let month = query.month.ok_or("say which month")?;
    let usage = usage_of(&store, &query).await?;
    let mut export = Export::new(&store, store.bound()?, month, &usage.months);
    let write = |text: String| on_text.call1(&JsValue::NULL, &text.into());
    write(transactions::spreadsheet_head())?;
    while let Some(lines) = export.next().await.map_err(|error| store.failure(&error))? {
        write(transactions::for_spreadsheet(&lines))?;
    }
    to_js(&Summed::new(usage))
}

/// Sums what was pledged in a month, by offering: `{wanted: {unit?, mode?}, month}` → `{quantities: [{month, mode, offering,
/// transactions, quantity}], more, completeUpTo, damaged: {count, first}}`, at most so many.
#[wasm_bindgen(js_name = sumQuantities)]
pub async fn sum_quantities(kv: Kv, query: JsValue, most: u32) -> Outcome {
    let store = KvStore::new(kv);
    let UsageQuery { wanted, month, .. } = from_js(query)?;
    let month = month.ok_or("say which month")?;
    store.finish(quantities::quantities(store.bound()?, &wanted, month, most as usize).await)
}
