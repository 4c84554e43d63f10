//! Tests the sums that the ledger stores for each day. They must always equal the sums of the transactions,
//! whatever is written and when.

use super::sums::exact;
use super::{clock, message, months, receive};
use futures_executor::block_on;
use impact_pledge::office::fulfilment::rows::quantities;
use impact_pledge::office::fulfilment::rows::unit_quantities;
use impact_pledge::office::fulfilment::rows::unit_quantities::UnitSum;
use impact_pledge::office::shared::rows::port::{Ledger, QueryFuture, Statement};
use impact_pledge::office::system::rows::check;
use impact_pledge::office::system::rows::receive as system_receive;
use impact_pledge::office::system::rows::receive::{Delivered, Verdict};
use impact_pledge::office::system::rows::reconcile::PassOutcome;
use impact_pledge::office::system::rows::upkeep;
use impact_pledge::office::system::rows::upkeep::{Limits, Upkeep};
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::time::{date_time, parse_ms};
use num_bigint::BigUint;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::BTreeMap;
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;

const DAY_MS: u64 = 86_400_000;
const MONTHS: [&str; 2] = ["2026-02", "2026-01"];
const LIMITS: Limits = Limits { calls: 600, milliseconds: 60_000 };

/// Returns the time `ms` milliseconds after the start of a day of 2026. 1 January is day 0.
fn at(day: u64, ms: u64) -> u64 {
    parse_ms("2026-01-01T00:00:00Z").unwrap() + day * DAY_MS + ms
}

/// Runs the ledger's cron job at noon of a day. The job does not compare the ledger with KV, because the last
/// comparison is recent.
fn keep_up(ledger: &dyn Ledger, sqlite: &SqliteLedger, day: u64, limits: Limits) -> Upkeep {
    let now_ms = at(day, DAY_MS / 2);
    sqlite.sql(&format!("UPDATE reconciliation SET completed = {now_ms}"));
    let store = MemoryStore::default();
    let clock = clock(now_ms);
    let upkeep = block_on(upkeep::keep_up(ledger, &store, &clock, "a test", limits)).unwrap();
    assert_eq!(upkeep.reached, PassOutcome::NotDue);
    upkeep
}

fn order(number: u8, created_ms: u64, quantities: Value) -> Value {
    let summary = json!({ "createdAt": date_time(created_ms), "quantities": quantities });
    message(number, json!({ "summary": summary }))
}

/// Returns the days that have stored sums. 1 January 2026 is day 0.
fn stored(ledger: &SqliteLedger) -> Vec<u64> {
    let days = ledger.sql("SELECT DISTINCT day FROM day_quantities ORDER BY day");
    days.iter().map(|day| day.parse::<u64>().unwrap() - at(0, 0) / DAY_MS).collect()
}

/// The number of transactions and the sum of their quantities, by month, mode and offering.
type Sums = BTreeMap<(String, String, String), (u64, BigUint)>;

fn answered(ledger: &SqliteLedger, mode: Option<Mode>, units: Option<&[String]>) -> Sums {
    let months = months(&MONTHS);
    let found = quantities::quantities(ledger, mode, units, &months, 1_000);
    let sums = block_on(found).unwrap().into_iter().map(|sum| {
        let group = (sum.month.to_string(), sum.mode.name().to_owned(), sum.offering);
        (group, (sum.transactions, exact(&sum.quantity)))
    });
    sums.collect()
}

/// Adds up the quantities in the transaction rows, independently of the ledger's own sums.
fn summed(ledger: &SqliteLedger, mode: Option<Mode>) -> Sums {
    let rows = ledger.sql(
        "SELECT json_array(mode, created, json(quantities)) FROM transactions JOIN scopes USING (scope)",
    );
    let mut sums = Sums::new();
    for row in &rows {
        let (own, created, quantities): (String, u64, Vec<(String, Value)>) =
            serde_json::from_str(row).unwrap();
        let month = date_time(created)[..7].to_owned();
        let is_asked = mode.is_none_or(|mode| mode.name() == own);
        if !is_asked || !MONTHS.contains(&&*month) {
            continue;
        }
        for (offering, quantity) in quantities {
            let quantity = match quantity {
                Value::Number(millionths) => exact(&format!("{millionths}e-6")),
                text => exact(text.as_str().unwrap()),
            };
            let sum = sums.entry((month.clone(), own.clone(), offering)).or_default();
            *sum = (sum.0 + 1, &sum.1 + quantity);
        }
    }
    sums
}

