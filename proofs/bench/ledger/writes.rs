//! The writes that the queue's consumer makes. D1 bills the rows that they write.

use crate::orders::{Order, Random, Size};
use futures_executor::block_on;
use impact_pledge::ledger::{self, Entry, Origin, Statement};
use serde_json::{Value, json};
use std::slice;
use support::ledger::{Recorder, SqliteLedger};

/// Returns the names of the writes, each with its statements in order.
pub fn writes(size: Size) -> Vec<(&'static str, Vec<Statement>)> {
    let mut random = Random(2);
    let mut order = |number: u64| size.order(size.orders + number, &mut random);
    let first = order(0);
    let later = changed(&first, json!({ "createdAt": "2027-06-01T00:00:00Z" }));
    let erased = changed(&first, json!({ "erased": "2027-06-02T00:00:00Z", "lookup": null }));
    let many: Vec<_> = (1..=100).map(&mut order).collect();
    vec![
        ("a create", statements(slice::from_ref(&first))),
        ("the same again", statements(slice::from_ref(&first))),
        ("a later one with its ID", statements(&[later])),
        ("its erasure", statements(&[erased])),
        ("the create after that", statements(&[first])),
        ("100 creates", statements(&many)),
        ("the same 100 again", statements(&many)),
    ]
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
    block_on(ledger::write(&recorder, &entries, Origin::Message, 1_800_000_000_000)).unwrap();
    recorder.take()
}
