//! Exact decimal arithmetic, as far as money needs it: a sum of products, rounded once.
//!
//! A double's decimals reach from 10^-324 to 10^308, and a price adds some more on both sides: too
//! wide for machine integers, narrow enough for one counter per decimal place. A library of
//! unbounded integers would be a sixth of the Worker; the tests hold this one to such a library.

use crate::validate::number::{Magnitude, exactly, power};
use std::ops::Range;

/// A decimal of 0 or more, exactly as its text says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// Digits from 0 to 9, the most significant first.
    digits: Vec<u8>,
    /// How many of the digits stand behind the point; below 0, how many zeros follow them.
    scale: i32,
}

impl Decimal {
    /// Reads digits with at most one point among them, and perhaps an exponent: `12.50`, `1e-7`.
    ///
    /// `None` for anything else, signs included.
    pub fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: Vec<u8> =
            whole.bytes().chain(fraction.bytes()).map(digit).collect::<Option<_>>()?;
        let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent.parse().ok()?)?;
        (!digits.is_empty()).then_some(Decimal { digits, scale })
    }

    /// The shortest decimal that reads back as the same double; `None` below 0, infinite or NaN.
    pub fn shortest(value: f64) -> Option<Self> {
        let text =
            value.is_finite().then(|| zmij::Buffer::new().format_finite(value).to_owned())?;
        Decimal::parse(&text)
    }

    /// The decimal with two places behind the point, rounded half away from zero.
    pub fn to_money(&self) -> String {
        let mut sum = Sum::default();
        sum.add_product(self, &Decimal { digits: vec![1], scale: 0 });
        sum.to_money()
    }

    /// Whether it has a place that [`Sum`] counts; every double has, and every price.
    fn fits(&self) -> bool {
        self.scale < FRACTION_PLACES / 2 && self.digits.len() as i32 - self.scale < WHOLE_PLACES / 2
    }
}

/// The text of a JSON number with two places behind the point, rounded half away from zero, such
/// as `-5.00` for `-5`; `None` beyond all doubles.
pub(crate) fn number_as_money(number: &[u8]) -> Option<String> {
    let end = number.iter().position(|byte| matches!(byte, b'e' | b'E')).unwrap_or(number.len());
    let (mantissa, exponent) = number.split_at_checked(end)?;
    let finite = exactly(number) != Magnitude::Infinite;
    finite.then(|| money(mantissa, power(exponent))).flatten()
}

/// A decimal with two places behind the point, rounded half away from zero, such as `12.50` for
/// `12.5`; `None` for a text that is not digits with at most one point and one minus sign.
pub(crate) fn text_as_money(text: &str) -> Option<String> {
    money(text.as_bytes(), 0)
}

/// `mantissa` × 10^`power` with two places, in linear time.
fn money(mantissa: &[u8], power: i64) -> Option<String> {
    let (sign, size) = mantissa.strip_prefix(b"-").map_or(("", mantissa), |size| ("-", size));
    let mut digits = vec![b'0'; UNIT_DIGITS];
    let mut point = None;
    for byte in size {
        match byte {
            b'0'..=b'9' => digits.push(*byte),
            b'.' if point.is_none() => point = Some(digits.len()),
            _ => return None,
        }
    }
    let places = point.unwrap_or(digits.len()) as i64 + power + MONEY_PLACES as i64;
    (digits.len() > UNIT_DIGITS).then(|| with_point(sign, round(digits, places)))
}

/// Digits of the least amount that is written, 0.00: so many zeros stand before each, for the
/// carry and so that there are never fewer.
const UNIT_DIGITS: usize = 1 + MONEY_PLACES;

/// The first `count` digits, rounded half up; zeros follow where there are fewer. Nothing for 0.
fn round(mut digits: Vec<u8>, count: i64) -> Vec<u8> {
    let is_zero = digits.iter().all(|digit| *digit == b'0');
    let count = usize::try_from(count).ok().filter(|count| !is_zero && *count >= UNIT_DIGITS);
    let Some(count) = count else { return Vec::new() };
    let is_up = digits.get(count).is_some_and(|dropped| *dropped >= b'5');
    digits.resize(count, b'0');
    let mut carry = u8::from(is_up);
    for digit in digits.iter_mut().rev() {
        *digit += carry;
        carry = u8::from(*digit > b'9');
        *digit -= 10 * carry;
    }
    digits
}

