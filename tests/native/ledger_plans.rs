//! Tests the query plans of the ledger's statements. No statement may scan the whole table of transactions.

use crate::ledger::{keep, message, months, receive};
use futures_executor::block_on;
use impact_pledge::office::credits::rows::credit_sums;
use impact_pledge::office::fulfilment::rows::quantities;
use impact_pledge::office::fulfilment::rows::unit_quantities::by_unit;
use impact_pledge::office::orders::rows::changed;
use impact_pledge::office::orders::rows::order;
use impact_pledge::office::orders::rows::order::{Filter, TransactionState};
use impact_pledge::office::orders::rows::orders;
use impact_pledge::office::orders::rows::orders::{Direction, by_email, by_reference};
use impact_pledge::office::payments::rows::scope_months;
use impact_pledge::office::payments::rows::scope_months::MonthFilter;
use impact_pledge::office::payments::rows::sums::{months_of, sums};
use impact_pledge::office::prices::rows as priced;
use impact_pledge::office::shared::rows::port::Ledger;
use impact_pledge::office::system::rows::attention;
use impact_pledge::office::system::rows::reconcile;
use impact_pledge::office::system::rows::reconcile::PassTiming;
use impact_pledge::office::system::rows::unusual;
use impact_pledge::office::system::rows::upkeep::{Limits, keep_up};
use impact_pledge::office::updates::rows::pictures;
use impact_pledge::pledges::scope::{Mode, Scope};
use impact_pledge::pledges::settlement::ScopeMonth;
use serde_json::json;
use std::cell::Cell;
use support::ledger::{Recorder, SqliteLedger};
use support::memory::MemoryStore;
use support::service::{FixedClock, NOW_MS, SECRET};
use support::stores::scope;

const DAY_MS: u64 = 86_400_000;
const BETWEEN: &str = "t PRIMARY KEY (scope=? AND created>? AND created<?)";
const UNPRICED: &str = "t INDEX by_unpriced (scope=? AND created>? AND created<?)";
const FOUND: &str = "t INDEX by_id (id=? AND scope=? AND created=?)";
const ONE: &str = "t PRIMARY KEY (scope=? AND created=? AND id=?)";

/// Returns a ledger with three transactions. One of them has amounts so large that they are stored as texts.
fn filled() -> SqliteLedger {
    let ledger = SqliteLedger::default();
    let large = json!({ "summary": { "amount": "9e99", "quantities": [["tree", "9e99"]] } });
    receive(&ledger, &[message(1, json!({})), message(2, large), message(3, json!({}))]);
    ledger
}

/// Returns how the statements of a call access the table of transactions, according to their query plans. Each
/// distinct access is listed once. An access without an index is a scan.
#[track_caller]
fn plan(call: impl AsyncFn(&dyn Ledger)) -> Vec<String> {
    plan_of(&["t", "transactions"], call)
}

/// Returns how the statements of a call access one table, according to their query plans. `names` are the
/// table's name and its aliases.
#[track_caller]
fn plan_of(names: &[&str], call: impl AsyncFn(&dyn Ledger)) -> Vec<String> {
    let ledger = filled();
    let recorder = Recorder::new(&ledger);
    block_on(call(&recorder));
    let statements = recorder.take();
    let rows = statements.iter().flat_map(|statement| ledger.plan(statement));
    let of_transactions = rows.filter_map(|row| {
        let (how, rest) = row.split_once(' ')?;
        let table = rest.split(' ').next()?;
        let is_ours = ["SCAN", "SEARCH"].contains(&how) && names.contains(&table);
        // Versions of SQLite differ in these words.
        let words = [" USING", " COVERING", " LEFT-JOIN", " EXISTS"];
        let rest = words.iter().fold(rest.to_owned(), |rest, word| rest.replace(word, ""));
        is_ours.then(|| if how == "SCAN" { row.clone() } else { rest })
    });
    let mut rows: Vec<_> = of_transactions.collect();
    rows.sort();
    rows.dedup();
    rows
}

