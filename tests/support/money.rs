//! Computes exact sums of prices with integers of unlimited size.

use num_bigint::BigUint;

/// Converts a decimal text to an integer without the decimal point. Also returns the number of its decimal
/// places.
pub fn decimal(text: &str) -> (BigUint, u32) {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let integer: BigUint = format!("{whole}{fraction}").parse().unwrap();
    let decimals = fraction.len() as i32 - exponent.parse::<i32>().unwrap();
    match u32::try_from(decimals) {
        Ok(decimals) => (integer, decimals),
        Err(_) => (integer * ten_to(decimals.unsigned_abs()), 0),
    }
}

/// A number of decimal places that suffices for any price multiplied by any double: 40 + 324 + 17.
const SCALE: u32 = 400;

fn ten_to(power: u32) -> BigUint {
    BigUint::from(10_u8).pow(power)
}

/// Returns the sum of all amounts times their prices, rounded once to two decimals, half away from zero.
pub fn oracle(pledges: &[(f64, String)]) -> String {
    let product = |(amount, price): &(f64, String)| {
        // The text that an answer echoes. Rust chooses another one if two texts are equally short:
        // 2080010387609948.25 is …948.3 to Rust, …948.2 to JSON and JavaScript.
        let (amount, a) = decimal(&serde_json::to_string(amount).unwrap());
        let (price, p) = decimal(price);
        amount * price * ten_to(SCALE - a - p)
    };
    let sum: BigUint = pledges.iter().map(product).sum();
    let cents = (sum * 2_u8 + ten_to(SCALE - 2)) / (ten_to(SCALE - 2) * 2_u8);
    let digits = format!("{:0>3}", cents.to_string());
    let (whole, fraction) = digits.split_at(digits.len() - 2);
    format!("{whole}.{fraction}")
}
