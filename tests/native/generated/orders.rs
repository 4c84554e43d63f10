//! Generates what the repository has from the tables of shop systems and of a connection's settings.

use super::{FROM, is_current, orders_table};
use impact_pledge::pledges::orders::signature::{MAX_SIGNATURES, Refusal, WINDOW_MS};
use impact_pledge::pledges::orders::table::{
    MAX_ATTRIBUTES, MAX_DIGITS, MAX_ID, MAX_LINES, MAX_PLACES, MAX_TEXT, NO_PLACES, THREE_PLACES,
};
use impact_pledge::pledges::orders::{ReadError, System, json_schema};
use serde_json::{Value, json};
use std::fmt::Write as _;
use strum::VariantArray as _;

/// Operators and editors read this schema. Its members are sorted.
#[test]
fn the_schema_of_a_connection_is_current() {
    let schema: Value = serde_json::from_str(&json_schema()).unwrap();
    let text = serde_json::to_string_pretty(&schema).unwrap();
    is_current("../docs/connection.schema.json", &[&text, "\n"].concat());
}

#[test]
fn the_tables_of_shop_systems_are_current() {
    let from = FROM.replace("src/pledges/schema.rs", "src/pledges/orders");
    let mut ts = format!("// {from}.\n\n");
    let numbers = [
        ("MAX_LINES", MAX_LINES),
        ("MAX_ATTRIBUTES", MAX_ATTRIBUTES),
        ("MAX_SIGNATURES", MAX_SIGNATURES),
        ("WINDOW_MS", WINDOW_MS as usize),
    ];
    for (name, number) in numbers {
        writeln!(ts, "export const {name} = {number};").unwrap();
    }
    let quoted = |texts: Vec<&str>| {
        texts.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(", ")
    };
    let names = quoted(orders_table::SYSTEMS.map(System::name).to_vec());
    let headers = orders_table::SYSTEMS.into_iter().filter_map(System::signature_header);
    let headers = quoted(headers.collect());
    let (currencies, no_places) = currencies();
    ts += &format!(
        "
/** The codes of the currencies without decimal places at Stripe, then of those with three. */
export const CURRENCIES = \"{currencies}\";
/** The length of the codes of those without decimal places. */
export const NO_PLACES = {no_places};

export const SYSTEMS = [{names}] as const;

/** The headers with the signatures of these systems. The first two also sign the time. */
export const HEADERS = [{headers}] as const;

export const TABLE = `{}`;
",
        orders_table::text()
    );
    assert!(System::VARIANTS.iter().all(|system| orders_table::SYSTEMS.contains(system)));
    is_current("generated/orders.ts", &ts);
}

/// Returns the codes, one after the other, and the length of those without decimal places. The package looks where a code
/// is first in the text, which must not be across two others.
fn currencies() -> (String, usize) {
    let codes = [NO_PLACES, THREE_PLACES].concat();
    let text = codes.concat();
    for (index, code) in codes.iter().enumerate() {
        assert_eq!(text.find(code), Some(index * 3), "{code}");
    }
    (text, NO_PLACES.concat().len())
}

/// The patterns of the package have the same limits as the crate.
#[test]
fn the_lengths_of_texts_are_current() {
    let text = include_str!("../../../pkg-templates/orders/text.ts");
    let patterns = [
        format!(r"trimmed(/^\P{{Cc}}{{1,{MAX_TEXT}}}$/u)"),
        format!("trimmed(/^[!-~]{{1,{MAX_ID}}}$/)"),
    ];
    for pattern in patterns {
        assert!(text.contains(&pattern), "{pattern}");
    }
    let text = include_str!("../../../pkg-templates/orders/decimal.ts");
    let pattern = format!(r"/^(-?\d{{1,{MAX_DIGITS}}})(?:\.(\d{{1,{MAX_PLACES}}}))?$/");
    assert!(text.contains(&pattern), "{pattern}");
}

/// The types of the package name the same codes as the crate.
#[test]
fn the_codes_of_orders_are_current() {
    // `JSON.parse` has no limits of its own.
    let read = ReadError::VARIANTS
        .iter()
        .filter(|error| !matches!(error, ReadError::TooDeep | ReadError::TooLarge));
    let read = read.map(|error| json!(error)["code"].as_str().unwrap().to_owned());
    let refused = Refusal::VARIANTS.iter().map(|refusal| <&str>::from(refusal).to_owned());
    let types = include_str!("../../../pkg-templates/orders/error.ts");
    for code in refused.chain(read) {
        assert!(types.contains(&format!("| \"{code}\"")), "{code}");
    }
}
