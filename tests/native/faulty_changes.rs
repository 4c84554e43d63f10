//! Tests changes of records that are decided in the ledger and copied to Workers KV. Any step of a change may fail. Then
//! the answer to the person must still be true, and the copy must agree with the ledger within minutes.

use futures_executor::block_on;
use futures_util::future::FutureExt as _;
use impact_pledge::office::audit::rule::Author;
use impact_pledge::office::payments::rule as payments;
use impact_pledge::office::payments::rule::Payment;
use impact_pledge::office::shared::rows::port::{
    Ledger, LedgerError, QueryFuture, Rows, Statement,
};
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::office::shops::rule::teams;
use impact_pledge::office::system::rule::publish::republish;
use impact_pledge::pledges::settlement::ScopeMonth;
use impact_pledge::pledges::store::{
    Key, ListPage, ListingStore, OperatorStore, Store, StoreError, Stored,
};
use serde_json::json;
use std::cell::Cell;
use std::future::{pending, poll_fn};
use std::mem::take;
use std::sync::LazyLock;
use std::task::Poll;
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::{
    CountedEntropy, FixedClock, LIVE_UNIT, NOW_MS, PATH, TestRequest, changes, minimal, seeded,
};

const MINUTE: u64 = 60_000;
/// The present time of the tests. January has ended, and its payments can be settled.
const ENDED_MS: u64 = NOW_MS + 3 * 24 * 60 * MINUTE;
const SETTLEMENT: &str = "settlement:live:unit_dev:2026-01";
const MEMBER: &str = "member:t:u";

/// What happens at a call of the store or the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The call fails and does nothing.
    Before,
    /// The call takes effect, but reports a failure, such as a timeout.
    After,
    /// The process ends before the call.
    CrashBefore,
    /// The process ends after the call.
    CrashAfter,
    /// A reconciliation, which compares the ledger with the records, runs before the call.
    Pass,
    /// The change pauses before the call, while all other changes continue.
    Wait,
    /// The computer sleeps for an hour before the call.
    Sleep,
}

const FAULTS: [Fault; 6] =
    [Fault::Before, Fault::After, Fault::CrashBefore, Fault::CrashAfter, Fault::Pass, Fault::Sleep];

async fn wait() {
    let mut is_waiting = true;
    poll_fn(|_| if take(&mut is_waiting) { Poll::Pending } else { Poll::Ready(()) }).await;
}

/// A store and a ledger, some of whose calls fail. `faults` lists these calls by number.
pub struct Faulty<'f> {
    pub store: &'f MemoryStore,
    pub ledger: &'f SqliteLedger,
    pub clock: &'f FixedClock,
    pub calls: Cell<usize>,
    pub faults: &'f [(usize, Fault)],
}

impl Faulty<'_> {
    async fn call<T, E>(&self, error: E, call: impl AsyncFnOnce() -> Result<T, E>) -> Result<T, E> {
        self.calls.set(self.calls.get() + 1);
        let fault = self.faults.iter().find(|(number, _)| *number == self.calls.get());
        match fault.map(|(_, fault)| *fault) {
            Some(Fault::Before) => return Err(error),
            Some(Fault::CrashBefore) => pending().await,
            Some(Fault::Wait) => wait().await,
            Some(Fault::Sleep) => self.clock.0.set(self.clock.0.get() + 60 * MINUTE),
            Some(Fault::Pass) => self.ledger.reconcile(self.store, self.clock.0.get()),
            _ => {}
        }
        let answer = call().await;
        match fault.map(|(_, fault)| *fault) {
            Some(Fault::After) => Err(error),
            Some(Fault::CrashAfter) => pending().await,
            _ => answer,
        }
    }

    async fn ask<T>(
        &self,
        call: impl AsyncFnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.call(StoreError::Unavailable, call).await
    }
}

impl Store for Faulty<'_> {
    type Value = Vec<u8>;

    async fn get<K: Key>(
        &self,
        key: &K,
    ) -> Result<Option<Stored<Vec<u8>, K::Metadata>>, StoreError> {
        self.ask(async || self.store.get(key).await).await
    }

    async fn put<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
    ) -> Result<(), StoreError> {
        self.ask(async || self.store.put(key, value, metadata).await).await
    }
}

impl ListingStore for Faulty<'_> {
    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, StoreError> {
        self.ask(async || self.store.list(prefix, cursor).await).await
    }
}

