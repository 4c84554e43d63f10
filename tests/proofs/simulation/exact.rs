//! Decimals as integers of any size, so that sums are exact.

use num_bigint::BigUint;
use serde_json::Value;
use support::money::decimal;

/// The number of decimal places of all numbers here. The shortest decimal of a double never needs more.
const DECIMALS: u32 = 340;

/// Converts a decimal to an integer, by multiplying it by 10^340.
pub fn exact(text: &str) -> BigUint {
    let (integer, decimals) = decimal(text);
    integer * BigUint::from(10_u8).pow(DECIMALS - decimals)
}

/// Converts an integer from [`exact`] back to a decimal, cut after `places` decimal places. If `places` is 0,
/// keeps all digits and writes an exponent.
pub fn exact_text(number: &BigUint, places: u32) -> String {
    if places == 0 {
        let digits = number.to_string();
        let trimmed = digits.trim_end_matches('0');
        let exponent = (digits.len() - trimmed.len()) as i64 - i64::from(DECIMALS);
        return if trimmed.is_empty() { "0".to_owned() } else { format!("{trimmed}e{exponent}") };
    }
    let units = number / BigUint::from(10_u8).pow(DECIMALS - places);
    let digits = format!("{:0>1$}", units.to_string(), places as usize + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places as usize);
    format!("{whole}.{fraction}")
}

/// Parses an offering and its quantity from the JSON of a row.
pub fn quantity(pair: &Value) -> Option<(String, BigUint)> {
    let millionths = pair[1].as_u64().map(|millionths| format!("{millionths}e-6"));
    let text = millionths.or_else(|| pair[1].as_str().map(str::to_owned))?;
    Some((pair[0].as_str()?.to_owned(), exact(&text)))
}
