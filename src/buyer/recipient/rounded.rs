//! Amounts, rounded for display. The API and the charge use exact amounts.

use super::language::Language;
use crate::pledges::types::Amount;

/// Maximum number of decimal places that `Intl.NumberFormat` writes by default.
const PLACES: usize = 3;

/// An amount, rounded for display as `Intl.NumberFormat` does by default: to three decimal places, half away
/// from zero. The amount is first written as the shortest decimal that stands for the double, and then
/// rounded. So 0.1 + 0.2 is `0.3`, and 1.0005 is `1.001`.
///
/// - An amount that would be rounded to 0 keeps four significant digits, such as 0.0004, because an amount is
///   never 0.
/// - Amounts of 10¹⁶ and more, and amounts below 10⁻⁵, are written in scientific notation: `1.798 × 10³⁰⁸`.
pub(super) struct Rounded {
    /// A plain decimal such as `1234.5`.
    digits: String,
    /// The exponent of ten in scientific notation; `None` for a plain decimal.
    exponent: Option<i32>,
    /// The number that decides which plural form of a noun is used.
    pub value: f64,
}

impl Rounded {
    pub fn new(amount: Amount) -> Self {
        let mut buffer = zmij::Buffer::new();
        let shortest = buffer.format_finite(amount.get());
        match shortest.split_once('e') {
            Some((digits, exponent)) => Self::with_exponent(amount, digits, exponent),
            None => {
                let digits = rounded(shortest, places(shortest));
                let value = digits.parse().unwrap_or(amount.get());
                Rounded { digits, exponent: None, value }
            }
        }
    }

    fn with_exponent(amount: Amount, digits: &str, exponent: &str) -> Self {
        let (digits, exponent) = (rounded(digits, PLACES), exponent.parse().unwrap_or_default());
        let (digits, exponent) =
            if digits == "10" { ("1".to_owned(), exponent + 1) } else { (digits, exponent) };
        Rounded { digits, exponent: Some(exponent), value: amount.get() }
    }

    /// Writes the amount in a language: `1,000`, `0.5`, `5 × 10⁻³²⁴`.
    pub fn write(&self, language: Language) -> String {
        let digits = language.decimal(&self.digits);
        match self.exponent {
            None => digits,
            Some(exponent) => {
                let exponent: String = exponent.to_string().chars().map(superscript).collect();
                format!("{digits} × 10{exponent}")
            }
        }
    }
}

/// Writes an amount, rounded for display in a language.
pub fn write_amount(language: Language, amount: Amount) -> String {
    Rounded::new(amount).write(language)
}

/// Returns the number of decimal places to which a plain decimal is rounded: three, or more if the result
/// would be 0.
fn places(plain: &str) -> usize {
    let fraction = plain.strip_prefix("0.").unwrap_or_default();
    let zeros = fraction.bytes().take_while(|digit| *digit == b'0').count();
    if zeros >= PLACES && rounded(plain, PLACES) == "0" { zeros + 1 + PLACES } else { PLACES }
}

/// Rounds a plain decimal to this many places, half away from zero, without trailing zeros. The decimal has
/// at most 17 significant digits.
pub(super) fn rounded(plain: &str, places: usize) -> String {
    let (integer, fraction) = plain.split_once('.').unwrap_or((plain, ""));
    let places = places.min(fraction.len());
    let power = |places: usize| (0..places).fold(1_u64, |power, _| power.saturating_mul(10));
    let (dropped, one) = (power(fraction.len() - places), power(places));
    let number: u64 = [integer, fraction].concat().parse().unwrap_or(u64::MAX);
    let number = number.saturating_add(dropped / 2) / dropped;
    let text = format!("{}.{:0places$}", number / one, number % one);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn superscript(character: char) -> char {
    let digit = character.to_digit(10).and_then(|digit| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit as usize));
    digit.unwrap_or('⁻')
}