#[track_caller]
fn check(ledger: &SqliteLedger) {
    for mode in [None, Some(Mode::Live), Some(Mode::Test)] {
        assert_eq!(answered(ledger, mode, None), summed(ledger, mode), "{mode:?}");
    }
    for mode in [Mode::Live, Mode::Test] {
        assert_eq!(of_units(ledger, mode), by_unit(ledger, mode), "{mode:?}");
    }
}

/// The number of transactions and the sum of their quantities, by month, offering and unit.
type UnitSums = BTreeMap<(String, String, String), (u64, BigUint)>;

/// Returns the sums of each unit, which the ledger returns unit by unit.
fn of_units(ledger: &SqliteLedger, mode: Mode) -> UnitSums {
    let units = ledger.sql("SELECT DISTINCT unit FROM scopes");
    let of_unit = |unit: String| {
        let sums = answered(ledger, Some(mode), Some(std::slice::from_ref(&unit)));
        sums.into_iter()
            .map(move |((month, _, offering), sum)| ((month, offering, unit.clone()), sum))
    };
    units.into_iter().flat_map(of_unit).collect()
}

/// Returns the sums of each unit, which the ledger returns offering by offering.
fn by_unit(ledger: &SqliteLedger, mode: Mode) -> UnitSums {
    let mut sums = UnitSums::new();
    for offering in ["tree", "reef", "tree\0é\"", "tre", ""] {
        for month in months(&MONTHS) {
            let found = unit_quantities::by_unit(ledger, mode, month, offering, 100);
            for UnitSum { unit, transactions, quantity } in block_on(found).unwrap() {
                let group = (month.to_string(), offering.to_owned(), unit);
                sums.insert(group, (transactions, exact(&quantity)));
            }
        }
    }
    sums
}

// ---- Any order of changes ------------------------------------------------------------------------

#[derive(Clone, Debug)]
enum Change {
    /// The ledger receives a message about a transaction. The message adds the transaction's row, moves the row
    /// to another time, or arrives too late to have an effect.
    Receive(u8, bool, u64, Value),
    Erase(u8),
    Remove(u8),
    /// An operator changes the quantities of a row directly in the database.
    Mend(u8, Value),
    Clear,
    /// The cron job runs on this day, with at most this number of calls.
    KeepUp(u64, u32),
}

fn quantities() -> impl Strategy<Value = Value> {
    let quantity = prop_oneof![
        (1_u64..9_000_000).prop_map(Value::from),
        Just(json!((1_u64 << 53) - 1)),
        Just(json!("12e306")),
        Just(json!("5e-324")),
        Just(json!("30000000000000004e-17")),
    ];
    let offering = prop_oneof![Just("tree"), Just("reef"), Just("tree\0é\"")];
    proptest::collection::btree_map(offering, quantity, 0..3)
        .prop_map(|pairs| pairs.into_iter().map(|(name, sum)| json!([name, sum])).collect())
}

fn change() -> impl Strategy<Value = Change> {
    let created = (0_u64..40, prop_oneof![Just(0), Just(DAY_MS - 1), 0..DAY_MS])
        .prop_map(|(day, ms)| at(day, ms));
    let number = 1_u8..8;
    prop_oneof![
        6 => (number.clone(), any::<bool>(), created, quantities())
            .prop_map(|(number, is_test, at, pairs)| Change::Receive(number, is_test, at, pairs)),
        1 => number.clone().prop_map(Change::Erase),
        1 => number.clone().prop_map(Change::Remove),
        1 => (number, quantities()).prop_map(|(number, pairs)| Change::Mend(number, pairs)),
        1 => Just(Change::Clear),
        6 => (0_u64..45, prop_oneof![Just(600), 2_u32..10])
            .prop_map(|(day, calls)| Change::KeepUp(day, calls)),
    ]
}

fn id(number: u8) -> String {
    message(number, json!({}))["id"].as_str().unwrap().to_owned()
}

