//! Amounts in columns: a whole number up to 2^53 - 1, and what is larger or finer as digits and a power of ten, `12e308`.
//!
//! SQLite sums whole numbers exactly, a million apart, as a sum of 64 bits could overflow. Texts are laid out as digits of one
//! length, and summed twelve digits at a time: so any number of them takes as much memory as one.

use crate::decimal::Decimal;

/// Digits before and after the point of the layout, and of a part of it: the decimals of doubles have less.
const WHOLE_DIGITS: i32 = 324;
const FRACTION_DIGITS: i32 = 324;
const PART_DIGITS: i32 = 12;

/// A charge as a decimal with two places; that of a damaged row is empty.
pub fn money(cents: Option<u64>, amount: Option<&str>) -> String {
    let decimal = match (cents, amount) {
        (Some(cents), _) => Decimal::parse(&format!("{cents}e-2")),
        (None, text) => text.and_then(Decimal::parse),
    };
    decimal.map(|decimal| decimal.to_money()).unwrap_or_default()
}

/// The number whose whole millions and rest SQLite has summed, in units of 10^-places.
pub fn of_halves(millions: u64, rest: u64, places: u32) -> Vec<Decimal> {
    let parts = [(millions, 6 - i64::from(places)), (rest, -i64::from(places))];
    parts.iter().filter_map(|(sum, power)| Decimal::parse(&format!("{sum}e{power}"))).collect()
}

/// The number whose part of the layout SQLite has summed.
pub fn of_part(part: i32, sum: u64) -> Option<Decimal> {
    let power = WHOLE_DIGITS - PART_DIGITS * (part + 1);
    Decimal::parse(&format!("{sum}e{power}"))
}

/// The parts of the layout, as `parts(part)`.
macro_rules! parts {
    () => {
        "parts(part) AS (SELECT 0 UNION ALL SELECT part + 1 FROM parts WHERE part < 53)"
    };
}
pub(super) use parts;

/// A text of a column, in the layout.
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
pub(super) use laid_out;

/// The sum of a part of what is laid out in `digits`.
macro_rules! part_sum {
    () => {
        "sum(CAST(substr(digits, 12 * part + 1, 12) AS INTEGER))"
    };
}
pub(super) use part_sum;

const _: () = assert!(WHOLE_DIGITS + FRACTION_DIGITS == 54 * PART_DIGITS);
