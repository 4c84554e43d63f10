//! What a JSON number's text is worth as an IEEE 754 double, without converting it.
//!
//! The conversion would be most of the validator's wasm; the rules ask only for the sign, and
//! whether the double is finite and above 0.

use std::cmp::Ordering;

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
    exactly(text.as_bytes())
}

/// As [`magnitude`].
pub(crate) fn exactly(text: &[u8]) -> Magnitude {
    roughly(text).unwrap_or_else(|near| near.compared())
}

/// As [`magnitude`], for numbers such as people write; `None` for any that has an exponent, or more
/// digits than come to a limit of doubles.
pub(crate) fn at_a_glance(text: &[u8]) -> Option<Magnitude> {
    let mut is_zero = true;
    for byte in text {
        match byte {
            b'1'..=b'9' => is_zero = false,
            b'e' | b'E' => return None,
            _ => {}
        }
    }
    let is_positive = !is_zero && text.first() != Some(&b'-');
    let magnitude = if is_positive { Magnitude::Positive } else { Magnitude::NotPositive };
    (text.len() < 300).then_some(magnitude)
}

/// Judges by sign and exponent.
///
/// # Errors
/// A number that lies so near to a limit that its digits decide.
fn roughly(text: &[u8]) -> Result<Magnitude, Near<'_>> {
    let (is_negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        text => (false, text),
    };
    let Some(number) = Decimal::parse(text) else { return Ok(Magnitude::NotPositive) };
    match number.exponent {
        310.. => Ok(Magnitude::Infinite),
        309 => Err(Near { number, is_negative }),
        _ if is_negative => Ok(Magnitude::NotPositive),
        -322.. => Ok(Magnitude::Positive),
        -323 => Err(Near { number, is_negative }),
        _ => Ok(Magnitude::NotPositive),
    }
}

/// A number whose exponent is that of a limit.
struct Near<'t> {
    number: Decimal<'t>,
    is_negative: bool,
}

impl Near<'_> {
    fn compared(&self) -> Magnitude {
        let digits = &self.number;
        match digits.exponent {
            309 if digits.cmp(&TOP) != Ordering::Less => Magnitude::Infinite,
            309 if !self.is_negative => Magnitude::Positive,
            -323 if digits.cmp(&BOTTOM) == Ordering::Greater => Magnitude::Positive,
            _ => Magnitude::NotPositive,
        }
    }
}

/// A number above 0, read as 0.*digits* × 10^*exponent*; the first digit is not 0.
struct Decimal<'t> {
    /// Digits and at most one point.
    digits: &'t [u8],
    exponent: i64,
}

impl<'t> Decimal<'t> {
    /// `None` is 0.
    fn parse(mut text: &'t [u8]) -> Option<Self> {
        let mut number = None;
        let (mut exponent, mut is_fraction) = (0, false);
        while let [byte, rest @ ..] = text {
            match byte {
                b'.' => is_fraction = true,
                b'e' | b'E' => break,
                b'0' if number.is_none() => exponent -= i64::from(is_fraction),
                _ => {
                    number = number.or(Some(text));
                    exponent += i64::from(!is_fraction);
                }
            }
            text = rest;
        }
        let digits = number?.get(..number?.len() - text.len())?;
        Some(Decimal { digits, exponent: exponent + power(text) })
    }

    /// Compares the digits with a limit's.
    fn cmp(&self, limit: &[u8]) -> Ordering {
        let digits = self.digits.iter().filter(|byte| **byte != b'.');
        let trailing_zeros = digits.clone().rev().take_while(|digit| **digit == b'0').count();
        let significant = digits.clone().count() - trailing_zeros;
        digits.take(significant).cmp(limit)
    }
}

/// The power of ten that an exponent such as `e-7` says, or one that is as far beyond any double.
pub(crate) fn power(exponent: &[u8]) -> i64 {
    let (mut power, mut is_negative) = (0, false);
    for byte in exponent {
        match byte {
            b'-' => is_negative = true,
            b'0'..=b'9' if power < FAR => power = power * 10 + i64::from(byte - b'0'),
            _ => {}
        }
    }
    if is_negative { -power } else { power }
}

/// Beyond what the digits of any text that fits in memory can make up for.
const FAR: i64 = 1 << 40;

// ---- The limits ----------------------------------------------------------------------------------

/// The middle between the greatest double and the next power of two, from where on all is
/// infinite: 2^1024 - 2^970 = (2^54 - 1) × 2^9 × (2^31)^31.
static TOP: [u8; 309] = digits(&limbs(((1 << 54) - 1) << 9, 1 << 31, 31));

/// Half of the least double, up to which all is 0: 2^-1075 = 5^9 × (5^13)^82 / 10^1075, whose
/// first digit is the 324th behind the point.
static BOTTOM: [u8; 752] = digits(&limbs(5_u64.pow(9), 5_u32.pow(13), 82));

const LIMB: u64 = 1_000_000_000;

/// `seed` × `base`^`power` in limbs of nine decimal digits, the least first.
const fn limbs(seed: u64, base: u32, mut power: u32) -> [u32; 84] {
    let mut limbs = [0; 84];
    multiply_and_add(&mut limbs, 0, seed);
    while power > 0 {
        multiply_and_add(&mut limbs, base, 0);
        power -= 1;
    }
    limbs
}

const fn multiply_and_add(mut limbs: &mut [u32], by: u32, mut carry: u64) {
    while let [limb, rest @ ..] = limbs {
        let sum = *limb as u64 * by as u64 + carry;
        *limb = (sum % LIMB) as u32;
        carry = sum / LIMB;
        limbs = rest;
    }
}

/// The least `N` digits in ASCII, the greatest of them first.
const fn digits<const N: usize>(mut limbs: &[u32]) -> [u8; N] {
    let mut digits = [0; N];
    let mut left: &mut [u8] = &mut digits;
    let mut place = 0;
    while let ([limb, more @ ..], [others @ .., digit]) = (limbs, left) {
        *digit = b'0' + (*limb / 10_u32.pow(place) % 10) as u8;
        place = (place + 1) % 9;
        limbs = if place == 0 { more } else { limbs };
        left = others;
    }
    digits
}
