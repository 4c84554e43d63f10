//! Tests the amounts due for each month. If credits exceed a month's charges, the rest is carried to later
//! months.

use crate::credits::{Bench, ENDED_MS, MINUTE, bench, request};
use futures_executor::block_on;
use impact_pledge::office::system::rows::kept;
use impact_pledge::pledges::decimal::Decimal;

use impact_pledge::office::orders::rule::TransactionFilter;
use impact_pledge::office::payments::rule as payments;
use impact_pledge::office::payments::rule::{dues, usage};
use impact_pledge::office::system::rule::attention;
use impact_pledge::pledges::settlement::Month;
use serde_json::json;
use support::service::{LIVE_UNIT, NOW_MS, PATH, TestRequest, UNIT, minimal};

const DAY: u64 = 24 * 60 * 60_000;
/// 3 April. By then, March has ended and can be marked as paid.
const APRIL_MS: u64 = NOW_MS + 62 * DAY;

/// A shop with charges of 20.00 in January, 3.00 in February and 5.00 in March. January is paid. A credit of 15.00 for
/// the January order is booked in February.
fn carried() -> Bench {
    let bench = bench();
    let january = bench.order(NOW_MS, json!(40));
    bench.mark("2026-01", "20").unwrap();
    bench.order(ENDED_MS, json!(6));
    let credit = bench.credit(&request(&january, Some(("15", &[])))).unwrap().outcome;
    assert_eq!(credit.booked_month.to_string(), "2026-02");
    bench.at(APRIL_MS);
    bench.order(NOW_MS + 40 * DAY, json!(10));
    bench
}

#[test]
fn an_excess_of_credits_is_carried_to_the_next_months_that_are_not_settled() {
    let bench = carried();
    let january = "2026-01 20.00 − 0.00 − 0.00 = 20.00 of 20.00";
    let open =
        ["2026-03 5.00 − 0.00 − 12.00 = 0.00", "2026-02 3.00 − 15.00 − 0.00 = 0.00", january];
    assert_eq!(bench.dues(), open);
    // Nothing is to be settled in March and February.
    let to_settle = || {
        let found = attention::unsettled(bench.store(), &bench.ledger, bench.clock());
        let found = block_on(found).unwrap().into_iter();
        found.map(|(month, count)| format!("{month} {count}")).collect::<Vec<_>>()
    };
    assert_eq!(to_settle(), [""; 0]);
    let all = TransactionFilter::default();
    for (month, due) in
        [("2026-02", ["15.00", "0.00", "0.00"]), ("2026-03", ["0.00", "12.00", "0.00"])]
    {
        let month = Month::parse(month).unwrap();
        let usage = usage::of_month(bench.store(), &bench.ledger, &all, month);
        let months = block_on(usage).unwrap().months;
        let own = &months[0].sums[0];
        assert_eq!((months.len(), [&*own.credited, &own.carried, &own.due]), (1, due));
    }
    bench.at(APRIL_MS + 30 * DAY);
    bench.order(APRIL_MS, json!(20));
    assert_eq!(bench.dues()[0], "2026-04 10.00 − 0.00 − 7.00 = 3.00");
    assert_eq!(to_settle(), ["2026-04 1"]);
    let error = bench.mark("2026-04", "10").unwrap_err().to_string();
    let words = "has 3.00 USD due, not 10.00 USD (charges of 10.00 USD, less credits of 0.00 USD, less 7.00 USD carried \
                 from earlier months)";
    assert!(error.contains(words), "{error}");
    bench.mark("2026-04", "3").unwrap();
    assert_eq!(to_settle(), [""; 0]);
    let settled = "2026-04 10.00 − 0.00 − 7.00 = 3.00 of 3.00";
    assert_eq!(bench.dues()[0], settled);
    // The months before it can still be settled, and change nothing in it.
    bench.mark("2026-03", "0").unwrap();
    bench.mark("2026-02", "0").unwrap();
    assert_eq!(bench.dues()[0], settled);
    // What the settled month took is not carried again.
    bench.at(APRIL_MS + 60 * DAY);
    bench.order(APRIL_MS + 30 * DAY, json!(2));
    assert_eq!(bench.dues()[0], "2026-05 1.00 − 0.00 − 0.00 = 1.00");
}

/// The ledger reads the charges of earlier months only for shops whose credits may exceed their charges. For
/// all other shops, it must then also leave out the credits of these months.
/// Two creates with one ID race, and the charge of the first one is credited. Then the second one decides the charge.
#[test]
fn a_credit_of_a_charge_that_became_smaller_is_carried_alike_everywhere() {
    let bench = bench();
    let id = bench.order(NOW_MS, json!(40));
    bench.credit(&request(&id, None)).unwrap();
    bench.order(ENDED_MS, json!(6));
    bench.at(APRIL_MS);
    bench.ledger.sql(&format!("UPDATE transactions SET cents = 500 WHERE id = '{id}'"));
    let dues = ["2026-02 3.00 − 0.00 − 15.00 = 0.00", "2026-01 5.00 − 20.00 − 0.00 = 0.00"];
    assert_eq!(bench.dues(), dues);
    let february = Month::parse("2026-02").unwrap();
    let all = TransactionFilter::default();
    let usage = block_on(usage::of_month(bench.store(), &bench.ledger, &all, february)).unwrap();
    assert_eq!(usage.months[0].sums[0].carried, "15.00");
}

