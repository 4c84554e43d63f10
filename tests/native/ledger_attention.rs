//! Tests the ledger's queries for problems that operators must look at.

use crate::ledger::{months, store_days};
use futures_executor::block_on;
use impact_pledge::office::system::rows::attention;
use impact_pledge::office::system::rows::unusual;
use impact_pledge::office::system::rows::unusual::{LEAST_CHARGES, UNUSUAL_TIMES, UnusualCharges};
use impact_pledge::pledges::time::parse_ms;
use proptest::prelude::*;
use support::ledger::SqliteLedger;

const SINCE: &str = "2026-01-01T00:00:00Z";

/// Returns a ledger with three shops: 1 is the live unit `a`, 2 is the live unit `b`, and 3 is the unit `a`
/// in test mode.
fn shops() -> SqliteLedger {
    let ledger = SqliteLedger::default();
    ledger.sql("INSERT INTO scopes VALUES (1, 'live', 'a'), (2, 'live', 'b'), (3, 'test', 'a')");
    ledger
}

/// Adds `count` transactions of a shop at one time, each charged with this number of cents. `None` is a
/// charge too large for an integer column.
fn charge(ledger: &SqliteLedger, shop: u8, at: &str, cents: Option<u64>, count: usize) {
    charge_with(ledger, shop, at, cents, count, 0);
}

fn charge_with(
    ledger: &SqliteLedger,
    shop: u8,
    at: &str,
    cents: Option<u64>,
    count: usize,
    unpriced: u8,
) {
    let created = parse_ms(at).unwrap();
    let cents_sql = cents.map_or("NULL, '1e21'".to_owned(), |cents| format!("{cents}, NULL"));
    for number in 0..count {
        let amount = cents.map_or("large".to_owned(), |cents| cents.to_string());
        let id = format!("ptran_{shop}_{created}_{amount}_{number}");
        ledger.sql(&format!(
            "INSERT INTO transactions (id, scope, created, currency, cents, amount, unpriced, changed, quantities)
             VALUES ('{id}', {shop}, {created}, 'USD', {cents_sql}, {unpriced}, 0, '[]')"
        ));
    }
}

fn settle(ledger: &SqliteLedger, name: &str, is_paid: bool) {
    let content = if is_paid { "'{}'" } else { "NULL" };
    ledger.sql(&format!(
        "INSERT INTO published (name, content, change, author, by_shop, at)
         VALUES ('settlement:{name}', {content}, '', '', 0, 0)"
    ));
}

fn by_month(found: Vec<(impact_pledge::pledges::settlement::Month, u64)>) -> Vec<String> {
    found.into_iter().map(|(month, count)| format!("{month} {count}")).collect()
}

/// Returns the answer to a query, which must be the same with stored sums of the days, with some of them, and without.
#[track_caller]
fn by_stored<T: PartialEq + std::fmt::Debug>(ledger: &SqliteLedger, ask: impl Fn() -> T) -> T {
    ledger.sql("DELETE FROM day_charges");
    ledger.sql("DELETE FROM day_quantities");
    let plain = ask();
    store_days(ledger, parse_ms("2026-03-02T00:00:00Z").unwrap());
    assert_eq!(ask(), plain, "with stored sums");
    ledger.sql("DELETE FROM day_charges WHERE day % 3 = 0");
    assert_eq!(ask(), plain, "with some stored sums");
    plain
}

#[test]
fn unpriced_pledges_are_counted_by_month_until_it_is_paid() {
    let ledger = shops();
    charge_with(&ledger, 1, "2026-01-05T00:00:00Z", Some(0), 2, 3);
    charge_with(&ledger, 2, "2026-01-31T23:59:59Z", Some(5), 1, 1);
    charge_with(&ledger, 1, "2026-02-01T00:00:00Z", Some(5), 1, 2);
    charge_with(&ledger, 3, "2026-02-01T00:00:00Z", Some(5), 1, 2);
    charge(&ledger, 2, "2026-02-02T00:00:00Z", Some(5), 9);
    let unpriced = || {
        by_stored(&ledger, || {
            let months = months(&["2026-02", "2026-01"]);
            by_month(block_on(attention::unpriced(&ledger, &months)).unwrap())
        })
    };
    assert_eq!(unpriced(), ["2026-02 2", "2026-01 7"]);
    settle(&ledger, "live:a:2026-01", true);
    settle(&ledger, "live:a:2026-02", false);
    assert_eq!(unpriced(), ["2026-02 2", "2026-01 1"]);
}

