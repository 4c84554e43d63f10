//! Tests the ledger on SQLite: its rows, lists, sums, and the reconciliation with KV.

mod day_charges;
mod day_quantities;
mod lists;
mod reconciliation;
mod rows;
mod states;
mod sums;

use futures_executor::block_on;
use impact_pledge::office::fulfilment::rows::quantities;
use impact_pledge::office::orders::rows::order::Filter;
use impact_pledge::office::orders::rows::orders;
use impact_pledge::office::orders::rows::orders::{Direction, OrderPage};
use impact_pledge::office::payments::rows::sums as payments_sums;
use impact_pledge::office::system::rows::days;
use impact_pledge::office::system::rows::receive;
use impact_pledge::office::system::rows::receive::{Delivered, Verdict};
use impact_pledge::office::system::rows::reconcile;
use impact_pledge::office::system::rows::reconcile::{PassOutcome, PassTiming};
use impact_pledge::office::system::rows::state::State;
use impact_pledge::pledges::scope::{Mode, Scope};
use impact_pledge::pledges::settlement::{Month, ScopeMonth};
use impact_pledge::pledges::types::TransactionId;
use serde_json::{Value, json};
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::{FixedClock, NOW_MS, SECRET};

const MINUTE: u64 = 60_000;

fn scope(mode: Mode, unit: &str) -> Scope {
    Scope { mode, unit: unit.to_owned() }
}

fn clock(now_ms: u64) -> FixedClock {
    FixedClock(std::cell::Cell::new(now_ms))
}

/// Returns the message about transaction `number` of the unit `u`, with the members of `change` replaced.
pub fn message(number: u8, change: Value) -> Value {
    let scope = scope(Mode::Live, "u");
    let reference = format!("order {number}");
    let id = TransactionId::new(&SECRET, &scope, &reference, [number; 16]);
    let created_at = impact_pledge::pledges::time::date_time(NOW_MS + u64::from(number) * 1_000);
    let mut message = json!({
        "id": id.as_str(), "mode": "live", "unit": "u",
        "summary": {
            "createdAt": created_at, "amount": "1.50", "currencyCode": "USD",
            "lookup": SECRET.hashes(&scope, &reference, "ada@shop.example"),
            "key": "0123456789ab", "quantities": [["tree", 3_000_000]],
        },
    });
    merge(&mut message, change);
    message
}

/// Replaces the members of `into` that `change` contains. Nested objects are merged in the same way.
fn merge(into: &mut Value, change: Value) {
    match (into, change) {
        (Value::Object(into), Value::Object(change)) => {
            for (name, value) in change {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, change) => *into = change,
    }
}

#[track_caller]
pub fn receive(ledger: &SqliteLedger, messages: &[Value]) {
    let delivered = messages.iter().map(|body| Delivered { body: body.clone(), attempt: 1 });
    let delivered: Vec<_> = delivered.collect();
    let store = MemoryStore::default();
    let verdicts = block_on(receive::receive(ledger, &store, &clock(NOW_MS), &delivered));
    assert!(verdicts.iter().all(|verdict| *verdict == Verdict::Done), "{verdicts:?}");
}

/// Stores the sums of the days that have ended at this time.
pub fn store_days(ledger: &SqliteLedger, now_ms: u64) {
    block_on(days::store_days(ledger, &clock(now_ms), u32::MAX, u64::MAX)).unwrap();
}

pub fn months(texts: &[&str]) -> Vec<Month> {
    texts.iter().map(|text| Month::parse(text).unwrap()).collect()
}

/// Returns a line for each sum: `unit mode month currency amount transactions unpriced`.
fn sums(ledger: &SqliteLedger, names: &[&str]) -> Vec<String> {
    let sums = block_on(payments_sums::sums(ledger, None, None, &months(names))).unwrap();
    let text = |sum: &payments_sums::MonthSum| {
        let payments_sums::MonthSum { of, currency_code, amount, transactions, unpriced } = sum;
        let ScopeMonth { scope: Scope { unit, mode }, month } = of;
        format!("{unit} {} {month} {currency_code} {amount} {transactions} {unpriced}", mode.name())
    };
    sums.iter().map(text).collect()
}

fn list(ledger: &SqliteLedger, filter: &Filter, from: &Direction, most: usize) -> OrderPage {
    block_on(orders::orders(ledger, filter, from, most)).unwrap()
}

fn references(page: &OrderPage) -> Vec<String> {
    page.orders.iter().map(|order| order.created_at[17..19].to_owned()).collect()
}

fn quantities(ledger: &SqliteLedger) -> Vec<(String, String, u64)> {
    let months = months(&["2026-01"]);
    let found =
        block_on(quantities::quantities(ledger, None, None, &months, 100)).unwrap().into_iter();
    found.map(|sum| (sum.offering, sum.quantity, sum.transactions)).collect()
}

/// Returns the stored value of a transaction with these pledges.
fn record(pledges: &[Value]) -> Vec<u8> {
    let charge = json!({ "amount": "1.50", "currencyCode": "USD", "paidAt": null });
    let record = json!({
        "createdAt": "2026-01-31T12:00:01.000Z", "reference": "r", "isLive": true, "trigger": {},
        "charge": charge, "pledges": pledges,
    });
    record.to_string().into_bytes()
}

/// Stores the record that a message is about.
pub fn keep(store: &MemoryStore, message: &Value) {
    let name = format!("transaction:{}", message["id"].as_str().unwrap());
    let mut metadata = message.clone();
    metadata["bytes"] = json!(1_000);
    store.keep(&name, b"{}", metadata.to_string().as_bytes());
}

fn reconcile(
    ledger: &SqliteLedger,
    store: &MemoryStore,
    now_ms: u64,
    calls: u32,
) -> (PassOutcome, State) {
    block_on(reconcile::reconcile(ledger, store, &clock(now_ms), ("one", PassTiming::Due), calls))
        .unwrap()
}
