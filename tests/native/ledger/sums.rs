//! Tests sums by month and by offering.

use super::{message, months, quantities, receive, sums};
use futures_executor::block_on;
use impact_pledge::office::payments::rows::sums as payments_sums;

use impact_pledge::pledges::scope::Mode;
use num_bigint::BigUint;
use proptest::prelude::*;
use serde_json::json;
use support::ledger::SqliteLedger;

#[test]
fn months_are_those_of_utc() {
    let ledger = SqliteLedger::default();
    let at = |time: &str| json!({ "summary": { "createdAt": time } });
    receive(
        &ledger,
        &[
            message(1, at("2025-12-31T23:59:59.999Z")),
            message(2, at("2026-01-01T00:00:00.000Z")),
            message(3, at("2026-01-31T23:59:59.999Z")),
            message(4, at("2026-02-01T00:00:00.000Z")),
        ],
    );
    assert_eq!(sums(&ledger, &["2026-01"]), ["u live 2026-01 USD 3.00 2 0"]);
    let all = block_on(payments_sums::months_of(&ledger, None, None)).unwrap();
    assert_eq!(all, months(&["2026-02", "2026-01", "2025-12"]));
    assert_eq!(block_on(payments_sums::months_of(&ledger, Some(Mode::Test), None)).unwrap(), []);
}

/// Converts a decimal text to an exact integer, in units of 10^-324.
pub(super) fn exact(text: &str) -> BigUint {
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let digits: BigUint = [whole, fraction].concat().parse().unwrap();
    let power = 324 - fraction.len() as i32 + exponent.parse::<i32>().unwrap();
    digits * BigUint::from(10_u8).pow(u32::try_from(power).unwrap())
}

/// Generates amounts of any size, up to the largest double.
fn amount() -> impl Strategy<Value = f64> {
    prop_oneof![
        1.0..1e6,
        (0_u64..1 << 53).prop_map(|integer| integer as f64),
        (0_u64..0x7FF0_0000_0000_0000).prop_map(f64::from_bits),
        Just(f64::MAX),
        Just(5e-324),
        Just((1_u64 << 53) as f64 + 2.0),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn sums_of_any_amounts_are_exact(amounts in proptest::collection::vec(amount(), 1..40)) {
        let ledger = SqliteLedger::default();
        let messages = amounts.iter().zip(1..).map(|(amount, number)| {
            let text = format!("{amount:e}");
            message(number, json!({ "summary": { "quantities": [["tree", text]] } }))
        });
        receive(&ledger, &messages.collect::<Vec<_>>());
        let expected: BigUint = amounts.iter().map(|amount| exact(&format!("{amount:e}"))).sum();
        let found = quantities(&ledger);
        prop_assert_eq!(found.len(), 1);
        prop_assert_eq!(exact(&found[0].1), expected);
    }

    #[test]
    fn sums_of_any_charges_are_exact(whole in proptest::collection::vec("[0-9]{1,311}", 1..40)) {
        let ledger = SqliteLedger::default();
        let currency = |number: u8| if number.is_multiple_of(3) { "EUR" } else { "USD" };
        let amounts = (1..).zip(&whole).map(|(number, whole)| (number, format!("{whole}.{number:0>2}")));
        let amounts: Vec<(u8, String)> = amounts.collect();
        let messages = amounts.iter().map(|(number, amount)| {
            let summary = json!({ "amount": amount, "currencyCode": currency(*number) });
            message(*number, json!({ "summary": summary }))
        });
        receive(&ledger, &messages.collect::<Vec<_>>());
        for sum in block_on(payments_sums::sums(&ledger, None, None, &months(&["2026-01"]))).unwrap() {
            let own = amounts.iter().filter(|(number, _)| currency(*number) == sum.currency_code);
            let expected: BigUint = own.map(|(_, amount)| exact(amount)).sum();
            prop_assert_eq!(exact(&sum.amount), expected);
        }
    }
}

#[test]
fn offerings_that_begin_alike_are_summed_apart() {
    let ledger = SqliteLedger::default();
    let of = |number, offering: &str| {
        message(number, json!({ "summary": { "quantities": [[offering, 1_500_000]] } }))
    };
    receive(
        &ledger,
        &[of(1, "tree"), of(2, "tree\0"), of(3, "TREE"), of(4, "tree "), of(5, "tree")],
    );
    let found: Vec<_> = quantities(&ledger);
    let expected =
        [("TREE", "1.5", 1), ("tree", "3", 2), ("tree\0", "1.5", 1), ("tree ", "1.5", 1)];
    let mut expected =
        expected.map(|(offering, sum, count)| (offering.to_owned(), sum.to_owned(), count));
    let mut found = found;
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}
