//! Tests quantities by offering against a table of examples, and against exact sums in integers.

use impact_pledge::pledges::api::{MAX_RECORD_BYTES, MIN_PLEDGE_BYTES};
use impact_pledge::pledges::decimal::{Decimal, MAX_UNITS};
use impact_pledge::pledges::quantities::{MAX_MESSAGE_BYTES, Quantities, Quantity};
use impact_pledge::pledges::types::{Amount, Impact};
use num_bigint::BigUint;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use support::money::decimal;

fn impact(amount: f64, offering: &str) -> Impact<'_> {
    Impact { amount: Amount::new(amount).unwrap(), offering_id: Cow::Borrowed(offering) }
}

fn of(amounts: &[(f64, &str)], max_bytes: usize) -> Option<Quantities> {
    let impacts: Vec<_> =
        amounts.iter().map(|(amount, offering)| impact(*amount, offering)).collect();
    Quantities::of(impacts.iter(), max_bytes)
}

fn sums(amounts: &[(f64, &str)]) -> Value {
    json!(of(amounts, usize::MAX).unwrap())
}

fn read(json: &str) -> serde_json::Result<Quantities> {
    serde_json::from_str(json)
}

// ---- Rows ----------------------------------------------------------------------------------------

#[test]
fn an_offerings_amounts_are_summed_exactly() {
    for (amounts, expected) in [
        (&[3.0][..], json!(3_000_000)),
        (&[0.000_001], json!(1)),
        (&[1e-7], json!("1e-7")),
        (&[5e-7, 5e-7], json!(1)),
        (&[0.1, 0.2], json!(300_000)),
        (&[0.1; 1_000], json!(100_000_000)),
        (&[1.005], json!(1_005_000)), // as a double less than 1.005; the text is exact
        (&[9_007_199_254.0], json!(9_007_199_254_000_000_u64)),
        (&[9_007_199_254.0, 0.740_991], json!(9_007_199_254_740_991_u64)),
        (&[9_007_199_254.0, 0.740_992], json!("9007199254740992e-6")),
        (&[9_007_199_254_740_993.0], json!("9007199254740992e0")),
        (&[9_007_199_254_740_992.0, 1.0], json!("9007199254740993e0")),
        (&[1e15, 1e-7], json!("10000000000000000000001e-7")),
        (&[1e20], json!("1e20")),
        (&[1e21], json!("1e21")),
        (&[1.5e308], json!("15e307")),
        (&[1e-21], json!("1e-21")),
        (&[1e-22], json!("1e-22")),
        (&[5e-324], json!("5e-324")),
        (&[5e-324, 5e-324], json!("1e-323")),
        (&[f64::MAX, f64::MAX], json!("35953862697246314e292")),
    ] {
        let amounts: Vec<_> = amounts.iter().map(|amount| (*amount, "tree")).collect();
        assert_eq!(sums(&amounts), json!([["tree", expected]]), "{:?}", amounts[0]);
    }
    let wide = sums(&[(1e308, "tree"), (5e-324, "tree")]);
    let text = wide[0][1].as_str().unwrap();
    assert_eq!(text, format!("1{}5e-324", "0".repeat(631)));
    assert_eq!(json!(read(&wide.to_string()).unwrap()), wide);
}

#[test]
fn offerings_are_sorted_and_stand_once() {
    let amounts = [(1.0, "tree"), (2.0, ""), (0.5, "tree"), (1.0, "\u{e9}"), (1.0, "Tree")];
    let expected =
        json!([["", 2_000_000], ["Tree", 1_000_000], ["tree", 1_500_000], ["\u{e9}", 1_000_000]]);
    assert_eq!(sums(&amounts), expected);
    let quantities = of(&amounts, usize::MAX).unwrap();
    let decimals: Vec<_> = quantities
        .iter()
        .map(|(offering, quantity)| format!("{offering} {}", quantity.decimal().to_exact()))
        .collect();
    assert_eq!(decimals, [" 2", "Tree 1", "tree 1.5", "\u{e9} 1"]);
}

#[test]
fn quantities_above_the_limit_of_bytes_are_left_out() {
    let amounts = [(1.0, "tree"), (1e-7, "\u{0}\"\u{e9}"), (2.0, "x")];
    let bytes = sums(&amounts).to_string().len();
    assert!(of(&amounts, bytes).is_some());
    assert!(of(&amounts, bytes - 1).is_none());
    assert_eq!(of(&[], 2), Some(read("[]").unwrap()));
}

