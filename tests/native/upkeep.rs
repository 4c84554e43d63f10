//! Tests how the ledger is maintained by the cron job, a check and a rebuild, and how its state is reported.

use super::ledger::{keep, message, receive};
use futures_executor::block_on;
use impact_pledge::office::system::rows::check;
use impact_pledge::office::system::rows::check::CheckReport;
use impact_pledge::office::system::rows::health;
use impact_pledge::office::system::rows::health::Health;
use impact_pledge::office::system::rows::kept;
use impact_pledge::office::system::rows::reconcile::{Counts, PassOutcome};
use impact_pledge::office::system::rows::state;
use impact_pledge::office::system::rows::upkeep;
use impact_pledge::office::system::rows::upkeep::{Limits, Upkeep};
use impact_pledge::office::system::rule::publish::{Republished, republish};
use impact_pledge::pledges::service::Clock;
use impact_pledge::pledges::settlement::Month;
use impact_pledge::pledges::time::TimeZones;
use serde_json::{Value, json};
use std::cell::Cell;
use support::ledger::{Failing, SqliteLedger};
use support::memory::MemoryStore;
use support::service::{CountedEntropy, FixedClock, NOW_MS};

const MINUTE: u64 = 60_000;
const LIMITS: Limits = Limits { calls: 600, milliseconds: MINUTE };

/// A clock that advances by a second each time it is read.
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
    block_on(upkeep::keep_up(ledger, store, &clock, "a test", limits)).unwrap()
}

/// Marks a transaction's message as unsent, as the service does when the queue refuses the message.
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
fn marked_transactions_are_written_at_once() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    keep_up(&ledger, &store, NOW_MS, LIMITS); // the next pass is due in an hour
    let messages: Vec<_> = (1..=4).map(|number| message(number, json!({}))).collect();
    messages.iter().for_each(|message| mark(&store, message));
    keep(&store, &messages[0]);
    keep(&store, &message(2, json!({ "summary": { "amount": "many" } })));
    keep(&store, &message(3, json!({ "summary": { "currencyCode": "XXX" } })));
    store.keep("ledger-unsent:odd", b"{}", b"{}");
    let upkeep = keep_up(&ledger, &store, NOW_MS + MINUTE, LIMITS);
    assert_eq!((upkeep.reached, upkeep.unsent), (PassOutcome::NotDue, 3));
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
    let run = || block_on(upkeep::keep_up(&ledger, &store, &clock, "a test", LIMITS));
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
    assert_eq!((upkeep.reached, upkeep.unsent), (PassOutcome::Complete, 59));
    assert_eq!((rows(&ledger), marks(&store)), (100, 41));
}

#[test]
fn a_ledger_that_was_never_complete_continues_at_each_invocation() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    store.set_page_length(1);
    (1..=100).for_each(|number| keep(&store, &message(number, json!({}))));
    let limits = Limits { calls: 120, ..LIMITS };
    let mut reached = Vec::new();
    while reached.last() != Some(&PassOutcome::Complete) {
        let now = NOW_MS + 10 * MINUTE + reached.len() as u64;
        reached.push(keep_up(&ledger, &store, now, limits).reached);
    }
    assert!((4..=6).contains(&reached.len()), "{reached:?}");
    assert_eq!(keep_up(&ledger, &store, NOW_MS + 11 * MINUTE, limits).reached, PassOutcome::NotDue);
    assert_eq!(rows(&ledger), 100);
}

