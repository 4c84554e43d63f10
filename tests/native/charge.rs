//! Charges, held to rows and to sums of integers.

use impact_pledge::charge::{Catalogue, UnitPrice};
use impact_pledge::pledge::{Amount, CurrencyCode, Impact};
use proptest::prelude::*;
use std::borrow::Cow;
use support::money::oracle;

fn catalogue(prices: &[(&str, &str)]) -> Catalogue {
    let price = |(offering, price): &(&str, &str)| {
        ((*offering).to_owned(), UnitPrice::parse(price).unwrap())
    };
    Catalogue { unit_prices: prices.iter().map(price).collect(), ..Catalogue::default() }
}

fn impact(amount: f64, offering: &str) -> Impact<'_> {
    Impact { amount: Amount::new(amount).unwrap(), offering_id: Cow::Borrowed(offering) }
}

fn charge(prices: &[(&str, &str)], amounts: &[(f64, &str)]) -> String {
    let impacts: Vec<_> =
        amounts.iter().map(|(amount, offering)| impact(*amount, offering)).collect();
    catalogue(prices).amount(impacts.iter())
}

#[track_caller]
fn row(price: &str, amount: f64, expected: &str) {
    assert_eq!(charge(&[("t", price)], &[(amount, "t")]), expected, "{amount} × {price}");
}

// ---- Rows --------------------------------------------------------------------------------------

#[test]
fn one_pledge() {
    row("0.50", 3.0, "1.50");
    row("0.50", 1.0, "0.50");
    row("1", 1.0, "1.00");
    row("1.25", 2.5, "3.13");
    row("0", 5.0, "0.00");
    row("0.00", 1e308, "0.00");
    row("1000000", 1_000_000.0, "1000000000000.00");
    row("0000.5", 2.0, "1.00");
    row("12.5", 0.8, "10.00");
}

#[test]
fn half_a_cent_goes_away_from_0() {
    row("0.005", 1.0, "0.01");
    row("0.0049999999999999999999999999999999999", 1.0, "0.00");
    row("0.0050000000000000000000000000000000001", 1.0, "0.01");
    row("0.015", 1.0, "0.02");
    row("0.025", 1.0, "0.03");
    row("0.994", 1.0, "0.99");
    row("0.995", 1.0, "1.00");
    row("99.995", 1.0, "100.00");
    row("0.01", 0.5, "0.01");
    row("0.01", 0.49, "0.00");
    row("0.01", 1.5, "0.02");
    row("0.01", 2.5, "0.03");
    // 1.005 is less than 1.005 as a double; its text is not.
    row("1", 1.005, "1.01");
    row("1.005", 1.0, "1.01");
}

#[test]
fn a_sum_is_rounded_once() {
    let third = [("a", "0.004"), ("b", "0.003"), ("c", "0.003")];
    assert_eq!(charge(&third, &[(1.0, "a"), (1.0, "b"), (1.0, "c")]), "0.01");
    assert_eq!(charge(&[("t", "0.001")], &[(1.0, "t"); 5]), "0.01");
    assert_eq!(charge(&[("t", "0.001")], &[(1.0, "t"); 4]), "0.00");
    assert_eq!(charge(&[("t", "1")], &[(0.1, "t"), (0.2, "t")]), "0.30");
    assert_eq!(charge(&[("t", "0.1")], &[(0.1, "t"); 10]), "0.10");
    assert_eq!(charge(&[("t", "1")], &[(0.005, "t"), (1e-300, "t")]), "0.01");
    assert_eq!(charge(&[("t", "1")], &[(1e20, "t"), (0.01, "t")]), "100000000000000000000.01");
}

#[test]
fn any_amount_is_a_plain_decimal() {
    row("1", 1e308, &format!("1{}.00", "0".repeat(308)));
    row("0.50", 1e308, &format!("5{}.00", "0".repeat(307)));
    row("1", f64::MAX, &format!("17976931348623157{}.00", "0".repeat(292)));
    row("9999999999", f64::MAX, &format!("179769313468254638651376843{}.00", "0".repeat(292)));
    row("1", 5e-324, "0.00");
    row("9999999999", 5e-324, "0.00");
    row("1", f64::MIN_POSITIVE, "0.00");
    row("1", 1e21, "1000000000000000000000.00");
    row("1", 1e-7, "0.00");
    row("100000", 1e-7, "0.01");
}

#[test]
fn the_largest_and_the_least_at_once() {
    let sum = charge(&[("t", "1")], &[(f64::MAX, "t"), (5e-324, "t"), (1.0, "t")]);
    assert_eq!(sum, format!("17976931348623157{}1.00", "0".repeat(291)));
}

#[test]
fn what_is_not_listed_costs_nothing() {
    let prices = [("tree", "0.50")];
    assert_eq!(charge(&prices, &[(3.0, "plastic")]), "0.00");
    assert_eq!(charge(&prices, &[(3.0, "plastic"), (1.0, "tree")]), "0.50");
    assert_eq!(charge(&prices, &[(3.0, "Tree"), (3.0, "tree "), (3.0, "")]), "0.00");
    assert_eq!(charge(&[], &[(1e308, "tree")]), "0.00");
    assert_eq!(Catalogue::default().amount([impact(7.0, "tree")].iter()), "0.00");
    assert_eq!(Catalogue::default().currency_code, CurrencyCode::Usd);
}