fn make(ledger: &SqliteLedger, change: &Change) {
    match change {
        Change::Receive(number, is_test, created_ms, pairs) => {
            let mut order = order(*number, *created_ms, pairs.clone());
            if *is_test {
                (order["mode"], order["unit"]) = (json!("test"), json!("v"));
            }
            receive(ledger, &[order]);
        }
        Change::Erase(number) => {
            let mut order = order(*number, at(u64::from(*number), 0), json!([["tree", 1]]));
            order["summary"]["erased"] = json!("2026-02-20T00:00:00Z");
            receive(ledger, &[order]);
        }
        Change::Remove(number) => {
            ledger.sql(&format!("DELETE FROM transactions WHERE id = '{}'", id(*number)));
        }
        Change::Mend(number, pairs) => {
            let (pairs, id) = (pairs.to_string().replace('\'', "''"), id(*number));
            ledger
                .sql(&format!("UPDATE transactions SET quantities = '{pairs}' WHERE id = '{id}'"));
        }
        Change::Clear => block_on(check::clear(ledger)).unwrap(),
        Change::KeepUp(day, calls) => {
            keep_up(ledger, ledger, *day, Limits { calls: *calls, ..LIMITS });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn stored_sums_equal_the_sums_of_transactions(changes in proptest::collection::vec(change(), 1..25)) {
        let ledger = SqliteLedger::default();
        for change in &changes {
            make(&ledger, change);
            check(&ledger);
        }
    }
}

/// A ledger in which a transaction arrives right before or right after each statement that stores daily sums.
struct Late<'l> {
    ledger: &'l SqliteLedger,
    is_before: bool,
    arrived: Cell<u8>,
}

impl Ledger for Late<'_> {
    fn run<'l>(&'l self, statements: &'l [Statement]) -> QueryFuture<'l> {
        let stores = statements.iter().any(|it| it.sql.contains("INSERT INTO day_quantities"));
        let arrive = async || {
            self.arrived.set(self.arrived.get() + 1);
            let body = order(self.arrived.get(), at(3, 5), json!([["tree", 7]]));
            let (store, clock) = (MemoryStore::default(), clock(at(5, 0)));
            let delivered = [Delivered { body, attempt: 1 }];
            system_receive::receive(self.ledger, &store, &clock, &delivered).await
        };
        Box::pin(async move {
            if stores && self.is_before {
                assert_eq!(arrive().await, [Verdict::Done]);
            }
            let answers = self.ledger.run(statements).await;
            if stores && !self.is_before {
                assert_eq!(arrive().await, [Verdict::Done]);
            }
            answers
        })
    }
}

#[test]
fn a_transaction_that_arrives_while_sums_are_stored_is_in_the_sums() {
    for (is_before, days) in [(true, vec![3, 4]), (false, vec![4])] {
        let ledger = SqliteLedger::default();
        receive(&ledger, &[order(100, at(3, 0), json!([["tree", 1_000_000]]))]);
        let late = Late { ledger: &ledger, is_before, arrived: Cell::new(0) };
        assert_eq!(keep_up(&late, &ledger, 5, LIMITS).days, 2);
        assert_eq!((late.arrived.get(), stored(&ledger)), (2, days), "{is_before}");
        check(&ledger);
    }
}

// ---- What is stored, and when --------------------------------------------------------------------

/// Returns a ledger with one transaction on the first day and one on the fifth day.
fn filled() -> SqliteLedger {
    let ledger = SqliteLedger::default();
    let pairs = json!([["tree", 2_500_000], ["reef", "5e-7"]]);
    receive(&ledger, &[order(1, at(0, 0), pairs.clone()), order(2, at(4, DAY_MS - 1), pairs)]);
    ledger
}

