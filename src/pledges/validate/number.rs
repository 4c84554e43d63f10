//! The rule for numbers: as an IEEE 754 double, a number is finite and above 0.

use super::code::Code;

/// Converts the text of a JSON number to the nearest double. Returns NaN for any other text.
///
/// The client passes JavaScript's `Number`, because [`to_double`] would add kilobytes to its wasm.
pub type ToDouble = fn(&str) -> f64;

/// Converts the text with the standard library. Returns NaN for a text that is not a number.
pub fn to_double(text: &str) -> f64 {
    // `parse` limits an exponent to about 65,535. The result is wrong only for a number with about as many digits,
    // which compensate for the exponent.
    let is_short = text.len() < 65_000;
    let double = if is_short { text.parse() } else { with_least_exponent(text).parse() };
    double.unwrap_or(f64::NAN)
}

/// Rewrites a number so that the decimal point precedes the first digit that is not 0: `0.120e3` for `120`.
fn with_least_exponent(text: &str) -> String {
    let (sign, size) = text.strip_prefix('-').map_or(("", text), |size| ("-", size));
    let (mantissa, exponent) = size.split_once(['e', 'E']).unwrap_or((size, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    let significant = digits.trim_start_matches('0');
    let beyond_integers = if exponent.starts_with('-') { i64::MIN } else { i64::MAX };
    let exponent = exponent
        .parse::<i64>()
        .unwrap_or(beyond_integers)
        .saturating_add(whole.len() as i64)
        .saturating_sub_unsigned((digits.len() - significant.len()) as u64);
    format!("{sign}0.{significant}e{exponent}")
}

/// Checks the text of a JSON number. Returns the number as a double, or the code of the rule that the number
/// breaks.
pub(crate) fn check(text: &[u8], to_double: ToDouble) -> Result<f64, Code> {
    let double = str::from_utf8(text).map_or(f64::NAN, to_double);
    if !double.is_finite() {
        return Err(Code::NotFinite);
    }
    if double > 0.0 { Ok(double) } else { Err(Code::NotPositive) }
}

/// Checks the text of a JSON number without converting it. Returns `None` for a number that may be beyond the range of
/// doubles: one with an exponent or with 300 characters or more.
pub(crate) fn check_plain(text: &[u8]) -> Option<Result<(), Code>> {
    let has_exponent = text.iter().any(|byte| matches!(byte, b'e' | b'E'));
    let is_zero = !text.iter().any(|byte| matches!(byte, b'1'..=b'9'));
    let is_positive = !is_zero && text.first() != Some(&b'-');
    let result = if is_positive { Ok(()) } else { Err(Code::NotPositive) };
    (!has_exponent && text.len() < 300).then_some(result)
}
