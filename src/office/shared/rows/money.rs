//! How the ledger stores amounts and sums them exactly. A column holds a whole number up to 2^53 - 1, for
//! example of cents. An amount that is larger or has more decimals is stored as a text of digits and a power
//! of ten, such as `12e308`.
//!
//! SQLite sums whole numbers exactly, but one sum could overflow 64 bits. So the millions and the remainders
//! of the numbers are summed separately.
//!
//! Texts are padded with zeros to the same number of digits, and summed in parts of twelve digits. So a sum
//! over any number of texts takes as much memory as one text.

use crate::pledges::decimal::Decimal;

/// The number of digits before the decimal point of a padded text. `FRACTION_DIGITS` is the number of digits
/// after the point. No double has more digits than these. `PART_DIGITS` is the number of digits in each part
/// that is summed.
const WHOLE_DIGITS: i32 = 324;
const FRACTION_DIGITS: i32 = 324;
const PART_DIGITS: i32 = 12;

/// Returns a charge as a decimal with two places, or an empty text for a damaged row.
pub fn money(cents: Option<u64>, amount: Option<&str>) -> String {
    let decimal = match (cents, amount) {
        (Some(cents), _) => Decimal::parse(&format!("{cents}e-2")),
        (None, text) => text.and_then(Decimal::parse),
    };
    decimal.map(|decimal| decimal.to_money()).unwrap_or_default()
}

/// Converts a sum that SQLite computed to decimals. The sum has two parts, `millions` × 1,000,000 and `rest`,
/// both in units of 10^-`places`.
pub fn of_halves(millions: u64, rest: u64, places: u32) -> Vec<Decimal> {
    let parts = [(millions, 6 - i64::from(places)), (rest, -i64::from(places))];
    parts.iter().filter_map(|(sum, power)| Decimal::parse(&format!("{sum}e{power}"))).collect()
}

/// Converts SQLite's sum of one twelve-digit part of padded texts to a decimal.
pub fn of_part(part: i32, sum: u64) -> Option<Decimal> {
    let power = WHOLE_DIGITS - PART_DIGITS * (part + 1);
    Decimal::parse(&format!("{sum}e{power}"))
}

/// SQL for a table `parts(part)` that numbers the twelve-digit parts of a padded text, from 0 to 53.
macro_rules! parts {
    () => {
        "parts(part) AS (SELECT 0 UNION ALL SELECT part + 1 FROM parts WHERE part < 53)"
    };
}
pub(crate) use parts;

/// SQL that pads the number text of a column with zeros, so that all texts have the same number of digits.
macro_rules! laid_out {
    ($text:literal) => {
        concat!(
            "substr(hex(zeroblob(324)), 1, 325 - instr(",
            $text,
            ", 'e') - CAST(substr(",
            $text,
            ", instr(",
            $text,
            ", 'e') + 1) AS INTEGER)) || substr(",
            $text,
            ", 1, instr(",
            $text,
            ", 'e') - 1) || substr(hex(zeroblob(324)), 1, 324 + CAST(substr(",
            $text,
            ", instr(",
            $text,
            ", 'e') + 1) AS INTEGER))"
        )
    };
}
pub(crate) use laid_out;

/// SQL that sums one part of large amounts. An amount is stored as padded digits, and summed in parts of twelve digits, because a whole sum could overflow.
macro_rules! part_sum {
    () => {
        "sum(CAST(substr(digits, 12 * part + 1, 12) AS INTEGER))"
    };
}
pub(crate) use part_sum;

const _: () = assert!(WHOLE_DIGITS + FRACTION_DIGITS == 54 * PART_DIGITS);
