//! What a JSON number's text is worth as an IEEE 754 double, without converting it.
//!
//! The conversion would be most of the validator's wasm; the rules ask only for the sign, and
//! whether the double is finite and above 0.

use std::cmp::Ordering;
use std::sync::LazyLock;

/// What the double nearest to a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Magnitude {
    /// 0 or less, numbers that round to 0 (such as `1e-400`) included.
    NotPositive,
    /// Finite and above 0.
    Positive,
    /// Infinite in either direction, such as `1e400`.
    Infinite,
}

/// Judges the text of a JSON number, as RFC 8259 spells it.
pub fn magnitude(text: &str) -> Magnitude {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let number = Decimal::parse(text.as_bytes());
    match number {
        None => Magnitude::NotPositive,
        Some(number) if number.is_infinite() => Magnitude::Infinite,
        Some(number) if negative || number.rounds_to_zero() => Magnitude::NotPositive,
        Some(_) => Magnitude::Positive,
    }
}

/// 2^1024 - 2^970, a number of 309 digits: the middle between the greatest double and the next
/// power of two.
///
/// Both limits are computed once, on first use: thousands of numbers that come near them are cheap.
static TOP: LazyLock<Vec<u8>> = LazyLock::new(|| digits_of((1 << 54) - 1, 2, 970));

/// 2^-1075, half of the least double: the digits of 5^1075, the first at the 324th decimal.
static BOTTOM: LazyLock<Vec<u8>> = LazyLock::new(|| digits_of(1, 5, 1075));

/// A number above 0, read as 0.*digits* × 10^*exponent*; the first digit is not 0.
struct Decimal<'t> {
    /// Digits and at most one point.
    digits: &'t [u8],
    exponent: i64,
}

impl<'t> Decimal<'t> {
    /// `None` is 0.
    fn parse(text: &'t [u8]) -> Option<Self> {
        let end = text.iter().position(|byte| matches!(byte, b'e' | b'E')).unwrap_or(text.len());
        let (mantissa, power) = text.split_at_checked(end)?;
        let first = mantissa.iter().position(|byte| matches!(byte, b'1'..=b'9'))?;
        let point = mantissa.iter().position(|byte| *byte == b'.').unwrap_or(mantissa.len());
        // Digits before the point count up from it, zeros behind it count down.
        let skipped = if first > point { 1 } else { 0 };
        let exponent = point as i64 - first as i64 + skipped;
        let digits = mantissa.get(first..)?;
        Some(Decimal { digits, exponent: exponent.saturating_add(parse_power(power)) })
    }

    fn is_infinite(&self) -> bool {
        self.compare(309, &TOP) != Ordering::Less
    }

    fn rounds_to_zero(&self) -> bool {
        self.compare(-323, &BOTTOM) != Ordering::Greater
    }

    fn compare(&self, exponent: i64, digits: &LazyLock<Vec<u8>>) -> Ordering {
        self.exponent.cmp(&exponent).then_with(|| self.compare_digits(digits))
    }

    fn compare_digits(&self, limit: &[u8]) -> Ordering {
        let digits = self.digits.iter().filter(|byte| **byte != b'.').map(|byte| byte - b'0');
        let significant = digits.clone().rev().skip_while(|digit| *digit == 0).count();
        let limit_zeros = limit.iter().take_while(|digit| **digit == 0).count();
        digits.take(significant).cmp(limit.iter().skip(limit_zeros).rev().copied())
    }
}

fn parse_power(text: &[u8]) -> i64 {
    let magnitude = text
        .iter()
        .filter(|byte| byte.is_ascii_digit())
        .fold(0_i64, |sum, byte| sum.saturating_mul(10).saturating_add(i64::from(byte - b'0')));
    if text.contains(&b'-') { -magnitude } else { magnitude }
}

/// The decimal digits of `seed` × `base`^`power`, the least significant first.
fn digits_of(seed: u64, base: u8, power: u32) -> Vec<u8> {
    let mut digits = Vec::with_capacity(768);
    let mut rest = seed;
    while rest > 0 {
        digits.push((rest % 10) as u8);
        rest /= 10;
    }
    (0..power).for_each(|_| multiply(&mut digits, base));
    digits
}

fn multiply(digits: &mut Vec<u8>, by: u8) {
    let mut carry = 0;
    for digit in digits.iter_mut() {
        let product = *digit * by + carry;
        *digit = product % 10;
        carry = product / 10;
    }
    if carry > 0 {
        digits.push(carry);
    }
}