#[test]
fn a_shop_whose_credits_do_not_exceed_its_charges_carries_nothing_beside_one_whose_do() {
    let bench = carried();
    let order = |at_ms| {
        bench.service.clock.0.set(at_ms);
        let created = bench.service.create(UNIT, &minimal()).json();
        bench.ledger.reconcile(bench.store(), bench.clock().0.get());
        created["id"].as_str().unwrap().to_owned()
    };
    let february = order(ENDED_MS + DAY);
    order(NOW_MS + 40 * DAY);
    let credit = bench.credit(&request(&february, Some(("1.00", &[])))).unwrap().outcome;
    assert_eq!(credit.booked_month.to_string(), "2026-02");
    let (all, march) = (TransactionFilter::default(), Month::parse("2026-03").unwrap());
    let usage = usage::of_month(bench.store(), &bench.ledger, &all, march);
    let months = block_on(usage).unwrap().months;
    let due = |month: &usage::MonthUsage| {
        let due = &month.sums[0];
        format!("{} {} − {} = {}", month.of.scope.mode.name(), due.amount, due.carried, due.due)
    };
    let shown: Vec<_> = months.iter().map(due).collect();
    assert_eq!(shown, ["test 1.50 − 0.00 = 1.50", "live 5.00 − 12.00 = 0.00"]);
    let excess: Vec<_> = months.iter().map(|month| month.sums[0].excess()).collect();
    assert_eq!(excess, [None, Some("7.00".to_owned())]);
    let totals = dues::totals(&months);
    assert_eq!(totals[0].excess().as_deref(), Some("7.00"), "{totals:?}");
}

/// A create request stops before it writes its replay record, and is repeated in February. The transaction
/// moves to February, but its credit stays in January. The credit is then carried over to February, even if
/// only February is requested.
#[test]
fn a_credit_follows_its_order_to_the_month_in_which_an_interrupted_create_is_repeated() {
    let bench = bench();
    let create = |at_ms| {
        bench.service.clock.0.set(at_ms);
        let request = TestRequest::new("POST", PATH, LIVE_UNIT)
            .with_header("idempotency-key", "order-1053")
            .with_body(minimal().to_string().into_bytes());
        let created = bench.service.isolate().send(&request).json();
        bench.ledger.reconcile(bench.store(), bench.clock().0.get());
        created["id"].as_str().unwrap().to_owned()
    };
    let id = create(NOW_MS);
    bench.credit(&request(&id, None)).unwrap();
    let replay = bench.store().names().into_iter().find(|name| name.starts_with("idempotency:"));
    bench.store().remove(&replay.unwrap());
    assert_eq!(create(ENDED_MS), id);
    bench.at(ENDED_MS + 10 * MINUTE);
    bench.ledger.reconcile(bench.store(), bench.clock().0.get());
    let dues = ["2026-02 1.50 − 0.00 − 1.50 = 0.00", "2026-01 0.00 − 1.50 − 0.00 = 0.00"];
    assert_eq!(bench.dues(), dues);
    let (all, february) = (TransactionFilter::default(), Month::parse("2026-02").unwrap());
    let usage = usage::of_month(bench.store(), &bench.ledger, &all, february);
    let due = &block_on(usage).unwrap().months[0].sums[0];
    assert_eq!([&due.carried, &due.due], ["1.50", "0.00"]);
}

#[test]
fn a_settled_month_that_took_more_than_there_is_now_differs_from_its_payment() {
    let bench = carried();
    bench.mark("2026-03", "0").unwrap();
    // An order arrives late in February, so that less is carried.
    bench.order(ENDED_MS + DAY, json!(20));
    let now = [
        "2026-03 5.00 − 0.00 − 2.00 = 3.00 of 0.00",
        "2026-02 13.00 − 15.00 − 0.00 = 0.00",
        "2026-01 20.00 − 0.00 − 0.00 = 20.00 of 20.00",
    ];
    assert_eq!(bench.dues(), now);
}