#[test]
fn a_month_is_to_settle_while_a_shop_has_charges_and_has_not_paid_it() {
    let ledger = shops();
    charge(&ledger, 1, "2026-01-05T00:00:00Z", Some(0), 3);
    charge(&ledger, 2, "2026-01-05T00:00:00Z", Some(1), 1);
    charge(&ledger, 1, "2026-02-28T23:59:59Z", None, 1);
    charge(&ledger, 2, "2026-02-01T00:00:00Z", Some(1), 1);
    charge(&ledger, 3, "2026-02-01T00:00:00Z", Some(1), 1);
    let asked = months(&["2026-02", "2026-01", "2025-12"]);
    let unsettled = || by_month(block_on(attention::unsettled(&ledger, &asked)).unwrap().owed);
    assert_eq!(unsettled(), ["2026-02 2", "2026-01 1"]);
    settle(&ledger, "live:b:2026-01", true);
    settle(&ledger, "live:b:2026-02", false);
    settle(&ledger, "live:a:2026-02", true);
    assert_eq!(unsettled(), ["2026-02 1"]);
}

/// Adds a credit of this many cents. `None` is an amount too large for an integer column. `months` are the
/// month of the credited order, and the month in which the credit is booked.
fn credit_in(
    ledger: &SqliteLedger,
    unit: &str,
    months: [&str; 2],
    currency: &str,
    cents: Option<u64>,
) {
    let [order, booked] = months;
    let id = format!("{unit}{order}{booked}{cents:?}");
    let cents = cents.map_or("NULL, '1e21'".to_owned(), |cents| format!("{cents}, NULL"));
    ledger.sql(&format!(
        "INSERT INTO credits (id, number, operation, mode, unit, order_month, booked_month, currency, charge_cents,
           charge_amount, cents, amount, quantities, reason, change, author, at)
         VALUES ('{id}', 1, '{id}', 'live', '{unit}', '{order}',
           '{booked}', '{currency}', {cents}, {cents}, '[]', 'x', 'x', 'x', 0)"
    ));
}

/// Amounts are in cents. If the credits of a month may cover all of its charges, the month is reported
/// separately, because its exact dues must be computed. Each row of the test has a month's charges and credits,
/// and whether this is so.
#[test]
fn a_month_whose_credits_may_cover_all_charges_is_reported_apart() {
    let (own, earlier, later) = (["2026-02"; 2], ["2026-01", "2026-02"], ["2026-02", "2026-03"]);
    let (max, usd) = (Some((1 << 53) - 1), "USD");
    for (charges, credits, is_covered) in [
        (&[Some(5), Some(7)][..], &[(own, usd, Some(12))][..], true),
        (&[Some(5), Some(7)], &[(own, usd, Some(11))], false),
        (&[Some(5), Some(7), Some(0)], &[(own, usd, Some(5)), (own, usd, Some(7))], true),
        (&[Some(12)], &[(earlier, usd, Some(12))], true),
        (&[Some(12)], &[(["2025-11", "2026-01"], usd, Some(99))], true),
        (&[Some(12)], &[(["2026-01"; 2], usd, Some(99))], false),
        (&[Some(12)], &[(later, usd, Some(12))], false),
        (&[Some(12)], &[(own, "EUR", Some(12))], false),
        (&[None], &[(own, usd, None)], true),
        (&[None], &[(own, usd, max)], false),
        (&[max, max, max], &[(own, usd, max)], false),
        (&[Some(0)], &[], false),
    ] {
        let ledger = shops();
        for (hour, cents) in charges.iter().enumerate() {
            charge(&ledger, 1, &format!("2026-02-05T{hour:02}:00:00Z"), *cents, 1);
        }
        charge(&ledger, 2, "2026-02-05T00:00:00Z", Some(1), 1);
        credits
            .iter()
            .for_each(|(months, code, cents)| credit_in(&ledger, "a", *months, code, *cents));
        let found = block_on(attention::unsettled(&ledger, &months(&["2026-02"]))).unwrap();
        let covered: Vec<_> = found.covered.iter().map(|it| (&*it.scope.unit, it.month)).collect();
        let expected: Vec<_> = months(&["2026-02"]).into_iter().map(|month| ("a", month)).collect();
        assert_eq!(
            covered,
            if is_covered { &expected[..] } else { &[] },
            "{charges:?} {credits:?}"
        );
        let is_charged = charges.iter().any(|cents| *cents != Some(0));
        let owed = 1 + u64::from(is_charged && !is_covered);
        assert_eq!(by_month(found.owed), [format!("2026-02 {owed}")], "{charges:?} {credits:?}");
    }
}

