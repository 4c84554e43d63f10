//! Tests the ledger when lists of KV arrive late, and when clocks are wrong.

use super::ledger::{keep, message};
use futures_executor::block_on;
use impact_pledge::office::shared::rows::port::{Ledger, QueryFuture, Statement};
use impact_pledge::office::system::rows::check;
use impact_pledge::office::system::rows::receive;
use impact_pledge::office::system::rows::receive::Delivered;
use impact_pledge::office::system::rows::reconcile;
use impact_pledge::office::system::rows::reconcile::{PassOutcome, PassTiming};
use impact_pledge::office::system::rows::state::State;
use impact_pledge::office::system::rows::upkeep;
use impact_pledge::office::system::rows::upkeep::Limits;
use impact_pledge::pledges::service::Clock;
use impact_pledge::pledges::store::{
    Key, ListPage, ListingStore, OperatorStore, Store, StoreError, Stored,
};
use impact_pledge::pledges::time::TimeZones;
use serde_json::json;
use std::cell::{Cell, RefCell};
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::{FixedClock, NOW_MS};

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
const YEAR: u64 = 365 * 24 * HOUR;

/// A store that runs a function after each list or read, before it returns the result.
struct Slow<'s, H: AsyncFn(&str)> {
    store: &'s MemoryStore,
    happens: H,
}

impl<H: AsyncFn(&str)> Store for Slow<'_, H> {
    type Value = Vec<u8>;

    async fn get<K: Key>(
        &self,
        key: &K,
    ) -> Result<Option<Stored<Vec<u8>, K::Metadata>>, StoreError> {
        let found = self.store.get(key).await;
        (self.happens)(&key.name()).await;
        found
    }

    async fn put<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
    ) -> Result<(), StoreError> {
        self.store.put(key, value, metadata).await
    }
}

impl<H: AsyncFn(&str)> ListingStore for Slow<'_, H> {
    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, StoreError> {
        let page = self.store.list(prefix, cursor).await;
        (self.happens)(prefix).await;
        page
    }
}

impl<H: AsyncFn(&str)> OperatorStore for Slow<'_, H> {
    async fn get_values<K: Key>(&self, keys: &[K]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        self.store.get_values(keys).await
    }

    async fn put_for<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
        seconds: u32,
    ) -> Result<(), StoreError> {
        self.store.put_for(key, value, metadata, seconds).await
    }

    async fn remove<K: Key>(&self, key: &K) -> Result<(), StoreError> {
        OperatorStore::remove(self.store, key).await
    }

    async fn pause(&self, _: u32) {}
}

fn clock(now_ms: u64) -> FixedClock {
    FixedClock(Cell::new(now_ms))
}

fn pass(
    ledger: &SqliteLedger,
    store: &impl OperatorStore,
    clock: &FixedClock,
) -> (PassOutcome, State) {
    block_on(reconcile::reconcile(ledger, store, clock, ("one", PassTiming::Now), 1_000)).unwrap()
}

// ---- Lists that are answered late ----------------------------------------------------------------

/// Returns the message of a create request that repeats the transaction ten minutes later.
fn later() -> [Delivered; 1] {
    let later = json!({ "summary": { "createdAt": "2026-01-31T12:10:00.000Z", "amount": "7.00" } });
    [Delivered { body: message(1, later), attempt: 1 }]
}

#[test]
fn a_row_that_was_written_since_a_list_was_asked_for_stays() {
    let (ledger, store, clock) =
        (SqliteLedger::default(), MemoryStore::default(), clock(NOW_MS + HOUR));
    keep(&store, &message(1, json!({})));
    let happens = async |prefix: &str| {
        if prefix == "transaction:" {
            receive::receive(&ledger, &store, &clock, &later()).await;
            clock.0.set(clock.0.get() + 3 * MINUTE);
        }
    };
    assert_eq!(pass(&ledger, &Slow { store: &store, happens }, &clock).0, PassOutcome::Complete);
    assert_eq!(ledger.sql("SELECT cents FROM transactions"), ["700"]);
}

#[test]
fn a_row_that_was_written_since_its_record_was_read_stays() {
    let (ledger, store, clock) =
        (SqliteLedger::default(), MemoryStore::default(), clock(NOW_MS + HOUR));
    pass(&ledger, &store, &clock); // the next one is not due
    let own = message(1, json!({}));
    keep(&store, &own);
    store.keep(&format!("ledger-unsent:{}", own["id"].as_str().unwrap()), b"{}", b"{}");
    let happens = async |name: &str| {
        if name.starts_with("transaction:ptran_") {
            receive::receive(&ledger, &store, &clock, &later()).await;
            clock.0.set(clock.0.get() + 3 * MINUTE);
        }
    };
    let (store, limits) =
        (Slow { store: &store, happens }, Limits { calls: 600, milliseconds: MINUTE });
    let upkeep = block_on(upkeep::keep_up(&ledger, &store, &clock, "a test", limits)).unwrap();
    assert_eq!((upkeep.reached, upkeep.unsent), (PassOutcome::NotDue, 1));
    assert_eq!(ledger.sql("SELECT cents FROM transactions"), ["700"]);
}

/// A ledger that runs a function after its first answer.
struct Sleepy<'l, H: Fn()> {
    ledger: &'l SqliteLedger,
    happens: H,
    is_first: Cell<bool>,
}