/// An amount in hundredths as money.
fn with_point(sign: &str, cents: Vec<u8>) -> String {
    let Some(first) = cents.iter().position(|digit| *digit != b'0') else {
        return "0.00".to_owned();
    };
    let first = first.min(cents.len() - UNIT_DIGITS);
    let mut money = sign.to_owned();
    for (index, digit) in cents.iter().enumerate().skip(first) {
        if index + MONEY_PLACES == cents.len() {
            money.push('.');
        }
        money.push(char::from(*digit));
    }
    money
}

fn digit(byte: u8) -> Option<u8> {
    byte.is_ascii_digit().then(|| byte - b'0')
}

/// Places behind the point: twice those of the least double.
const FRACTION_PLACES: i32 = 2 * 350;
/// Places before the point: twice those of the greatest double.
const WHOLE_PLACES: i32 = 2 * 350;
/// Places that money has behind the point.
const MONEY_PLACES: usize = 2;
/// The counter of the least of them.
const CENTS: usize = FRACTION_PLACES as usize - MONEY_PLACES;

/// A sum of products of [`Decimal`]s.
#[derive(Clone, Debug)]
pub struct Sum {
    /// Counter *n* is worth 10^(*n* - `FRACTION_PLACES`); it may hold more than 9 until the end.
    places: Vec<u64>,
    /// Beyond these all places hold 0.
    used: Range<usize>,
}

impl Default for Sum {
    fn default() -> Self {
        let places = vec![0; (FRACTION_PLACES + WHOLE_PLACES) as usize];
        Sum { places, used: CENTS..CENTS + MONEY_PLACES + 1 }
    }
}

impl Sum {
    /// Adds `a` × `b`. A factor beyond all doubles counts as 0.
    pub fn add_product(&mut self, a: &Decimal, b: &Decimal) {
        if !(a.fits() && b.fits()) {
            return;
        }
        let lowest = (FRACTION_PLACES - a.scale - b.scale) as usize;
        self.use_places(lowest, a.digits.len() + b.digits.len());
        for (a_place, a_digit) in a.digits.iter().rev().enumerate() {
            for (b_place, b_digit) in b.digits.iter().rev().enumerate() {
                if let Some(place) = self.places.get_mut(lowest + a_place + b_place) {
                    *place += u64::from(a_digit * b_digit);
                }
            }
        }
    }

    fn use_places(&mut self, lowest: usize, count: usize) {
        self.used = self.used.start.min(lowest)..self.used.end.max(lowest + count);
    }

    /// The sum with two places behind the point, rounded half away from zero, such as `12.50`.
    pub fn to_money(mut self) -> String {
        self.carry();
        if self.places.get(CENTS - 1).is_some_and(|first_dropped| *first_dropped >= 5) {
            self.places.iter_mut().skip(CENTS).take(1).for_each(|place| *place += 1);
            self.carry();
        }
        let digits = self.places.get(CENTS..self.used.end).unwrap_or_default();
        let zeros = digits.iter().rev().take_while(|place| **place == 0).count();
        let length = (digits.len() - zeros).max(MONEY_PLACES + 1);
        let mut money = String::with_capacity(length + 1);
        for (index, place) in digits.iter().enumerate().take(length).rev() {
            money.push(char::from(b'0' + *place as u8));
            if index == MONEY_PLACES {
                money.push('.');
            }
        }
        money
    }

    /// Leaves one digit in each place.
    fn carry(&mut self) {
        let mut carry = 0;
        let mut end = self.used.start;
        for place in self.places.iter_mut().skip(self.used.start) {
            if carry == 0 && end >= self.used.end {
                break;
            }
            carry += *place;
            *place = carry % 10;
            carry /= 10;
            end += 1;
        }
        self.used.end = end;
    }
}
