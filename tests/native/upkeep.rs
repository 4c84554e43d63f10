//! What an invocation of the ledger's cron does.

use super::ledger::{keep, message};
use futures_executor::block_on;
use impact_pledge::handle::Clock;
use impact_pledge::ledger::{self, Limits, Reached, Upkeep};
use impact_pledge::time::TimeZones;
use serde_json::{Value, json};
use std::cell::Cell;
use support::ledger::{Failing, SqliteLedger};
use support::memory::MemoryStore;
use support::service::{CountedEntropy, FixedClock, NOW_MS};

const MINUTE: u64 = 60_000;
const LIMITS: Limits = Limits { calls: 600, milliseconds: MINUTE };

/// A clock that goes on by a second whenever it is looked at.
struct Ticking(Cell<u64>);

impl TimeZones for Ticking {
    fn utc_offset(&self, _: &str, _: i64) -> Option<i32> {
        None
    }
}

impl Clock for Ticking {
    fn now_ms(&self) -> u64 {
        self.0.set(self.0.get() + 1_000);
        self.0.get()
    }
}

fn keep_up(ledger: &SqliteLedger, store: &MemoryStore, now_ms: u64, limits: Limits) -> Upkeep {
    let clock = FixedClock(Cell::new(now_ms));
    block_on(ledger::keep_up(ledger, store, &clock, "a test", limits)).unwrap()
}

/// The service marks a message that the queue did not take.
fn mark(store: &MemoryStore, message: &Value) {
    let name = format!("ledger-unsent:{}", message["id"].as_str().unwrap());
    store.keep(&name, b"{}", b"{}");
}

fn marks(store: &MemoryStore) -> usize {
    store.names().iter().filter(|name| name.starts_with("ledger-unsent:")).count()
}

fn rows(ledger: &SqliteLedger) -> usize {
    ledger.sql("SELECT id FROM transactions").len()
}

#[test]
fn what_the_queue_did_not_take_is_written_at_once() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    keep_up(&ledger, &store, NOW_MS, LIMITS); // the next pass is due in an hour
    let messages: Vec<_> = (1..=4).map(|number| message(number, json!({}))).collect();
    messages.iter().for_each(|message| mark(&store, message));
    keep(&store, &messages[0]);
    keep(&store, &message(2, json!({ "summary": { "amount": "many" } })));
    keep(&store, &message(3, json!({ "summary": { "currencyCode": "XXX" } })));
    store.keep("ledger-unsent:odd", b"{}", b"{}");
    let upkeep = keep_up(&ledger, &store, NOW_MS + MINUTE, LIMITS);
    assert_eq!((upkeep.reached, upkeep.unsent), (Reached::NotDue, 3));
    assert_eq!(rows(&ledger), 1);
    assert_eq!(marks(&store), 2, "the record of one is not shown yet, and one is no mark of ours");
    keep(&store, &messages[3]);
    assert_eq!(keep_up(&ledger, &store, NOW_MS + 2 * MINUTE, LIMITS).unsent, 1);
    assert_eq!((rows(&ledger), marks(&store)), (2, 1));
}

#[test]
fn a_mark_stays_until_its_row_is_there() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    let message = message(1, json!({}));
    keep(&store, &message);
    mark(&store, &message);
    let clock = FixedClock(Cell::new(NOW_MS));
    let run = || block_on(ledger::keep_up(&ledger, &store, &clock, "a test", LIMITS));
    for failing in [Failing::Before, Failing::After] {
        ledger.set_failing(failing);
        assert!(run().is_err());
        assert_eq!(marks(&store), 1, "{failing:?}");
    }
    ledger.set_failing(Failing::Not);
    assert_eq!(run().unwrap().unsent, 1);
    assert_eq!((rows(&ledger), marks(&store)), (1, 0));
}

#[test]
fn many_marks_take_half_of_the_calls() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    for number in 1..=100 {
        keep(&store, &message(number, json!({})));
        mark(&store, &message(number, json!({})));
    }
    let upkeep = keep_up(&ledger, &store, NOW_MS + 10 * MINUTE, LIMITS);
    assert_eq!((upkeep.reached, upkeep.unsent), (Reached::Complete, 59));
    assert_eq!((rows(&ledger), marks(&store)), (100, 41));
}

#[test]
fn a_ledger_that_was_never_complete_goes_on_at_each_invocation() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    store.set_page_length(1);
    (1..=100).for_each(|number| keep(&store, &message(number, json!({}))));
    let limits = Limits { calls: 120, ..LIMITS };
    let mut reached = Vec::new();
    while reached.last() != Some(&Reached::Complete) {
        let now = NOW_MS + 10 * MINUTE + reached.len() as u64;
        reached.push(keep_up(&ledger, &store, now, limits).reached);
    }
    assert!((4..=6).contains(&reached.len()), "{reached:?}");
    assert_eq!(keep_up(&ledger, &store, NOW_MS + 11 * MINUTE, limits).reached, Reached::NotDue);
    assert_eq!(rows(&ledger), 100);
}

#[test]
fn an_invocation_ends_within_its_time_and_its_calls() {
    let run = |limits| {
        let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
        store.set_page_length(1);
        (1..=250).for_each(|number| keep(&store, &message(number, json!({}))));
        let clock = Ticking(Cell::new(NOW_MS + 10 * MINUTE));
        let upkeep = block_on(ledger::keep_up(&ledger, &store, &clock, "a test", limits)).unwrap();
        (upkeep, ledger.calls.get())
    };
    let (upkeep, calls) = run(Limits { milliseconds: 30_000, ..LIMITS });
    assert_eq!(upkeep.reached, Reached::Part);
    assert!((20..30).contains(&upkeep.listed), "{upkeep:?}");
    assert_eq!(upkeep.mended, upkeep.listed);
    assert!(calls < 100, "{calls}");
    let (upkeep, calls) = run(Limits { milliseconds: u64::MAX, ..LIMITS });
    assert!((100..160).contains(&upkeep.listed), "{upkeep:?}");
    assert!(calls < 600, "{calls}");
}

#[test]
fn of_two_invocations_one_works_at_the_pass() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    let entropy = CountedEntropy::default();
    let (one, other) = (ledger::holder(&entropy), ledger::holder(&entropy));
    assert_ne!(one, other);
    keep(&store, &message(1, json!({})));
    let now = NOW_MS + 10 * MINUTE;
    ledger.sql(&format!(
        "UPDATE reconciliation SET holder = '{one}', lease = {}, started = {now}, listed = 7",
        now + MINUTE
    ));
    let clock = FixedClock(Cell::new(now));
    let upkeep = block_on(ledger::keep_up(&ledger, &store, &clock, &other, LIMITS)).unwrap();
    let busy = Upkeep { reached: Reached::Busy, unsent: 0, listed: 7, mended: 0 };
    assert_eq!((upkeep, rows(&ledger)), (busy, 0));
}