impl<H: Fn()> Ledger for Sleepy<'_, H> {
    fn run<'l>(&'l self, statements: &'l [Statement]) -> QueryFuture<'l> {
        Box::pin(async {
            let answers = self.ledger.run(statements).await;
            if self.is_first.replace(false) {
                (self.happens)();
            }
            answers
        })
    }
}

#[test]
fn a_computer_that_slept_does_not_take_the_lease() {
    let (ledger, store, clock) =
        (SqliteLedger::default(), MemoryStore::default(), clock(NOW_MS + HOUR));
    let happens = || {
        clock.0.set(clock.0.get() + 20 * MINUTE);
        let (now, lease) = (clock.0.get(), clock.0.get() + 3 * MINUTE);
        set(&ledger, &format!("holder = 'other', lease = {lease}, started = {now}"));
    };
    let sleepy = Sleepy { ledger: &ledger, happens, is_first: Cell::new(true) };
    let pass = reconcile::reconcile(&sleepy, &store, &clock, ("one", PassTiming::Now), 1_000);
    assert_ne!(block_on(pass).unwrap().0, PassOutcome::Complete);
    assert_eq!(ledger.sql("SELECT holder FROM reconciliation"), ["other"]);
}

// ---- Clocks that are wrong -----------------------------------------------------------------------

fn set(ledger: &SqliteLedger, columns: &str) {
    ledger.sql(&format!("UPDATE reconciliation SET {columns}"));
}

/// How far a time is in the future, in milliseconds, and whether the ledger still accepts this time.
const AHEAD: [(u64, bool); 4] = [(MINUTE, true), (7 * MINUTE, true), (HOUR, false), (YEAR, false)];

#[test]
fn a_lease_by_a_clock_that_is_far_ahead_does_not_count() {
    for (ahead, counts) in AHEAD {
        let (ledger, store, now) = (SqliteLedger::default(), MemoryStore::default(), NOW_MS + HOUR);
        set(&ledger, &format!("holder = 'other', lease = {}", now + ahead));
        let expected = if counts { PassOutcome::Busy } else { PassOutcome::Complete };
        assert_eq!(pass(&ledger, &store, &clock(now)).0, expected, "{ahead}");
    }
}

#[test]
fn a_pass_of_a_clock_that_was_far_ahead_makes_no_other_wait() {
    for (ahead, counts) in [(MINUTE, true), (4 * MINUTE, true), (HOUR, false), (YEAR, false)] {
        for when in [PassTiming::Now, PassTiming::Due] {
            let (ledger, store, now) =
                (SqliteLedger::default(), MemoryStore::default(), NOW_MS + HOUR);
            set(&ledger, &format!("completed = {}", now + ahead));
            let clock = clock(now);
            let pass = reconcile::reconcile(&ledger, &store, &clock, ("one", when), 1_000);
            let (reached, state) = block_on(pass).unwrap();
            let expected = if counts { PassOutcome::NotDue } else { PassOutcome::Complete };
            assert_eq!(reached, expected, "{ahead} {when:?}");
            assert_eq!(state.completed, Some(if counts { now + ahead } else { now }));
        }
    }
}

/// A reconciliation pass starts again if its recorded start is far in the future. Otherwise, the ledger would
/// count as complete up to a time in the future.
#[test]
fn a_pass_that_was_begun_by_a_clock_far_ahead_restarts() {
    for (ahead, counts) in [(MINUTE, true), (HOUR, false), (YEAR, false)] {
        let (ledger, store, now) = (SqliteLedger::default(), MemoryStore::default(), NOW_MS + HOUR);
        keep(&store, &message(1, json!({})));
        set(&ledger, &format!("started = {}, cursor = 'x'", now + ahead));
        let (reached, state) = pass(&ledger, &store, &clock(now));
        assert_eq!(reached, PassOutcome::Complete);
        assert_eq!(state.completed, Some(if counts { now + ahead } else { now }), "{ahead}");
        assert_eq!(state.last_listed, u64::from(!counts));
    }
}

/// A clock that is set back once, and advances by a second each time it is read.
struct SetBack(RefCell<Option<u64>>, Cell<u64>);

impl TimeZones for SetBack {
    fn utc_offset(&self, _: &str, _: i64) -> Option<i32> {
        None
    }
}

impl Clock for SetBack {
    fn now_ms(&self) -> u64 {
        let SetBack(first, then) = self;
        then.set(then.get() + 1_000);
        first.take().unwrap_or(then.get())
    }
}

#[test]
fn a_check_ends_though_the_clock_goes_back() {
    let (ledger, store, now) = (SqliteLedger::default(), MemoryStore::default(), NOW_MS + HOUR);
    keep(&store, &message(1, json!({})));
    set(&ledger, &format!("started = {}", now - MINUTE)); // a pass is under way
    let clock = SetBack(RefCell::new(Some(now + HOUR)), Cell::new(now));
    let checked = block_on(check::check(&ledger, &store, &clock, "a command")).unwrap();
    assert_eq!(checked.map(|checked| checked.state.last_listed), Some(1));
    let passes = store.take_lists().iter().filter(|list| list.prefix == "transaction:").count();
    assert_eq!(passes, 2, "one that was under way, and one more");
}
