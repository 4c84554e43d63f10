//! Tests the table of credits: its constraints, its indexes, and that a rebuild of the ledger keeps it.

use crate::credits::{ENDED_MS, bench, request};
use futures_executor::block_on;
use impact_pledge::office::credits::rows as credits_credits;
use impact_pledge::office::shared::rows::port;
use impact_pledge::office::system::rows::check;

use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::settlement::Month;
use serde_json::json;
use support::ledger::{Recorder, SqliteLedger};
use support::service::NOW_MS;

#[test]
fn the_table_refuses_what_no_check_of_ours_has_refused() {
    let ledger = SqliteLedger::default();
    let insert = |changed: &[(&str, &str)]| {
        let columns = ["id", "number", "operation", "order_month", "booked_month", "currency"];
        let amounts = ["charge_cents", "charge_amount", "cents", "amount"];
        let values =
            ["'t'", "1", "'o1'", "'2026-01'", "'2026-01'", "'USD'", "200", "NULL", "120", "NULL"];
        let value = |(column, value): (&&str, &str)| {
            let own = changed.iter().find(|(name, _)| name == column);
            own.map_or(value, |(_, value)| value).to_owned()
        };
        let names = columns.iter().chain(&amounts);
        let values: Vec<_> = names.zip(values).map(value).collect();
        let sql = format!(
            "INSERT INTO credits ({}, {}, mode, unit, quantities, reason, change, author, at)
             VALUES ({}, 'live', 'u', '[]', 'r', 'c', 'a', 0)",
            columns.join(", "),
            amounts.join(", "),
            values.join(", ")
        );
        let statement = port::Statement { sql: sql.leak(), parameter: "null".to_owned() };
        block_on(port::Ledger::run(&ledger, &[statement])).is_ok()
    };
    assert!(insert(&[]));
    let next = [("number", "2"), ("operation", "'o2'")];
    let with = |more: &[(&'static str, &'static str)]| insert(&[more, &next[..]].concat());
    for refused in [
        &[][..],
        &[("cents", "81")],
        &[("cents", "-1")],
        &[("cents", "80"), ("charge_cents", "1000")],
        &[("cents", "80"), ("currency", "'EUR'")],
        &[("cents", "80"), ("number", "1")],
        &[("cents", "80"), ("number", "101")],
        &[("cents", "80"), ("operation", "'o1'")],
        &[("cents", "80"), ("booked_month", "'2025-12'")],
        &[("cents", "9007199254740992"), ("charge_cents", "9007199254740992"), ("id", "'z'")],
        &[
            ("cents", "NULL"),
            ("charge_cents", "NULL"),
            ("charge_amount", "'5e20'"),
            ("amount", "'4e20'"),
            ("id", "'z'"),
        ],
        &[
            ("cents", "NULL"),
            ("charge_cents", "NULL"),
            ("charge_amount", "'5e20'"),
            ("amount", "'5e20'"),
            ("id", "'z'"),
        ],
    ] {
        assert!(!with(refused), "{refused:?}");
    }
    assert!(with(&[("cents", "80")]), "the whole charge");
    let update =
        port::Statement { sql: "UPDATE credits SET cents = 1", parameter: "null".to_owned() };
    assert!(block_on(port::Ledger::run(&ledger, &[update])).is_err());
}

#[test]
fn a_rebuild_keeps_credits() {
    let bench = bench();
    let id = bench.order(NOW_MS, json!(4));
    bench.credit(&request(&id, Some(("0.20", &[])))).unwrap();
    let before = bench.dues();
    block_on(check::clear(&bench.ledger)).unwrap();
    assert_eq!(bench.credits_of(&id).len(), 1);
    bench.ledger.reconcile(bench.store(), ENDED_MS);
    assert_eq!(bench.dues(), before);
}

#[test]
fn credits_are_found_by_their_indexes() {
    let ledger = SqliteLedger::default();
    let recorder = Recorder::new(&ledger);
    let (units, january) = (["u".to_owned()], Month::parse("2026-01").unwrap());
    block_on(async {
        credits_credits::credits(&recorder, "t").await.unwrap();
        credits_credits::credit_sums(&recorder, Some(Mode::Live), Some(&units)).await.unwrap();
        credits_credits::credited_quantities(&recorder, None, None, &[january]).await.unwrap();
    });
    let plans = recorder.take().into_iter().flat_map(|statement| ledger.plan(&statement));
    let found: Vec<_> = plans.filter(|row| row.contains(" credits")).collect();
    assert_eq!(
        found,
        [
            "SEARCH credits USING PRIMARY KEY (id=?)",
            "SEARCH credits USING INDEX by_booking (unit=?)",
            "SEARCH credits USING INDEX by_order (order_month=?)",
        ]
    );
}