impl OperatorStore for Faulty<'_> {
    async fn get_values<K: Key>(&self, keys: &[K]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        self.ask(async || self.store.get_values(keys).await).await
    }

    async fn put_for<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
        seconds: u32,
    ) -> Result<(), StoreError> {
        self.ask(async || self.store.put_for(key, value, metadata, seconds).await).await
    }

    async fn remove<K: Key>(&self, key: &K) -> Result<(), StoreError> {
        self.ask(async || OperatorStore::remove(self.store, key).await).await
    }

    async fn pause(&self, _: u32) {}
}

impl Ledger for Faulty<'_> {
    fn run<'l>(&'l self, statements: &'l [Statement]) -> QueryFuture<'l> {
        let run = async || -> Result<Vec<Rows>, LedgerError> { self.ledger.run(statements).await };
        Box::pin(self.call(LedgerError::Unavailable, run))
    }
}

// ---- Changes -------------------------------------------------------------------------------------

pub type Person<'a> = Author<'a, FixedClock, CountedEntropy>;

/// A change: a month is marked as paid, or a unit is added to a team. Two further changes undo these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Mark,
    Undo,
    Add,
    Remove,
}

impl Change {
    fn is_addition(self) -> bool {
        matches!(self, Change::Mark | Change::Add)
    }

    fn record(self) -> &'static str {
        if matches!(self, Change::Mark | Change::Undo) { SETTLEMENT } else { MEMBER }
    }

    fn command(self) -> &'static str {
        match self {
            Change::Mark => "payments mark",
            Change::Undo => "payments undo",
            Change::Add => "teams add",
            Change::Remove => "teams remove",
        }
    }

    fn reverse(self) -> Change {
        match self {
            Change::Mark => Change::Undo,
            Change::Undo => Change::Mark,
            Change::Add => Change::Remove,
            Change::Remove => Change::Add,
        }
    }

    async fn make(self, at: &Faulty<'_>, author: &Person<'_>) -> Result<(), OperatorError> {
        let of = json!({ "unit": "unit_dev", "mode": "live", "month": "2026-01" });
        let unit = ["u".to_owned()];
        match self {
            Change::Mark => {
                let payment = json!({ "of": of, "amounts": [{ "amount": "1.50" }], "invoice": author.by(),
                    "paidAt": "2026-02-02T00:00:00.000Z", "acceptUnpriced": 0 });
                let payment: Payment = serde_json::from_value(payment).unwrap();
                payments::mark(at, at, author, &payment).await.map(drop)
            }
            Change::Undo => {
                let of: ScopeMonth = serde_json::from_value(of).unwrap();
                payments::undo(at, at, author, &of, None).await.map(drop)
            }
            Change::Add => {
                let added = teams::add(at, at, author, "t", &unit).await?;
                assert_eq!(added.outcome.already, [], "it was not in the team");
                Ok(())
            }
            Change::Remove => teams::remove(at, at, author, "t", &unit).await.map(drop),
        }
    }
}

/// The records and the ledger before a change.
struct World {
    store: MemoryStore,
    ledger: SqliteLedger,
    clock: FixedClock,
    entropy: CountedEntropy,
}

/// The result of a change; `None` if the process ended first.
type Heard = Option<Result<(), String>>;

/// The records of a shop with one transaction. Each row has the name, the value and the metadata of a record.
pub static RECORDS: LazyLock<Vec<(String, String, String)>> = LazyLock::new(|| {
    let service = seeded();
    let body = minimal().to_string().into_bytes();
    let create = TestRequest::new("POST", PATH, LIVE_UNIT).with_body(body);
    assert_eq!(service.send(&create).status, 200);
    let record = |name: String| {
        let metadata = service.store.metadata(&name).swap_remove(0).to_string();
        (name.clone(), service.store.value(&name).unwrap(), metadata)
    };
    service.store.names().into_iter().map(record).collect()
});

impl World {
    fn before(change: Change) -> Self {
        let store = MemoryStore::default();
        for (name, value, metadata) in &*RECORDS {
            store.keep(name, value.as_bytes(), metadata.as_bytes());
        }
        let (clock, entropy) = (FixedClock(Cell::new(ENDED_MS)), CountedEntropy::default());
        let world = World { store, ledger: SqliteLedger::default(), clock, entropy };
        world.ledger.reconcile(&world.store, ENDED_MS);
        if !change.is_addition() {
            assert_eq!(world.make(change.reverse(), "cyd", &[]).0, Some(Ok(())));
            world.later(MINUTE);
        }
        world
    }

    fn later(&self, ms: u64) {
        self.clock.0.set(self.clock.0.get() + ms);
    }