#[test]
fn an_invocation_ends_within_its_time_and_its_calls() {
    let run = |limits| {
        let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
        store.set_page_length(1);
        (1..=250).for_each(|number| keep(&store, &message(number, json!({}))));
        let clock = Ticking(Cell::new(NOW_MS + 10 * MINUTE));
        let upkeep = block_on(upkeep::keep_up(&ledger, &store, &clock, "a test", limits)).unwrap();
        (upkeep, ledger.calls.get())
    };
    let (upkeep, calls) = run(Limits { milliseconds: 30_000, ..LIMITS });
    assert_eq!(upkeep.reached, PassOutcome::Part);
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
    let (one, other) = (upkeep::holder(&entropy), upkeep::holder(&entropy));
    assert_ne!(one, other);
    keep(&store, &message(1, json!({})));
    let now = NOW_MS + 10 * MINUTE;
    ledger.sql(&format!(
        "UPDATE reconciliation SET holder = '{one}', lease = {}, started = {now}, listed = 7",
        now + MINUTE
    ));
    let clock = FixedClock(Cell::new(now));
    let upkeep = block_on(upkeep::keep_up(&ledger, &store, &clock, &other, LIMITS)).unwrap();
    let busy = Upkeep { reached: PassOutcome::Busy, unsent: 0, listed: 7, mended: 0, days: 0 };
    assert_eq!((upkeep, rows(&ledger)), (busy, 0));
}

// ---- A check -------------------------------------------------------------------------------------

fn check(ledger: &SqliteLedger, store: &MemoryStore, now_ms: u64) -> Option<CheckReport> {
    let clock = FixedClock(Cell::new(now_ms));
    block_on(check::check(ledger, store, &clock, "a command")).unwrap()
}

#[test]
fn a_check_counts_what_it_finds_and_mends() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    store.set_page_length(2);
    (1..=9).for_each(|number| keep(&store, &message(number, json!({}))));
    assert_eq!(check(&ledger, &store, NOW_MS + 10 * MINUTE).unwrap().counts.missing, 9);
    let changed = json!({ "summary": { "amount": "9.00" } });
    [1, 2].iter().for_each(|number| keep(&store, &message(*number, changed.clone())));
    store.remove(&format!("transaction:{}", message(3, json!({}))["id"].as_str().unwrap()));
    keep(&store, &message(4, json!({ "summary": { "amount": "many" } })));
    keep(&store, &message(10, json!({})));
    let checked = check(&ledger, &store, NOW_MS + 20 * MINUTE).unwrap();
    let counts = Counts { missing: 1, wrong: 2, gone: 1, damaged: 1, ..Counts::default() };
    assert_eq!((checked.counts, checked.state.last_mended), (counts, 4));
    let none = Counts { damaged: 1, ..Counts::default() };
    assert_eq!(check(&ledger, &store, NOW_MS + 30 * MINUTE).unwrap().counts, none);
}

#[test]
fn a_check_runs_a_complete_pass() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    store.set_page_length(1);
    (1..=60).for_each(|number| keep(&store, &message(number, json!({}))));
    let limits = Limits { calls: 100, ..LIMITS };
    assert_eq!(keep_up(&ledger, &store, NOW_MS + 10 * MINUTE, limits).reached, PassOutcome::Part);
    ledger.sql("DELETE FROM transactions"); // including rows that this pass has listed already
    let checked = check(&ledger, &store, NOW_MS + 11 * MINUTE).unwrap();
    assert_eq!(rows(&ledger), 60);
    assert_eq!(checked.state.completed, Some(NOW_MS + 11 * MINUTE));
    assert_eq!(checked.state.last_listed, 60);
}

#[test]
fn a_check_gives_up_where_somebody_else_works_at_it() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    let lease = NOW_MS + MINUTE;
    ledger.sql(&format!("UPDATE reconciliation SET holder = 'other', lease = {lease}"));
    assert_eq!(check(&ledger, &store, NOW_MS), None);
}

// ---- What is kept --------------------------------------------------------------------------------

