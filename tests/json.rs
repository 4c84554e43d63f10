//! The JSON that the service writes and reads itself, held to serde_json; and its numbers, held to
//! the standard library's.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected should panic")]

use impact_pledge::json::{Encode as _, Value};
use impact_pledge::pledge::Amount;
use proptest::prelude::*;
use serde_json::Value as Oracle;

/// The same tree as serde_json has it; a number by its text.
fn oracle(value: Value<'_>) -> Oracle {
    match value {
        Value::Null => Oracle::Null,
        Value::Bool(value) => Oracle::Bool(value),
        Value::Number(text) => serde_json::from_str(text).unwrap(),
        Value::Text(text) => Oracle::String(text.into_owned()),
        Value::Array(items) => Oracle::Array(items.into_iter().map(oracle).collect()),
        Value::Object(members) => Oracle::Object(
            members.into_iter().map(|(name, value)| (name.into_owned(), oracle(value))).collect(),
        ),
    }
}

#[track_caller]
fn reads_alike(json: &[u8]) {
    let shown = String::from_utf8_lossy(json);
    let expected = serde_json::from_slice::<Oracle>(json).ok();
    assert_eq!(Value::parse(json).ok().map(oracle), expected, "`{shown}`");
}

#[test]
fn json_is_read_and_all_else_is_refused() {
    for json in [
        "null",
        "true",
        "false",
        "0",
        "-0.5e-3",
        "\"\"",
        "[]",
        "{}",
        " [ 1 , {\"a\" : [ ] } ] ",
        r#"{"a":{"b":[null,true,"\u0041\ud83c\udf33\n"]}}"#,
        "",
        " ",
        "nul",
        "nulls",
        "tru",
        "+1",
        "01",
        "1.",
        ".5",
        "1e",
        "\"",
        "\"\\x\"",
        "\"\\ud800\"",
        "\"\n\"",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[",
        "]",
        "{",
        "{\"a\"}",
        "{\"a\":}",
        "{a:1}",
        "{\"a\":1,}",
        "1 2",
        "{}{}",
        "'a'",
        "NaN",
    ] {
        reads_alike(json.as_bytes());
    }
    reads_alike(b"\"\xff\"");
    reads_alike(b"\"\xed\xa0\x80\"");
}

#[test]
fn nesting_has_an_end() {
    let nested = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat();
    assert!(Value::parse(nested(100).as_bytes()).is_ok());
    assert!(Value::parse(nested(1_000_000).as_bytes()).is_err());
}

/// Every byte, at every place within and beyond the eight that are looked at together.
#[test]
fn every_character_is_written_as_serde_json_does() {
    for char in (0..0x300).chain([0x7ff, 0x800, 0x2028, 0xfffd, 0xffff, 0x1f333]) {
        let char = char::from_u32(char).unwrap();
        for place in 0..20 {
            let text = ["a".repeat(place), char.to_string(), "z".repeat(19 - place)].concat();
            assert_eq!(text.to_json(), serde_json::to_vec(&text).unwrap(), "{text:?}");
        }
    }
}

// ---- Numbers -----------------------------------------------------------------------------------

#[track_caller]
fn double(text: &str) {
    let expected = text.parse().ok().and_then(Amount::new);
    let shown = text.get(..40).unwrap_or(text);
    assert_eq!(Amount::parse(text), expected, "`{shown}`");
}

#[test]
fn a_number_is_the_nearest_double() {
    for text in [
        "1",
        "0.1",
        "0.5",
        "3.14",
        "1e22",
        "1e23",
        "9007199254740992",
        "9007199254740993",
        "9007199254740994",
        "9007199254740995",
        "9007199254740993.0000000000000000000000000001",
        "18446744073709551616",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1.8e308",
        "1e309",
        "1e400",
        "1e99999999999999999999",
        "5e-324",
        "4.9e-324",
        "3e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2e-324",
        "1e-400",
        "1e-99999999999999999999",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "2.225073858507201136057409796709131975934819546351645648023426109724822222021e-308",
        "0",
        "0.0",
        "0e400",
        "0e-400",
        "0e99999999999999999999",
        "00012.5",
        "1E5",
        "1e+5",
        "1e-5",
        "123456789012345678901234567890",
        "0.000000000000000000000000000001234567890123456789",
        "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000011102230246251565404236316680908203124",
        "1.00000000000000011102230246251565404236316680908203126",
        "8.41e21",
        "9.5e-7",
        "6.02214076e23",
        "1e-22",
        "1e-23",
        "123e-25",
        "4503599627370497.5",
    ] {
        double(text);
    }
    for text in ["", "-1", "-", ".", "e5", "1e", "1e+", "x", "1x", "1e5x", "1.2.3", "inf", "NaN"] {
        assert_eq!(Amount::parse(text), None, "`{text}`");
    }
}

/// The middle between two doubles, written out in full, and what is a little more or less.
#[test]
fn digits_far_behind_decide() {
    // 2^-1074 and its half, to the last of their 751 and 752 decimals.
    let least = num_bigint::BigUint::from(5_u8).pow(1_074);
    let half = num_bigint::BigUint::from(5_u8).pow(1_075);
    for (digits, exponent) in [(least.to_string(), -1_074), (half.to_string(), -1_075)] {
        for more in [
            "",
            "0",
            "1",
            "0000000000000000000000001",
            &"0".repeat(2_000),
            &("0".repeat(2_000) + "1"),
        ] {
            double(&format!("{digits}{more}e{}", exponent - more.len() as i32));
        }
    }
    double(&format!("0.{}1", "0".repeat(400)));
    double(&format!("0.{}1e400", "0".repeat(400)));
    double(&format!("1{}e-2000", "0".repeat(2_000)));
    double(&format!("1.{}1", "0".repeat(100_000)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_text_is_written_as_serde_json_does(text in any::<String>()) {
        prop_assert_eq!(text.to_json(), serde_json::to_vec(&text).unwrap());
    }

    #[test]
    fn any_amount_is_written_as_serde_json_does(bits in any::<u64>()) {
        if let Some(amount) = Amount::new(f64::from_bits(bits & (u64::MAX >> 1))) {
            prop_assert_eq!(amount.to_json(), serde_json::to_vec(&amount).unwrap());
            double(&String::from_utf8(amount.to_json()).unwrap());
        }
    }

    #[test]
    fn any_number_is_the_nearest_double(text in "[0-9]{1,30}(\\.[0-9]{1,30})?(e-?[0-9]{1,3})?") {
        double(&text);
    }

    /// Just at, above and below the middle between a double and the next.
    #[test]
    fn middles_go_to_the_even_double(bits in 1..0x7fef_ffff_ffff_ffff_u64, more in "(0{0,9}1)?") {
        let (low, high) = (f64::from_bits(bits), f64::from_bits(bits + 1));
        let digits = |value: f64| -> num_bigint::BigUint {
            format!("{value:.1100}").replace('.', "").parse().unwrap()
        };
        let middle = format!("{}e-1101", (digits(low) + digits(high)) * 5_u8);
        prop_assert_eq!(middle.parse::<f64>().unwrap().to_bits() & 1, 0);
        let exponent = -1_101 - more.len() as i32;
        double(&middle.replace("e-1101", &format!("{more}e{exponent}")));
        double(&format!("{low:e}"));
        double(&format!("{high}"));
    }
}