#[test]
fn lists_are_found_by_scope_and_time() {
    let (place, units) = (newest(), Some(vec!["u".to_owned()]));
    let key = Some("0123456789ab".to_owned());
    let of = |state| Filter { state: Some(state), ..Filter::default() };
    let unpriced = of(TransactionState::Unpriced);
    let filters = [
        (Filter::default(), [FOUND, BETWEEN]),
        (Filter { units, ..Filter::default() }, [FOUND, BETWEEN]),
        (Filter { key: key.clone(), ..Filter::default() }, [ONE, BETWEEN]),
        (of(TransactionState::Paid), [FOUND, BETWEEN]),
        (of(TransactionState::Unpaid), [FOUND, BETWEEN]),
        (Filter { least: Some(1), ..of(TransactionState::Paid) }, [FOUND, BETWEEN]),
        (unpriced.clone(), [FOUND, UNPRICED]),
        (Filter { key, ..unpriced }, [FOUND, UNPRICED]),
    ];
    for (filter, expected) in filters {
        for from in
            [Direction::Newest, Direction::Older(place.clone()), Direction::Newer(place.clone())]
        {
            let found =
                plan(async |it| drop(orders::orders(it, &filter, &from, 50).await.unwrap()));
            assert_eq!(found, expected, "{filter:?} {from:?}");
        }
    }
}

/// Credited, erased and given transactions are looked up one by one, whatever the number of others.
#[test]
fn credited_erased_and_given_transactions_are_looked_up() {
    let of = |state| Filter { state: Some(state), ..Filter::default() };
    let by_id = "t INDEX by_id (id=?)";
    let by_erasure = "t INDEX by_erasure (erased>?)";
    let ids = Some(vec!["ptran_1".to_owned()]);
    for filter in [
        of(TransactionState::Credited),
        of(TransactionState::Erased),
        Filter { ids, ..of(TransactionState::Failed) },
    ] {
        for from in [Direction::Newest, Direction::Newer(newest())] {
            let found =
                plan(async |it| drop(orders::orders(it, &filter, &from, 50).await.unwrap()));
            assert_eq!(found, [by_erasure, FOUND, by_id], "{filter:?}");
        }
    }
}

fn newest() -> order::PageCursor {
    let ledger = filled();
    let page = block_on(orders::orders(&ledger, &Filter::default(), &Direction::Newest, 1));
    page.unwrap().orders[0].place()
}

#[test]
fn searches_are_found_by_hash_and_by_the_beginning_of_an_id() {
    let shops = [Scope { mode: Mode::Live, unit: "u".to_owned() }];
    let place = newest();
    for from in [Direction::Newest, Direction::Newer(place)] {
        let asked = (&shops[..], "ada@shop.example");
        let found = plan(async |it| drop(by_email(it, &SECRET, asked, &from, 50).await.unwrap()));
        assert_eq!(found, ["t INDEX by_email (email=?)", ONE]);
        let asked = (&shops[..], "order 1");
        let found =
            plan(async |it| drop(by_reference(it, &SECRET, asked, &from, 50).await.unwrap()));
        let by_id = "t INDEX by_id (id>? AND id<?)";
        assert_eq!(found, [FOUND, by_id, "t INDEX by_reference (reference=?)"]);
    }
}

#[test]
fn sums_are_found_by_scope_and_month() {
    let january = months(&["2026-01"]);
    let found = plan(async |it| drop(sums(it, None, None, &january).await.unwrap()));
    assert_eq!(found, [BETWEEN]);
    let found = plan(async |it| {
        drop(quantities::quantities(it, None, None, &january, 50).await.unwrap());
    });
    assert_eq!(found, [BETWEEN]);
    let found = plan(async |it| {
        drop(by_unit(it, Mode::Live, january[0], "tree", 50).await.unwrap());
    });
    assert_eq!(found, [BETWEEN]);
    let stored = plan_of(&["stored"], async |it| {
        drop(quantities::quantities(it, None, None, &january, 50).await.unwrap());
    });
    assert_eq!(stored, ["stored PRIMARY KEY (day=? AND mode=?)"]);
    let found = plan(async |it| {
        let of = ScopeMonth { scope: scope("u", Mode::Live), month: january[0] };
        drop(priced::priced(it, &of, 50).await.unwrap());
    });
    assert_eq!(found, [BETWEEN]);
    let found = plan(async |it| {
        let filter = MonthFilter { months: january.clone(), ..MonthFilter::default() };
        drop(scope_months::scope_months(it, &filter, None, 50).await.unwrap());
    });
    assert_eq!(found, [BETWEEN]);
    let found = plan(async |it| drop(months_of(it, None, None).await.unwrap()));
    assert_eq!(found, ["t PRIMARY KEY (scope=?)"]);
}