/// Sums extreme amounts, in far more pledges than a record can hold.
#[test]
fn hostile_pledges_take_neither_memory_nor_time() {
    let mixed = [1e308, 5e-324, 9_007_199_254_740_993.0, 0.1, 3.0];
    let same: Vec<_> = (0..200_000).map(|index| (mixed[index % mixed.len()], "tree")).collect();
    assert_eq!(sums(&same)[0][1].as_str().unwrap().len(), 313 + 319 + "e-319".len());
    let names: Vec<_> = (0..100_000).rev().map(|index| index.to_string()).collect();
    let each: Vec<_> = names.iter().flat_map(|name| [(1e308, &**name), (5e-324, name)]).collect();
    assert_eq!(of(&each, MAX_MESSAGE_BYTES), None);
    let whole: Vec<_> = names.iter().map(|name| (3.0, &**name)).collect();
    assert_eq!(sums(&whole).as_array().unwrap().len(), 100_000);
}

// ---- What is read --------------------------------------------------------------------------------

#[test]
fn quantities_of_other_programs_are_normalised() {
    let same = |json: &str, expected: Value| assert_eq!(json!(read(json).unwrap()), expected);
    same(r#"[["b",1],["a",2]]"#, json!([["a", 2], ["b", 1]]));
    same(r#"[["a","0003.50"]]"#, json!([["a", 3_500_000]]));
    same(r#"[["a","1E3"]]"#, json!([["a", 1_000_000_000]]));
    same(r#"[["a","0.00"],["b",0]]"#, json!([["a", 0], ["b", 0]]));
    same(r#"[["a",9007199254740991]]"#, json!([["a", MAX_UNITS]]));
    same(r#"[["a","9007199254.740992"]]"#, json!([["a", "9007199254740992e-6"]]));
    assert_eq!(read(r#"[["a","1e309"]]"#).unwrap(), read(r#"[["a","10e308"]]"#).unwrap());
}

#[test]
fn invalid_quantities_are_refused_and_not_quoted() {
    let digits = "9".repeat(1_001);
    let long = format!(r#"[["a","{digits}"]]"#);
    for json in [
        "null",
        "{}",
        r#"["a",1]"#,
        r#"[["a"]]"#,
        r#"[["a",1,2]]"#,
        r#"[[1,"a"]]"#,
        r#"[["a",-1]]"#,
        r#"[["a",1.5]]"#,
        r#"[["a",1e3]]"#,
        r#"[["a",9007199254740992]]"#,
        r#"[["a",18446744073709551616]]"#,
        r#"[["a",null]]"#,
        r#"[["a","-1"]]"#,
        r#"[["a","+1"]]"#,
        r#"[["a",""]]"#,
        r#"[["a","."]]"#,
        r#"[["a","canary"]]"#,
        r#"[["a","NaN"]]"#,
        r#"[["a"," 1"]]"#,
        r#"[["a","1e"]]"#,
        r#"[["a","1e2147483647"]]"#,
        r#"[["a","1e-2147483648"]]"#,
        r#"[["a","1e99999999999"]]"#,
        r#"[["a","1e1001"]]"#,
        r#"[["a",1],["a",2]]"#,
        r#"[["a",1],["b",1],["a",2]]"#,
        &long,
    ] {
        let error = read(json).unwrap_err().to_string();
        assert!(!error.contains("canary") && error.len() < 200, "{json}: {error}");
    }
}

#[test]
fn all_offerings_of_a_record_are_read_and_not_many_more() {
    let list = |count: usize| {
        let pairs: Vec<_> = (0..count).map(|index| json!([index.to_string(), 1])).collect();
        json!(pairs).to_string()
    };
    assert!(read(&list(MAX_RECORD_BYTES / MIN_PLEDGE_BYTES)).is_ok());
    assert!(read(&list(25_000)).is_err());
}

// ---- Units ---------------------------------------------------------------------------------------

#[test]
fn money_is_a_number_of_cents_where_that_is_exact() {
    let cents = |text: &str| Decimal::parse(text).unwrap().units(2);
    assert_eq!(cents("12.50"), Some(1_250));
    assert_eq!(cents("0.00"), Some(0));
    assert_eq!(cents("0.005"), None);
    assert_eq!(cents("90071992547409.91"), Some(MAX_UNITS));
    assert_eq!(cents("90071992547409.92"), None);
    assert_eq!(cents("184467440737095516.16"), None);
    assert_eq!(cents(&format!("1{}.00", "0".repeat(350))), None);
    assert_eq!(cents("1e2147483647"), None);
    assert_eq!(cents("0e2147483647"), Some(0));
}

// ---- Integers as the oracle ----------------------------------------------------------------------

/// The number of decimal places that suffices for every double and every text in these tests.
const SCALE: u32 = 400;

fn scaled(text: &str) -> BigUint {
    let (integer, decimals) = decimal(text);
    integer * BigUint::from(10_u8).pow(SCALE - decimals)
}

fn amount() -> impl Strategy<Value = f64> {
    prop_oneof![
        (1..10_000_u32).prop_map(f64::from),
        (1..1_000_000_000_u32).prop_map(|nanos| f64::from(nanos) / 1e9),
        any::<u64>().prop_map(|integer| integer as f64),
        any::<u64>().prop_map(|bits| f64::from_bits(bits & (u64::MAX >> 1))),
        proptest::sample::select(vec![5e-324, 1e308, f64::MAX, 9_007_199_254.0, 1e-6, 5e-7]),
    ]
    .prop_filter("finite and above 0", |amount| Amount::new(*amount).is_some())
}

fn digits() -> impl Strategy<Value = String> {
    prop_oneof!["[0-9]{1,30}(\\.[0-9]{1,30})?", "[0-9]{1,9}e-?[0-9]{1,2}"]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..Default::default() })]

    #[test]
    fn integers_give_the_same_sums(pledges in proptest::collection::vec((amount(), "[ab\"\\\\\u{1}\u{8}\n\u{7f}\u{2028}]{0,2}"), 1..12)) {
        let mut expected = BTreeMap::<_, BigUint>::new();
        for (amount, offering) in &pledges {
            *expected.entry(&**offering).or_default() += scaled(&json!(amount).to_string());
        }
        let amounts: Vec<_> = pledges.iter().map(|(amount, offering)| (*amount, &**offering)).collect();
        let quantities = of(&amounts, usize::MAX).unwrap();
        for (offering, quantity) in quantities.iter() {
            let sum = expected.remove(offering).unwrap();
            let millionths = &sum / BigUint::from(10_u8).pow(SCALE - 6);
            let is_whole = &millionths * BigUint::from(10_u8).pow(SCALE - 6) == sum;
            let is_integer = is_whole && millionths <= BigUint::from(MAX_UNITS);
            prop_assert_eq!(matches!(quantity, Quantity::Millionths(_)), is_integer);
            prop_assert_eq!(scaled(&quantity.decimal().to_exact()), sum);
        }
        prop_assert!(expected.is_empty());
        let written = json!(quantities).to_string();
        prop_assert_eq!(read(&written).unwrap(), quantities);
        prop_assert_eq!(of(&amounts, written.len()), Some(read(&written).unwrap()));
        prop_assert_eq!(of(&amounts, written.len() - 1), None);
    }

    #[test]
    fn a_decimal_is_the_same_written_trimmed_and_in_units(text in digits(), places in 0..9_i32) {
        let read = Decimal::parse(&text).unwrap();
        let (value, one) = (scaled(&text), BigUint::from(10_u8).pow(SCALE - places as u32));
        prop_assert_eq!(scaled(&read.to_exact()), value.clone());
        prop_assert_eq!(Decimal::parse(&read.to_exact()).unwrap().trimmed(), read.trimmed());
        let units = &value / &one;
        let is_whole = &units * &one == value && units <= BigUint::from(MAX_UNITS);
        let expected = is_whole.then(|| u64::try_from(units).unwrap());
        prop_assert_eq!(read.units(places), expected);
        if let Some(units) = expected {
            prop_assert_eq!(Decimal::from_units(units, places).trimmed(), read.trimmed());
        }
    }

    #[test]
    fn integers_give_the_same_sum_of_texts(texts in proptest::collection::vec(digits(), 0..12)) {
        let sum = Decimal::sum(texts.iter().map(|text| Decimal::parse_bounded(text).unwrap()));
        prop_assert_eq!(scaled(&sum.to_exact()), texts.iter().map(|text| scaled(text)).sum());
    }
}
