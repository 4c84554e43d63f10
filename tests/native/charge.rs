//! Tests charges against a table of examples, and against exact sums in integers.

use impact_pledge::pledges::charge::{PriceList, UnitPrice};
use impact_pledge::pledges::types::{Amount, CurrencyCode, Impact};
use proptest::prelude::*;
use std::borrow::Cow;
use support::money::oracle;

fn price_list(prices: &[(&str, &str)]) -> PriceList {
    let price = |(offering, price): &(&str, &str)| {
        ((*offering).to_owned(), UnitPrice::parse(price).unwrap())
    };
    PriceList { unit_prices: prices.iter().map(price).collect(), ..PriceList::default() }
}

fn impact(amount: f64, offering: &str) -> Impact<'_> {
    Impact { amount: Amount::new(amount).unwrap(), offering_id: Cow::Borrowed(offering) }
}

fn charge(prices: &[(&str, &str)], amounts: &[(f64, &str)]) -> String {
    let impacts: Vec<_> =
        amounts.iter().map(|(amount, offering)| impact(*amount, offering)).collect();
    price_list(prices).amount(impacts.iter())
}

// ---- Rows --------------------------------------------------------------------------------------

#[test]
fn a_product_is_rounded_to_cents_half_away_from_0() {
    let zeros = |digits: &str, zeros: usize| format!("{digits}{}.00", "0".repeat(zeros));
    for (price, amount, expected) in [
        ("0.50", 3.0, "1.50"),
        ("1", 1.0, "1.00"),
        ("1.25", 2.5, "3.13"),
        ("0000.5", 2.0, "1.00"),
        ("0.005", 1.0, "0.01"),
        ("0.0049999999999999999999999999999999999", 1.0, "0.00"),
        ("0.0050000000000000000000000000000000001", 1.0, "0.01"),
        ("0.025", 1.0, "0.03"),
        ("99.995", 1.0, "100.00"),
        ("0.01", 0.49, "0.00"),
        // As a double, 1.005 is a little less than 1.005. The text is exact.
        ("1", 1.005, "1.01"),
        ("0.00", 1e308, "0.00"),
        ("0.50", 1e308, &zeros("5", 307)),
        ("9999999999", f64::MAX, &zeros("179769313468254638651376843", 292)),
        ("9999999999", 5e-324, "0.00"),
        ("1", f64::MIN_POSITIVE, "0.00"),
        ("100000", 1e-7, "0.01"),
    ] {
        assert_eq!(charge(&[("t", price)], &[(amount, "t")]), expected, "{amount} × {price}");
    }
}

#[test]
fn a_sum_is_rounded_once() {
    let third = [("a", "0.004"), ("b", "0.003"), ("c", "0.003")];
    assert_eq!(charge(&third, &[(1.0, "a"), (1.0, "b"), (1.0, "c")]), "0.01");
    let extremes = format!("17976931348623157{}1.00", "0".repeat(291));
    for (price, amounts, expected) in [
        ("0.001", &[1.0; 5][..], "0.01"),
        ("0.001", &[1.0; 4], "0.00"),
        ("1", &[0.1, 0.2], "0.30"),
        ("0.1", &[0.1; 1_000], "10.00"),
        ("1", &[0.005, 1e-300], "0.01"),
        ("1", &[1e20, 0.01], "100000000000000000000.01"),
        ("1", &[f64::MAX, 5e-324, 1.0], &extremes),
    ] {
        let amounts: Vec<_> = amounts.iter().map(|amount| (*amount, "t")).collect();
        assert_eq!(charge(&[("t", price)], &amounts), expected, "{price}: {:.3?}", amounts[0]);
    }
}

#[test]
fn an_unpriced_offering_costs_nothing() {
    let prices = [("tree", "0.50")];
    assert_eq!(charge(&prices, &[(3.0, "plastic"), (1.0, "tree")]), "0.50");
    assert_eq!(charge(&prices, &[(3.0, "Tree"), (3.0, "tree "), (3.0, "")]), "0.00");
    assert_eq!(charge(&[], &[(1e308, "tree")]), "0.00");
    assert_eq!(PriceList::default().currency_code, CurrencyCode::Usd);
}

#[test]
fn a_price_list_that_cannot_be_right_is_refused() {
    for json in [
        r#"{"currencyCode":"USD"}"#,
        r#"{"unitPrices":{}}"#,
        r#"{"currencyCode":"usd","unitPrices":{}}"#,
        r#"{"currencyCode":"USD","unitPrices":{"t":0.5}}"#,
        r#"{"currencyCode":"USD","unitPrices":{"t":"-1"}}"#,
        r#"{"currencyCode":"USD","unitPrices":{},"unitPrices":{}}"#,
        r#"{"currencyCode":"USD","unitPrices":{"t":"1","t":"2"}}"#,
    ] {
        assert!(serde_json::from_str::<PriceList>(json).is_err(), "`{json}`");
    }
}

/// This release can read a price list of a later release, so that an operator can roll back to this release.
#[test]
fn members_of_a_later_release_are_passed_over() {
    let json = r#"{"since":{"a":[1]},"currencyCode":"USD","unitPrices":{"t":"1"},"unitprices":{}}"#;
    assert_eq!(serde_json::from_str::<PriceList>(json).unwrap(), price_list(&[("t", "1")]));
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
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..Default::default() })]

    #[test]
    fn integers_give_the_same_sum(
        pledges in proptest::collection::vec((amount(), price()), 1..12),
    ) {
        let names: Vec<_> = (0..pledges.len()).map(|index| index.to_string()).collect();
        let prices: Vec<_> = names.iter().zip(&pledges).map(|(n, (_, price))| (&**n, &**price)).collect();
        let amounts: Vec<_> = names.iter().zip(&pledges).map(|(n, (amount, _))| (*amount, &**n)).collect();
        prop_assert_eq!(charge(&prices, &amounts), oracle(&pledges));
    }
}