    /// Makes a change while these calls fail. Returns the change's result and the number of calls.
    fn make(&self, change: Change, by: &str, faults: &[(usize, Fault)]) -> (Heard, usize) {
        let author = Author::new(by, &self.clock, &self.entropy).unwrap();
        let (store, ledger, clock) = (&self.store, &self.ledger, &self.clock);
        let faulty = Faulty { store, ledger, clock, calls: Cell::new(0), faults };
        let heard = change.make(&faulty, &author).now_or_never();
        (heard.map(|heard| heard.map_err(|error| error.to_string())), faulty.calls.get())
    }

    fn is_there(&self, change: Change) -> bool {
        self.row(change).is_some()
    }

    /// Returns the record as the ledger has it.
    fn row(&self, change: Change) -> Option<String> {
        let name = change.record();
        let of = format!("name = '{name}' AND content IS NOT NULL");
        self.ledger.sql(&format!("SELECT content FROM published WHERE {of}")).pop()
    }

    /// Lets minutes pass, in which the cron compares the copies in Workers KV with the ledger.
    fn minutes_pass(&self) {
        for _ in 0..3 {
            self.later(3 * MINUTE);
            block_on(republish(&self.store, &self.ledger, &self.clock, 10)).unwrap();
        }
    }

    /// Returns how often the audit log says that the person made the change.
    fn audited(&self, change: Change, by: &str) -> usize {
        let changes = changes(&self.store, &self.ledger);
        changes.iter().filter(|it| it.command == change.command() && it.by == by).count()
    }

    /// Asserts that the answer to a change was true. If the answer said that the change was made, the change
    /// must be stored. If the answer said that the change failed, it must not be stored. An answer may also say
    /// that the outcome is not certain.
    #[track_caller]
    fn check(&self, change: Change, heard: &Heard, faults: &[(usize, Fault)]) {
        let is_made = self.is_there(change) == change.is_addition();
        match heard {
            Some(Ok(())) => assert!(is_made && self.audited(change, "ada") == 1, "{faults:?}"),
            Some(Err(problem)) if is_unsure(problem) => {
                assert!(!is_made || self.audited(change, "ada") == 1, "{faults:?}");
            }
            Some(Err(problem)) if problem.contains("are still accepted") => {
                assert!(is_made && self.audited(change, "ada") == 1, "{faults:?}");
            }
            Some(Err(problem)) => assert!(!is_made, "{faults:?}: {problem}"),
            None => assert!(!is_made || self.audited(change, "ada") == 1, "{faults:?}"),
        }
    }

    /// Asserts that Workers KV agrees with the ledger at the end, and that the next change works.
    #[track_caller]
    fn check_end(&self, change: Change, faults: &[(usize, Fault)]) {
        let row = self.row(change);
        self.minutes_pass();
        assert_eq!(self.store.copy(change.record()), row, "{faults:?}");
        assert_eq!(self.row(change), row, "{faults:?}");
        let is_there = row.is_some();
        let next = if change.is_addition() == is_there { change.reverse() } else { change };
        assert_eq!(self.make(next, "bo", &[]).0, Some(Ok(())), "{faults:?}");
        assert_eq!(self.is_there(change), !is_there, "{faults:?}");
    }
}

/// Returns whether an answer leaves open whether the change was made.
fn is_unsure(problem: &str) -> bool {
    ["the ledger does not answer", "the store did not answer"].iter().any(|it| problem.contains(it))
}

const CHANGES: [Change; 4] = [Change::Mark, Change::Undo, Change::Add, Change::Remove];

fn calls_of(change: Change) -> usize {
    World::before(change).make(change, "ada", &[]).1
}

#[test]
fn the_person_was_told_the_truth_if_one_step_fails() {
    for change in CHANGES {
        for call in 1..=calls_of(change) {
            for fault in FAULTS {
                let (world, faults) = (World::before(change), [(call, fault)]);
                let (heard, _) = world.make(change, "ada", &faults);
                world.check(change, &heard, &faults);
                if fault == Fault::Pass {
                    assert_eq!(heard, Some(Ok(())), "{call}");
                }
                world.check_end(change, &faults);
            }
        }
    }
}

#[test]
fn the_person_was_told_the_truth_if_two_steps_fail() {
    for change in CHANGES {
        for first in 1..=calls_of(change) {
            for second in first + 1..=calls_of(change) + 3 {
                for (one, other) in [
                    (Fault::Before, Fault::Before),
                    (Fault::Before, Fault::CrashBefore),
                    (Fault::After, Fault::Before),
                    (Fault::After, Fault::After),
                    (Fault::After, Fault::CrashAfter),
                ] {
                    let (world, faults) = (World::before(change), [(first, one), (second, other)]);
                    let (heard, _) = world.make(change, "ada", &faults);
                    world.check(change, &heard, &faults);
                    world.check_end(change, &faults);
                }
            }
        }
    }
}