#[test]
fn the_orders_of_credits_are_found_by_id() {
    let units = ["u".to_owned()];
    for units in [None, Some(&units[..])] {
        let found = plan(async |it| drop(credit_sums(it, None, units).await.unwrap()));
        assert_eq!(found, ["t INDEX by_id (id=?)"]);
    }
}

#[test]
fn what_operators_have_to_look_at_is_found_by_shop_and_time() {
    let january = months(&["2026-01"]);
    let found = plan(async |it| drop(attention::unpriced(it, &january).await.unwrap()));
    assert_eq!(found, [BETWEEN]);
    let found = plan(async |it| drop(attention::unsettled(it, &january).await.unwrap()));
    assert_eq!(found, ["t INDEX by_id (id=?)", BETWEEN], "the orders of credits, and the charges");
    let found = plan(async |it| drop(unusual::unusual(it, NOW_MS, Some(1), 5).await.unwrap()));
    assert_eq!(found, [BETWEEN, "t PRIMARY KEY (scope=? AND created>?)"]);
    let by_day = "c PRIMARY KEY (scope=? AND day>? AND day<?)";
    let stored = plan_of(&["c"], async |it| drop(sums(it, None, None, &january).await.unwrap()));
    assert_eq!(stored, [by_day]);
    let stored = plan_of(&["c"], async |it| {
        drop(unusual::unusual(it, NOW_MS, Some(1), 5).await.unwrap());
    });
    assert_eq!(stored, ["c PRIMARY KEY (id=?)", by_day], "credits, and stored charges");
}

#[test]
fn changes_are_found_by_time_and_by_erasure() {
    let found = plan(async |it| {
        let created = changed::changed(it, NOW_MS, changed::Next::default(), 1_000).await.unwrap();
        changed::changed(it, NOW_MS, created.next.unwrap(), 1_000).await.unwrap();
    });
    assert_eq!(found, ["t INDEX by_erasure (erased>?)", "t PRIMARY KEY (scope=? AND created>?)"]);
}

#[test]
fn days_without_stored_sums_are_found_by_scope_and_time() {
    let call = async |it: &dyn Ledger| {
        let (store, clock) = (MemoryStore::default(), FixedClock(Cell::new(NOW_MS + 3 * DAY_MS)));
        let limits = Limits { calls: 600, milliseconds: 60_000 };
        keep(&store, &message(1, json!({})));
        keep_up(it, &store, &clock, "one", limits).await.unwrap();
        assert!(keep_up(it, &store, &clock, "one", limits).await.unwrap().days == 0);
    };
    let found = plan(call);
    assert!(found.contains(&"t PRIMARY KEY (scope=?)".to_owned()), "{found:?}");
    assert!(found.contains(&BETWEEN.to_owned()), "{found:?}");
    assert!(!found.iter().any(|way| way.starts_with("SCAN")), "{found:?}");
    assert_eq!(plan_of(&["stored"], call), ["stored PRIMARY KEY (day=?)"]);
}

#[test]
fn the_reconciliation_finds_rows_by_id() {
    let store = MemoryStore::default();
    keep(&store, &message(1, json!({})));
    keep(&store, &message(2, json!({ "summary": { "quantities": null } })));
    let found = plan(async |it| {
        let clock = FixedClock(Cell::new(NOW_MS + 600_000));
        let pass = reconcile::reconcile(it, &store, &clock, ("one", PassTiming::Now), 100).await;
        assert_eq!(pass.unwrap().1.last_mended, 1);
    });
    let by_id = ["(id=?)", "(id>? AND id<?)"].map(|terms| format!("INDEX by_id {terms}"));
    assert_eq!(
        found,
        [
            format!("t {}", by_id[0]),
            format!("transactions {}", by_id[0]),
            format!("transactions {}", by_id[1])
        ]
    );
}

/// A picture without an update is found without reading all updates.
#[test]
fn updates_are_found_by_picture() {
    let found = plan_of(&["updates"], async |it| {
        drop(pictures::unused(it, &["/pictures/a.png".to_owned()]).await.unwrap());
    });
    assert_eq!(found, ["updates INDEX updates_by_picture (<expr>=?)"]);
}
