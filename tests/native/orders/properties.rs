//! Properties of refunds: whatever comes in which order, no more is credited than was pledged.

use impact_pledge::pledges::decimal::Decimal;
use impact_pledge::pledges::orders::{Order, OrderSettings, Refund, Refunded, freeze, pledge};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn decimal(text: &str) -> Decimal {
    Decimal::parse(text).unwrap().trimmed()
}

/// An order with a total of `cents`, and lines with these quantities.
fn order(cents: u64, quantities: &[u32]) -> Order {
    let lines: Vec<_> = quantities
        .iter()
        .enumerate()
        .map(|(id, quantity)| json!({ "id": id.to_string(), "sku": format!("S{}", id % 2), "quantity": quantity.to_string() }))
        .collect();
    let text = Decimal::from_units(cents, 2).to_exact();
    let sum = json!({ "withTax": text, "withoutTax": text });
    let order = json!({
        "id": "1", "number": "1", "currency": "EUR", "email": "a@b", "status": "paid", "payment": "paid",
        "sums": { "total": text, "goods": sum, "discounted": sum }, "lines": lines, "attributes": [["trees", "3"]]
    });
    serde_json::from_value(order).unwrap()
}

fn settings() -> impl Strategy<Value = OrderSettings> {
    let sum = json!({ "currency": "EUR" });
    let from = json!({ "currency": "EUR", "from": "20" });
    let rules = vec![
        json!({ "offeringId": "a", "basis": { "order": { "amount": "1" } } }),
        json!({ "offeringId": "a", "basis": { "item": { "amount": "0.4" } }, "fractions": 1 }),
        json!({ "offeringId": "b", "basis": { "item": { "amount": "2", "skus": ["S1"] } }, "sum": from, "cap": 9 }),
        json!({ "offeringId": "b", "basis": { "sum": { "every": "7.50", "amount": "1.5" } }, "sum": sum }),
        json!({ "offeringId": "c", "basis": { "percent": { "percent": "1.5", "price": "0.3" } }, "sum": from, "fractions": 2 }),
        json!({ "offeringId": "c", "basis": { "choice": { "attribute": "trees" } } }),
    ];
    let some = proptest::sample::subsequence(rules, 1..=6);
    some.prop_map(|rules| OrderSettings::parse(&json!({ "rules": rules }).to_string()).unwrap())
}

fn refunds() -> impl Strategy<Value = Vec<Refund>> {
    let refund =
        (0..4_u8, prop::option::of(0..6_000_u64), prop::collection::vec((0..4_u8, 0..4_u64), 0..3));
    let refund = refund.prop_map(|(id, cents, lines)| Refund {
        id: id.to_string(),
        lines: lines
            .into_iter()
            .map(|(line, quantity)| (line.to_string(), Decimal::from_units(quantity, 0)))
            .collect(),
        sum: cents.map(|cents| Decimal::from_units(cents, 2)),
        currency: None,
        is_whole: false,
    });
    prop::collection::vec(refund, 0..6)
}

/// Returns the credits by offering.
fn credits(pledged: &[(String, Decimal)], refunded: Refunded) -> BTreeMap<String, Decimal> {
    match refunded {
        Refunded::Nothing => BTreeMap::new(),
        Refunded::Part(credits) => credits.into_iter().collect(),
        Refunded::Whole => pledged.iter().cloned().collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..Default::default() })]

    #[test]
    fn no_refunds_credit_more_than_was_pledged(
        cents in 0..20_000_u64,
        quantities in prop::collection::vec(0..4_u32, 0..4),
        settings in settings(),
        refunds in refunds(),
    ) {
        let order = order(cents, &quantities);
        let mut frozen = freeze(&order, &settings, String::new());
        let pledged: BTreeMap<String, Decimal> = frozen.pledged.iter().cloned().collect();
        if let Ok(pledge) = pledge(&order, &settings, true) {
            prop_assert_eq!(&pledge.quantities, &frozen.pledged);
        }
        let mut before = BTreeMap::new();
        for refund in &refunds {
            frozen.merge(std::slice::from_ref(refund));
            let credits = credits(&frozen.pledged, frozen.refunded());
            for (offering, credit) in &credits {
                let rest = pledged[offering].minus(credit); // credited + remaining = pledged
                prop_assert!(rest.is_some(), "{} of {}", credit.to_exact(), offering);
                prop_assert_eq!(rest.unwrap().plus(credit).trimmed(), pledged[offering].clone());
            }
            for (offering, credit) in &before {
                let now: Option<&Decimal> = credits.get(offering);
                prop_assert!(now.is_some_and(|now| now.is_at_least(credit)), "a credit became smaller");
            }
            before = credits;
        }
        // The same events in another order, and each of them twice, credit the same.
        let mut other = freeze(&order, &settings, String::new());
        for refund in refunds.iter().rev().chain(&refunds) {
            other.merge(std::slice::from_ref(refund));
        }
        prop_assert_eq!(other.refunded(), frozen.refunded());
        let whole = Refund { id: "whole".to_owned(), is_whole: true, ..Refund::default() };
        other.merge(&[whole]);
        prop_assert_eq!(other.refunded(), Refunded::Whole);
    }

    #[test]
    fn quotients_are_exact(dividend in 0..1_000_000_000_u64, divisor in 1..100_000_u64, places in 0..6) {
        let scaled = Decimal::from_units(divisor, places);
        let expected = u128::from(dividend) * 10_u128.pow(places as u32) / u128::from(divisor);
        prop_assert_eq!(u128::from(Decimal::from_units(dividend, 0).quotient(&scaled)), expected);
    }
}

#[test]
fn quotients_of_unusual_decimals() {
    let most = (1 << 53) - 1;
    let rows = [
        ("0", "1", 0),
        ("1", "0", most),
        ("0", "0", most),
        ("1e40", "1", most),
        ("0.3", "0.1", 3),
        ("2.99", "1", 2),
        ("1e-7", "1", 0),
        ("9007199254740991", "1", most),
    ];
    for (dividend, divisor, expected) in rows {
        assert_eq!(
            decimal(dividend).quotient(&decimal(divisor)),
            expected,
            "{dividend} / {divisor}"
        );
    }
    let json: Value = json!([decimal("12.50"), decimal("0.00")]);
    assert_eq!(json, json!(["12.5", "0"]));
}