#[test]
fn the_cron_stores_ended_days_newest_first_within_its_limits() {
    let ledger = filled();
    let few = Limits { calls: 4, ..LIMITS }; // two for the reconciliation, one to find the days
    let run = |limits| (keep_up(&ledger, &ledger, 6, limits).days, stored(&ledger));
    assert_eq!(run(Limits { milliseconds: 0, ..LIMITS }), (0, vec![]));
    assert_eq!(run(few).1, run(Limits { calls: 0, ..LIMITS }).1, "no call is left");
    let all = (0..6).collect::<Vec<_>>();
    assert_eq!(run(LIMITS).1, all);
    assert_eq!(run(LIMITS), (0, all));
    check(&ledger);
    let now_ms = at(7, 59 * 60_000); // the day ended less than an hour ago
    let store = MemoryStore::default();
    ledger.sql(&format!("UPDATE reconciliation SET completed = {now_ms}"));
    let clock = clock(now_ms);
    let upkeep = upkeep::keep_up(&ledger, &store, &clock, "a test", LIMITS);
    assert_eq!(block_on(upkeep).unwrap().days, 0);
}

#[test]
fn sums_of_all_units_read_stored_days_and_transactions_of_other_days() {
    let ledger = filled();
    keep_up(&ledger, &ledger, 4, LIMITS);
    assert_eq!(stored(&ledger), [0, 1, 2, 3]);
    ledger.sql("UPDATE day_quantities SET sums = '[[\"tree\",5,0,9]]' WHERE mode = 'live' AND sums <> '[]'");
    let (all, own) =
        (answered(&ledger, None, None), answered(&ledger, None, Some(&["u".to_owned()])));
    let tree = ("2026-01".to_owned(), "live".to_owned(), "tree".to_owned());
    assert_eq!(
        all[&tree],
        (6, exact("2.500009")),
        "the stored day, and the day without stored sums"
    );
    assert_eq!(own[&tree], (2, exact("5")), "stored sums are of all units");
}

#[test]
fn only_changes_of_quantities_remove_stored_sums() {
    let ledger = filled();
    let changed = |sql: &str| {
        keep_up(&ledger, &ledger, 6, LIMITS);
        ledger.sql(sql);
        check(&ledger);
        stored(&ledger).len()
    };
    assert_eq!(changed("UPDATE transactions SET reference = 'r', quantities = quantities"), 6);
    assert_eq!(changed("DELETE FROM day_charges WHERE day = 20454"), 5);
    assert_eq!(changed("UPDATE transactions SET quantities = '[]' WHERE created % 2 = 0"), 5);
    assert_eq!(changed("UPDATE transactions SET created = created + 86400000"), 2);
    assert_eq!(changed("DELETE FROM transactions WHERE created % 2 = 0"), 4); // the first day has no transactions
}

#[test]
fn sums_of_a_day_that_are_too_large_are_not_stored() {
    let ledger = SqliteLedger::default();
    let name = |number: u32| format!("{}-{number:04}", "o".repeat(200));
    let pairs: Vec<_> = (0..4_700).map(|number| json!([name(number), 1_000_000])).collect();
    receive(
        &ledger,
        &[order(1, at(0, 0), json!(pairs[..2_400])), order(2, at(0, 0), json!(pairs[2_400..]))],
    );
    receive(&ledger, &[order(3, at(1, 0), json!([["tree", 1]]))]);
    keep_up(&ledger, &ledger, 3, LIMITS);
    let rows = ledger.sql(
        "SELECT (day % 2) || mode || ifnull(length(sums), '-') FROM day_quantities ORDER BY 1",
    );
    let day = at(0, 0) / DAY_MS;
    let rows_of =
        |day: u64| rows.iter().filter(|row| row.starts_with(&(day % 2).to_string())).count();
    assert_eq!((rows_of(day), rows_of(day + 1)), (4, 2), "{rows:?}");
    assert_eq!(rows.iter().filter(|row| row.ends_with("live-")).count(), 1, "{rows:?}");
    assert_eq!(keep_up(&ledger, &ledger, 3, LIMITS).days, 0, "it is not summed again and again");
    let months = months(&MONTHS);
    let found = quantities::quantities(&ledger, None, None, &months, 10_000);
    assert_eq!(block_on(found).unwrap().len(), 4_701);
}

#[test]
fn a_cleared_ledger_has_no_stored_sums_and_the_same_triggers() {
    let ledger = filled();
    let schema = || {
        ledger
            .sql("SELECT name || ':' || sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
    };
    keep_up(&ledger, &ledger, 6, LIMITS);
    let before = schema();
    block_on(check::clear(&ledger)).unwrap();
    assert_eq!((schema(), stored(&ledger)), (before, vec![]));
}