/// Returns the number of unusual charges since [`SINCE`], and the newest of them as `unit amount`.
fn unusual(ledger: &SqliteLedger, limit: Option<u64>, most: usize) -> (u64, Vec<String>) {
    by_stored(ledger, || {
        let found = unusual::unusual(ledger, parse_ms(SINCE).unwrap(), limit, most);
        let UnusualCharges { count, newest } = block_on(found).unwrap();
        (count, newest.iter().map(|it| format!("{} {}", it.unit, it.amount)).collect())
    })
}

#[test]
fn a_charge_above_100_times_the_median_is_unusual_in_a_shop_with_20_charges() {
    assert_eq!((LEAST_CHARGES, UNUSUAL_TIMES), (20, 100), "the query has both numbers");
    let (usual, large) = ("2026-01-05T00:00:00Z", "2026-01-20T00:00:00Z");
    // The number of usual charges of 1.00, the further charges in cents, and those that are unusual.
    for (count, others, expected) in [
        (19, &[10_001][..], &["a 100.01"][..]),
        (19, &[10_000], &[]),
        (18, &[10_001], &[]),
        (
            11,
            &[20_000, 20_001, 20_002, 20_003, 20_004, 20_005, 20_006, 20_007, 9_999],
            &[
                "a 200.07", "a 200.06", "a 200.05", "a 200.04", "a 200.03", "a 200.02", "a 200.01",
                "a 200.00",
            ],
        ),
        (
            5,
            &[
                20_000, 20_001, 20_002, 20_003, 20_004, 20_005, 20_006, 20_007, 9_999, 9_998,
                9_997, 9_996, 9_995, 9_994, 9_993,
            ],
            &[],
        ),
    ] {
        let ledger = shops();
        charge(&ledger, 1, usual, Some(100), count);
        others.iter().for_each(|cents| charge(&ledger, 1, large, Some(*cents), 1));
        charge(&ledger, 1, "2025-12-31T23:59:59Z", Some(999_999), 3);
        charge(&ledger, 3, usual, Some(100), 20);
        charge(&ledger, 3, large, Some(99_999), 1);
        let (number, found) = unusual(&ledger, None, 50);
        assert_eq!(
            (number, found),
            (expected.len() as u64, expected.iter().map(|&it| it.to_owned()).collect()),
            "{others:?}"
        );
    }
}

#[test]
fn other_unusual_charges_are_above_the_limit_or_too_large_until_their_month_is_paid() {
    let ledger = shops();
    charge(&ledger, 1, "2026-01-05T00:00:00Z", Some(0), 40);
    charge(&ledger, 1, "2026-01-20T00:00:00Z", Some(5_000), 1);
    assert_eq!(unusual(&ledger, None, 50), (0, vec![]), "most transactions are free");
    charge(&ledger, 2, "2026-01-21T00:00:00Z", Some(4_999), 1);
    charge(&ledger, 2, "2026-01-22T00:00:00Z", None, 1);
    let expected = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    let large = "b 1000000000000000000000.00";
    assert_eq!(unusual(&ledger, None, 50), (1, expected(&[large])));
    assert_eq!(unusual(&ledger, Some(5_000), 50), (1, expected(&[large])));
    assert_eq!(unusual(&ledger, Some(4_999), 50), (2, expected(&[large, "a 50.00"])));
    assert_eq!(unusual(&ledger, Some(4_999), 1), (2, expected(&[large])));
    assert_eq!(unusual(&ledger, Some(0), 50).0, 3);
    settle(&ledger, "live:b:2026-01", true);
    assert_eq!(unusual(&ledger, Some(0), 50), (1, expected(&["a 50.00"])));
}