#[test]
fn an_offering_id_is_any_text() {
    for offering in ["", " ", "\0", "__proto__", "🌳", "a/b", "\u{10ffff}"] {
        assert_eq!(charge(&[(offering, "0.50")], &[(2.0, offering)]), "1.00", "`{offering}`");
    }
}

#[test]
fn a_thousand_pledges() {
    let amounts: Vec<_> = (1..=1_000).map(|n| (f64::from(n), "tree")).collect();
    assert_eq!(charge(&[("tree", "0.50")], &amounts), "250250.00");
    let tenths: Vec<_> = (0..1_000).map(|_| (0.1, "tree")).collect();
    assert_eq!(charge(&[("tree", "0.1")], &tenths), "10.00");
}

#[test]
fn a_price_is_a_plain_decimal() {
    for text in ["0", "0.5", "0.50", "1.25", "007", "0.00000000000000000000000000000000000001"] {
        assert!(UnitPrice::parse(text).is_some(), "`{text}`");
    }
    let long = "1".repeat(41);
    for text in [
        "",
        ".",
        ".5",
        "5.",
        "-1",
        "+1",
        "1e2",
        "1E2",
        "1,50",
        "1.2.3",
        " 1",
        "1 ",
        "1 000",
        "NaN",
        "inf",
        "0x1",
        "½",
        "１",
        "1_000",
        "$1",
        long.as_str(),
    ] {
        assert!(UnitPrice::parse(text).is_none(), "`{text}`");
    }
}

#[test]
fn a_catalogue_that_cannot_be_right_is_refused() {
    for json in [
        r#"{}"#,
        r#"{"currencyCode":"USD"}"#,
        r#"{"unitPrices":{}}"#,
        r#"{"currencyCode":"usd","unitPrices":{}}"#,
        r#"{"currencyCode":"CHF","unitPrices":{}}"#,
        r#"{"currencyCode":"USD","unitPrices":{"t":0.5}}"#,
        r#"{"currencyCode":"USD","unitPrices":{"t":"-1"}}"#,
        r#"{"currencyCode":"USD","unitPrices":{"t":null}}"#,
        r#"{"currencyCode":"USD","unitPrices":[]}"#,
        r#"{"currencyCode":"USD","unitPrices":{},"unitPrices":{}}"#,
        r#"{"currencyCode":"USD","unitPrices":{"t":"1","t":"2"}}"#,
    ] {
        assert!(serde_json::from_str::<Catalogue>(json).is_err(), "`{json}`");
    }
}

/// A release can be rolled back.
#[test]
fn members_of_a_later_release_are_passed_over() {
    let json = r#"{"since":{"a":[1]},"currencyCode":"USD","unitPrices":{"t":"1"},"unitprices":{}}"#;
    assert_eq!(serde_json::from_str::<Catalogue>(json).unwrap(), catalogue(&[("t", "1")]));
}

// ---- Integers as the oracle --------------------------------------------------------------------

fn amount() -> impl Strategy<Value = f64> {
    let any = any::<u64>().prop_map(|bits| f64::from_bits(bits & (u64::MAX >> 1)));
    prop_oneof![
        (1..10_000_u32).prop_map(f64::from),
        (1..100_000_u32).prop_map(|cents| f64::from(cents) / 100.0),
        (1..100_000_u32).prop_map(|mils| f64::from(mils) / 1_000.0),
        any,
        proptest::sample::select(vec![5e-324, 1e308, f64::MAX, 0.1, 0.005, 0.015, 1e-7, 1e21]),
    ]
    .prop_filter("finite and above 0", |amount| Amount::new(*amount).is_some())
}

fn price() -> impl Strategy<Value = String> {
    prop_oneof![
        "[0-9]{1,3}\\.[0-9]{2}",
        "[0-9]{1,2}\\.[0-9]{3}",
        "[0-9]{1,20}(\\.[0-9]{1,19})?",
        "0"
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn integers_give_the_same_sum(
        pledges in proptest::collection::vec((amount(), price()), 1..12),
    ) {
        let names: Vec<_> = (0..pledges.len()).map(|index| index.to_string()).collect();
        let prices: Vec<_> = names.iter().zip(&pledges).map(|(n, (_, price))| (&**n, &**price)).collect();
        let amounts: Vec<_> = names.iter().zip(&pledges).map(|(n, (amount, _))| (*amount, &**n)).collect();
        let sum = charge(&prices, &amounts);
        prop_assert_eq!(&sum, &oracle(&pledges));
        let (whole, fraction) = sum.split_once('.').unwrap();
        prop_assert!(fraction.len() == 2 && fraction.bytes().all(|byte| byte.is_ascii_digit()));
        prop_assert!(whole == "0" || !whole.starts_with('0'), "`{}`", sum);
        prop_assert!(!whole.is_empty() && whole.bytes().all(|byte| byte.is_ascii_digit()));
    }

    #[test]
    fn the_order_of_pledges_does_not_matter(
        mut amounts in proptest::collection::vec(amount(), 1..12),
    ) {
        let sum = |amounts: &[f64]| {
            let amounts: Vec<_> = amounts.iter().map(|amount| (*amount, "t")).collect();
            charge(&[("t", "0.105")], &amounts)
        };
        let forwards = sum(&amounts);
        amounts.reverse();
        prop_assert_eq!(forwards, sum(&amounts));
    }
}