#[test]
fn rows_from_before_a_month_are_removed_without_a_finding_and_come_back() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    store.set_page_length(2);
    let at = |time: &str| json!({ "summary": { "createdAt": time } });
    let (old, new) = (at("2025-12-31T23:59:59.999Z"), at("2026-01-01T00:00:00.000Z"));
    for number in 1..=6 {
        keep(&store, &message(number, if number < 4 { old.clone() } else { new.clone() }));
    }
    let erased = json!({ "summary": {
        "createdAt": "2025-06-01T00:00:00.000Z", "erased": "2026-01-30T00:00:00Z", "lookup": null,
    } });
    keep(&store, &message(7, erased));
    let now = NOW_MS + 10 * MINUTE;
    assert_eq!(check(&ledger, &store, now).unwrap().counts.missing, 7);
    let january = Month::parse("2026-01");
    for (month, late, left, missing) in
        [(january, 1, 4, 0), (january, 2, 4, 0), (None, 3, 7, 3), (january, 100_000, 3, 0)]
    {
        block_on(kept::keep_from(&ledger, month)).unwrap();
        let state = block_on(state::state(&ledger)).unwrap();
        assert_eq!(state.completed.is_none(), month.is_none(), "what is missing is said");
        let checked = check(&ledger, &store, now + late * MINUTE).unwrap();
        let counts = Counts { missing, ..Counts::default() };
        assert_eq!((rows(&ledger), checked.counts), (left, counts), "{month:?} {late}");
    }
    ledger.sql("UPDATE reconciliation SET holder = 'other', started = 7, lease = 9000000000000000");
    block_on(kept::keep_from(&ledger, None)).unwrap();
    check(&ledger, &store, now + 100_010 * MINUTE).unwrap();
    assert_eq!(rows(&ledger), 7, "a pass that had begun before does not count");
}

#[test]
fn an_emptied_ledger_is_made_again_from_the_records_and_keeps_its_payments() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    (1..=5).for_each(|number| keep(&store, &message(number, json!({}))));
    ledger.sql(
        "INSERT INTO published (name, content, change, author, by_shop, at)
         VALUES ('settlement:live:a:2026-01', '{}', '', 'ada', 0, 1)",
    );
    check(&ledger, &store, NOW_MS + 30 * MINUTE).unwrap();
    let tables = || {
        ["transactions", "scopes", "keys", "published"]
            .map(|table| ledger.sql(&format!("SELECT count(*) FROM {table}")).concat())
    };
    let before = tables();
    assert_eq!(before, ["5", "1", "1", "1"]);
    let triggers = "SELECT sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name";
    let as_migrated = ledger.sql(triggers);
    block_on(check::clear(&ledger)).unwrap();
    assert_eq!(tables(), ["0", "0", "0", "1"]);
    assert_eq!(ledger.sql(triggers), as_migrated);
    let state = block_on(state::state(&ledger)).unwrap();
    assert_eq!((state.watermark(), state.last_listed), (None, 0));
    check(&ledger, &store, NOW_MS + 50 * MINUTE).unwrap();
    assert_eq!(tables(), before);
}

/// If the tables are emptied while a reconciliation pass runs, this pass does not continue. A new pass writes
/// all rows.
#[test]
fn an_emptied_ledger_ends_the_pass_that_was_under_way() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    store.set_page_length(1);
    (1..=60).for_each(|number| keep(&store, &message(number, json!({}))));
    let limits = Limits { calls: 100, ..LIMITS };
    keep_up(&ledger, &store, NOW_MS + 10 * MINUTE, limits);
    block_on(check::clear(&ledger)).unwrap();
    assert_eq!(
        keep_up(&ledger, &store, NOW_MS + 11 * MINUTE, LIMITS).reached,
        PassOutcome::Complete
    );
    assert_eq!(rows(&ledger), 60);
}

// ---- How it is -----------------------------------------------------------------------------------

fn health(ledger: &SqliteLedger, now_ms: u64) -> Health {
    block_on(health::health(ledger, now_ms)).unwrap()
}

#[track_caller]
fn has_problem(ledger: &SqliteLedger, now_ms: u64, part: &str) {
    let problem = health(ledger, now_ms).problem.unwrap_or_default();
    assert!(problem.contains(part), "{problem}");
}

#[test]
fn a_ledger_says_what_is_wrong() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    has_problem(&ledger, NOW_MS, "its first reconciliation begins within 5 minutes");
    store.set_page_length(1);
    (1..=60).for_each(|number| keep(&store, &message(number, json!({}))));
    let now = NOW_MS + 10 * MINUTE;
    keep_up(&ledger, &store, now, Limits { calls: 100, ..LIMITS });
    has_problem(&ledger, now, "its first reconciliation has read 24 records");
    keep_up(&ledger, &store, now, LIMITS);
    assert_eq!(health(&ledger, now + 120 * MINUTE).problem, None);
    has_problem(
        &ledger,
        now + 121 * MINUTE,
        "complete reconciliation began on 2026-01-31T12:10:00.123Z",
    );
    ledger.sql("UPDATE reconciliation SET last_listed = 100000");
    assert_eq!(health(&ledger, now + 48 * 60 * MINUTE).problem, None);
    has_problem(&ledger, now + 49 * 60 * MINUTE, "a new one is overdue");
    ledger.bytes.set(Some(7_999_999_999));
    assert_eq!(health(&ledger, now).problem, None);
    ledger.bytes.set(Some(8_250_000_000));
    has_problem(&ledger, now, "the database uses 8.2 of the 10 GB");
}