/// Gives a credit of this many cents to each transaction with this charge. `None` stands for a charge that is
/// too large for an integer column, and that is credited in full.
fn credit(ledger: &SqliteLedger, charged: &str, cents: Option<u64>, number: u8) {
    let cents_sql = cents.map_or("NULL, amount".to_owned(), |cents| format!("{cents}, NULL"));
    ledger.sql(&format!(
        "INSERT INTO credits (id, number, operation, mode, unit, order_month, booked_month, currency, charge_cents,
           charge_amount, cents, amount, quantities, reason, change, author, at)
         SELECT id, {number}, id || {number}, 'live', unit, '2026-01', '2026-01', currency, cents, amount, {cents_sql},
           '[]', 'x', 'x', 'x', 0
         FROM transactions JOIN scopes USING (scope) WHERE ifnull(cents, amount) = {charged}"
    ));
}

#[test]
fn what_a_transaction_is_credited_lowers_its_charge() {
    let ledger = shops();
    charge(&ledger, 1, "2026-01-05T00:00:00Z", Some(100), 30);
    charge(&ledger, 1, "2026-01-20T00:00:00Z", Some(50_000), 1);
    charge(&ledger, 1, "2026-01-21T00:00:00Z", Some(60_000), 1);
    charge(&ledger, 2, "2026-01-22T00:00:00Z", None, 1);
    let found = |expected: &[&str]| {
        let texts = expected.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        assert_eq!(unusual(&ledger, None, 50), (expected.len() as u64, texts));
    };
    let large = "b 1000000000000000000000.00";
    found(&[large, "a 600.00", "a 500.00"]);
    credit(&ledger, "50000", Some(0), 1); // only quantities
    found(&[large, "a 600.00", "a 500.00"]);
    credit(&ledger, "50000", Some(39_999), 2);
    found(&[large, "a 600.00", "a 100.01"]);
    credit(&ledger, "50000", Some(1), 3);
    found(&[large, "a 600.00"]);
    credit(&ledger, "60000", Some(60_000), 1);
    credit(&ledger, "'1e21'", None, 1);
    found(&[]);
    assert_eq!(unusual(&ledger, Some(10_000), 50), (0, vec![]));
    assert_eq!(unusual(&ledger, Some(9_999), 50), (1, vec!["a 100.00".to_owned()]));
}

/// Returns the unusual charges by the definition: above 100 times the median, and above the limit.
fn defined(charges: &[(u64, u64)], limit: Option<u64>) -> Vec<u64> {
    let mut sorted: Vec<_> = charges.iter().map(|(_, cents)| *cents).collect();
    sorted.sort_unstable();
    let median = sorted[(sorted.len() - 1) / 2];
    let has_median = sorted.len() as u64 >= LEAST_CHARGES && median > 0;
    let is_unusual = |cents: &u64| {
        has_median && *cents > UNUSUAL_TIMES * median || limit.is_some_and(|limit| *cents > limit)
    };
    sorted.into_iter().filter(is_unusual).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn charges_are_unusual_by_the_median_of_all_days(
        usual in proptest::collection::vec((0_u64..5, prop_oneof![8 => 90_u64..130, 1 => 0_u64..3, 1 => 30_u64..400]), 15..60),
        large in proptest::collection::vec((0_u64..5, 5_000_u64..40_000), 0..6),
        limit in proptest::option::of(4_000_u64..30_000),
    ) {
        let (ledger, charges) = (shops(), [usual, large].concat());
        for (number, (day, cents)) in charges.iter().enumerate() {
            charge(&ledger, 1, &format!("2026-01-{:0>2}T00:00:{:0>2}Z", day + 5, number % 60), Some(*cents), 1);
        }
        let (count, mut found) = unusual(&ledger, limit, 100);
        let text = |cents: u64| format!("a {}.{:0>2}", cents / 100, cents % 100);
        let mut expected: Vec<_> = defined(&charges, limit).into_iter().map(text).collect();
        found.sort();
        expected.sort();
        prop_assert_eq!((count, found), (expected.len() as u64, expected));
    }
}
