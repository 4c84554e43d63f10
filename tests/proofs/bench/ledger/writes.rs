//! The writes that the queue's consumer makes. D1 bills the rows that they write.

use crate::orders::{Order, Random, Size, store_days};
use futures_executor::block_on;
use impact_pledge::office::orders::rows::entry;
use impact_pledge::office::orders::rows::entry::{Entry, Origin};
use impact_pledge::office::shared::rows::port::Statement;
use serde_json::{Value, json};
use std::slice;
use support::ledger::{Recorder, SqliteLedger};

const DAY_MS: u64 = 86_400_000;

/// Returns the writes to measure. Each has a name, and its statements in order.
pub fn writes(size: Size) -> Vec<(&'static str, Vec<Statement>)> {
    let mut random = Random(2);
    let mut order = |number: u64| size.order(size.orders + number, &mut random);
    let first = order(0);
    let later = changed(&first, json!({ "createdAt": "2027-06-01T00:00:00Z" }));
    let erased = changed(&first, json!({ "erased": "2027-06-02T00:00:00Z", "lookup": null }));
    let many: Vec<_> = (1..=100).map(&mut order).collect();
    let late = order(101);
    vec![
        ("a create", statements(slice::from_ref(&first))),
        ("the same again", statements(slice::from_ref(&first))),
        ("a later one with its ID", statements(&[later])),
        ("its erasure", statements(&[erased])),
        ("the create after that", statements(&[first])),
        ("100 creates", statements(&many)),
        ("the same 100 again", statements(&many)),
        ("the sums of their day", sums_of_a_day(size, &many)),
        ("a create in that day", statements(slice::from_ref(&late))),
    ]
}

/// Returns the statements by which the cron stores the totals of the day of these orders.
fn sums_of_a_day(size: Size, orders: &[Order]) -> Vec<Statement> {
    let ledger = SqliteLedger::default();
    let recorder = Recorder::new(&ledger);
    let entries: Vec<Entry> = orders.iter().filter_map(Order::entry).collect();
    block_on(entry::write(&ledger, &entries, Origin::Message, 1_800_000_000_000)).unwrap();
    store_days(&recorder, &ledger, size.created_ms(size.orders) + DAY_MS);
    let statements = recorder.take().into_iter();
    statements.filter(|it| it.sql.contains("INSERT INTO day_")).collect()
}

fn changed(order: &Order, change: Value) -> Order {
    let mut changed = order.clone();
    let members = change.as_object().cloned().unwrap_or_default();
    members.into_iter().for_each(|(name, value)| changed.0["summary"][name] = value);
    changed
}

fn statements(orders: &[Order]) -> Vec<Statement> {
    let ledger = SqliteLedger::default();
    let recorder = Recorder::new(&ledger);
    let entries: Vec<Entry> = orders.iter().filter_map(Order::entry).collect();
    block_on(entry::write(&recorder, &entries, Origin::Message, 1_800_000_000_000)).unwrap();
    recorder.take()
}