#[test]
fn a_settled_month_keeps_what_it_took_and_a_later_credit_goes_to_the_next_month() {
    let bench = carried();
    let february = bench.order(ENDED_MS + DAY, json!(6));
    bench.order(NOW_MS + 41 * DAY, json!(30));
    bench.mark("2026-03", "11").unwrap();
    // February is not settled, so this credit is booked there: 3.00 more are carried.
    let credit = bench.credit(&request(&february, Some(("3", &[])))).unwrap().outcome;
    assert_eq!(credit.booked_month.to_string(), "2026-02");
    bench.at(APRIL_MS + 30 * DAY);
    bench.order(APRIL_MS, json!(20));
    let dues = [
        "2026-04 10.00 − 0.00 − 3.00 = 7.00",
        "2026-03 20.00 − 0.00 − 9.00 = 11.00 of 11.00",
        "2026-02 6.00 − 18.00 − 0.00 = 0.00",
        "2026-01 20.00 − 0.00 − 0.00 = 20.00 of 20.00",
    ];
    assert_eq!(bench.dues(), dues);
}

#[test]
fn a_month_that_is_unpaid_again_keeps_its_credits_and_later_ones_are_booked_in_it() {
    let bench = bench();
    let id = bench.order(NOW_MS, json!(40));
    bench.mark("2026-01", "20").unwrap();
    bench.credit(&request(&id, Some(("1", &[])))).unwrap();
    bench.at(ENDED_MS + 60_000);
    let of = crate::credits::payment("2026-01", "20").of;
    let author = bench.operator.author();
    block_on(payments::undo(bench.store(), &bench.ledger, &author, &of, None)).unwrap();
    bench.credit(&request(&id, Some(("2", &[])))).unwrap();
    let dues = ["2026-02 0.00 − 1.00 − 0.00 = 0.00", "2026-01 20.00 − 2.00 − 0.00 = 18.00"];
    assert_eq!(bench.dues(), dues);
}

#[test]
fn months_that_the_ledger_no_longer_keeps_are_as_they_were_paid() {
    let bench = carried();
    bench.mark("2026-02", "0").unwrap();
    bench.mark("2026-03", "0").unwrap();
    block_on(kept::keep_from(&bench.ledger, Month::parse("2026-04"))).unwrap();
    bench.at(APRIL_MS + 30 * DAY);
    bench.order(APRIL_MS, json!(20));
    let dues = [
        "2026-04 10.00 − 0.00 − 7.00 = 3.00",
        "2026-03 5.00 − 0.00 − 12.00 = 0.00 of 0.00",
        "2026-02 3.00 − 15.00 − 0.00 = 0.00 of 0.00",
        "2026-01 20.00 − 0.00 − 0.00 = 20.00 of 20.00",
    ];
    assert_eq!(bench.dues(), dues);
}

/// The excess is only in the settlement: the row that says that the charge became smaller is removed, too.
#[test]
fn an_excess_of_a_month_that_the_ledger_no_longer_keeps_is_carried_as_it_was_settled() {
    let bench = bench();
    let id = bench.order(NOW_MS, json!(40));
    bench.credit(&request(&id, None)).unwrap();
    bench.order(ENDED_MS, json!(6));
    bench.at(APRIL_MS);
    bench.order(NOW_MS + 40 * DAY, json!(10));
    for month in ["2026-01", "2026-02"] {
        bench.ledger.sql(&format!("UPDATE transactions SET cents = 500 WHERE id = '{id}'"));
        bench.mark(month, "0").unwrap();
    }
    bench.ledger.sql(&format!("UPDATE transactions SET cents = 500 WHERE id = '{id}'"));
    // Marking has reconciled the rows.
    bench.ledger.sql(
        "UPDATE published SET content = json_set(content, '$.sums[0].credits.counted', '5.00')
WHERE name = 'settlement:live:unit_dev:2026-01'",
    );
    let dues = [
        "2026-03 5.00 − 0.00 − 12.00 = 0.00",
        "2026-02 3.00 − 0.00 − 15.00 = 0.00 of 0.00",
        "2026-01 5.00 − 20.00 − 0.00 = 0.00 of 0.00",
    ];
    assert_eq!(bench.dues(), dues);
    block_on(kept::keep_from(&bench.ledger, Month::parse("2026-03"))).unwrap();
    bench.ledger.reconcile(bench.store(), bench.clock().0.get());
    assert_eq!(bench.dues(), dues);
}

#[test]
fn differences_of_decimals_are_exact() {
    for (from, taken, expected) in [
        ("1", "1", Some("0")),
        ("1", "1.000000001", None),
        ("100", "0.01", Some("99.99")),
        ("1e300", "1e-300", Some(&*format!("{}.{}", "9".repeat(300), "9".repeat(300)))),
        ("0.10", "0.1", Some("0")),
        ("5e20", "5e20", Some("0")),
        ("0", "5e-324", None),
    ] {
        let decimal = |text| Decimal::parse(text).unwrap();
        let difference = decimal(from).minus(&decimal(taken));
        assert_eq!(difference.map(|it| it.to_exact()).as_deref(), expected, "{from} − {taken}");
    }
}