#[test]
fn health_is_what_the_ledger_has() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    receive(&ledger, &[message(1, json!({}))]);
    keep(&store, &message(1, json!({})));
    keep(&store, &message(2, json!({ "summary": { "amount": "many" } })));
    keep_up(&ledger, &store, NOW_MS + 10 * MINUTE, LIMITS);
    ledger.bytes.set(Some(49_152));
    let value = serde_json::to_value(health(&ledger, NOW_MS)).unwrap();
    let pass = json!({
        "began": "2026-01-31T12:10:00.123Z", "ended": "2026-01-31T12:10:00.123Z", "listed": 2, "mended": 0,
    });
    let expected = json!({
        "completeUpTo": "2026-01-31T12:08:00.123Z", "keptFrom": null, "received": "2026-01-31T12:00:00.123Z", "lagMs": 0,
        "lastPass": pass, "currentPass": null, "findings": 1, "unpublished": 0, "bytes": 49_152,
    });
    assert_eq!(value, expected);
}

/// Something deletes or replaces a copy in Workers KV, or a process ends before it has written it.
#[test]
fn a_copy_that_workers_kv_does_not_show_is_a_problem_until_it_is_written_again() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    keep_up(&ledger, &store, NOW_MS, LIMITS);
    let name = "settlement:live:a:2026-01";
    ledger.sql(&format!(
        "INSERT INTO published (name, content, change, author, by_shop, at)
         VALUES ('{name}', '{{\"by\":\"ada\"}}', 'audit:1', 'ada', 0, {NOW_MS})"
    ));
    let compare = |minutes: u64| {
        let clock = FixedClock(Cell::new(NOW_MS + minutes * MINUTE));
        let Republished { confirmed, written, .. } =
            block_on(republish(&store, &ledger, &clock, 10)).unwrap();
        (confirmed, written)
    };
    let unpublished = |minutes: u64| {
        let health = health(&ledger, NOW_MS + minutes * MINUTE);
        let problem = health.problem.unwrap_or_default();
        assert_eq!(
            problem.contains("does not show 1 change of"),
            health.unpublished == 1,
            "{problem}"
        );
        (health.unpublished, health.unpublished_since)
    };
    let since = Some("2026-01-31T12:00:00.123Z".to_owned());
    assert_eq!((unpublished(15), unpublished(16)), ((0, None), (1, since)));
    assert_eq!((compare(2), store.value(name)), ((0, 0), None), "its write may be on its way");
    assert_eq!((compare(3), compare(5), compare(6), compare(7)), ((0, 1), (0, 0), (1, 0), (0, 0)));
    assert_eq!(unpublished(16), (0, None));
    let day = 24 * 60;
    for other in [None, Some(r#"{"by":"bo","change":"audit:0"}"#)] {
        store.remove(name);
        if let Some(other) = other {
            store.keep(name, other.as_bytes(), b"null");
        }
        assert_eq!(compare(day), (0, 0), "copies are compared once a day");
    }
    assert_eq!((compare(day + 7), compare(day + 8)), ((0, 1), (1, 0)));
    assert_eq!(store.value(name).as_deref(), Some(r#"{"by":"ada"}"#));
    ledger.sql("UPDATE published SET content = NULL, change = 'audit:2', confirmed = 0");
    assert_eq!((compare(day + 9), compare(day + 10)), ((0, 1), (1, 0)));
    assert!(
        store.value(name).is_some() && store.copy(name).is_none(),
        "a removal is published, too"
    );
}
