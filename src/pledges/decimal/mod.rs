//! Exact decimal arithmetic for money and quantities: sums, and sums of products. The result is rounded once,
//! or written exactly.
//!
//! The decimals of doubles range from 10^-324 to 10^308, which is too wide for machine integers. So a sum
//! keeps one counter for each decimal place. A library of unbounded integers would make up a sixth of the
//! Worker's size. The tests compare this module with such a library.

mod quotient;

use super::validate::number::ToDouble;
use std::iter::repeat_n;

/// A decimal of 0 or more, with exactly the value of its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decimal {
    /// Digits from 0 to 9, the most significant first.
    digits: Vec<u8>,
    /// The number of digits after the point. A negative number means that as many zeros follow the digits.
    scale: i32,
}

impl Decimal {
    /// Parses digits with at most one point, and an optional exponent: `12.50`, `1e-7`.
    ///
    /// Returns `None` for any other text, including one with a sign.
    pub fn parse(text: &str) -> Option<Self> {
        let (mut digits, mut point, mut exponent) = (Vec::new(), None, 0);
        for (at, byte) in text.bytes().enumerate() {
            match byte {
                b'0'..=b'9' => digits.push(byte - b'0'),
                b'.' if point.is_none() => point = Some(digits.len()),
                b'e' | b'E' => {
                    exponent = text.get(at + 1..)?.parse().ok()?;
                    break;
                }
                _ => return None,
            }
        }
        let places = digits.len() - point.unwrap_or(digits.len());
        let scale = i32::try_from(places).ok()?.checked_sub(exponent)?;
        (!digits.is_empty()).then_some(Decimal { digits, scale })
    }

    /// Parses a decimal from outside of the service, as [`parse`](Self::parse) does. Returns `None` also for more than
    /// 324 digits before or after the point, which no double has.
    pub fn parse_bounded(text: &str) -> Option<Self> {
        let decimal = Some(text).filter(|text| text.len() <= MAX_TEXT).and_then(Decimal::parse)?;
        let Decimal { digits, scale } = decimal.trimmed();
        let whole = i64::try_from(digits.len()).ok()? - i64::from(scale);
        let is_bounded = whole <= MAX_DIGITS && i64::from(scale) <= MAX_DIGITS;
        is_bounded.then_some(decimal)
    }

    /// Makes a decimal from a whole number of units of 10^-`places`: 150 units with 2 places are 1.50.
    pub fn from_units(units: u64, places: i32) -> Self {
        let digits = itoa::Buffer::new().format(units).bytes().map(|byte| byte - b'0').collect();
        Decimal { digits, scale: places }
    }

    /// Returns the decimal as a whole number of units of 10^-`places`, the reverse of
    /// [`from_units`](Self::from_units). Returns `None` if the number is not whole, or is above
    /// [`MAX_UNITS`].
    pub fn units(&self, places: i32) -> Option<u64> {
        let Decimal { digits, scale } = self.trimmed();
        if digits.is_empty() {
            return Some(0);
        }
        let zeros = usize::try_from(places.checked_sub(scale)?).ok()?;
        let append = |units: u64, digit: &u8| {
            Some(10 * units + u64::from(*digit)).filter(|units| *units <= MAX_UNITS)
        };
        digits.iter().chain(repeat_n(&0, zeros)).try_fold(0, append)
    }

    /// Returns the same decimal without leading and trailing zeros, so that equal decimals have equal fields.
    /// 0 becomes an empty list of digits.
    pub fn trimmed(&self) -> Self {
        let is_zero = |digit: &&u8| **digit == 0;
        let last = self.digits.iter().rev().take_while(is_zero).count();
        let first = self.digits.iter().take_while(is_zero).count();
        let digits = self.digits.get(first..self.digits.len() - last).unwrap_or_default();
        let scale = self.scale.saturating_sub(last as i32);
        Decimal { digits: digits.to_vec(), scale: if digits.is_empty() { 0 } else { scale } }
    }

    /// Returns the exact decimal as digits and a power of ten, such as `12e306`. SQL statements sum this form.
    pub fn to_scientific(&self) -> String {
        let Decimal { digits, scale } = self.trimmed();
        let digits: String = digits.iter().map(|digit| char::from(b'0' + digit)).collect();
        let digits = if digits.is_empty() { "0" } else { &digits };
        [digits, "e", itoa::Buffer::new().format(scale.saturating_neg())].concat()
    }

    /// Returns the shortest decimal that parses back to the same double. Returns `None` for negative numbers,
    /// infinities and NaN.
    pub fn shortest(value: f64) -> Option<Self> {
        Decimal::parse(zmij::Buffer::new().format(value))
    }

    /// Returns the exact sum. The result takes more memory the further apart the decimals' exponents are.
    pub fn sum(decimals: impl Iterator<Item = Decimal>) -> Self {
        let one = Decimal::from_units(1, 0);
        Decimal::sum_of_products(decimals.map(|decimal| (decimal, &one)))
    }

    /// Returns the exact sum of products. Each product is a double's [shortest decimal](Self::shortest) times
    /// a price.
    pub fn sum_of_products<'p>(products: impl Iterator<Item = (Decimal, &'p Decimal)>) -> Self {
        let products: Vec<_> = products.collect();
        sum_up(&products)
    }

    /// Returns the exact difference; `None` if the other decimal is larger. The result takes more memory the
    /// further apart the two exponents are.
    pub fn minus(&self, other: &Decimal) -> Option<Self> {
        let scale = self.scale.max(other.scale);
        let (from, taken) = (self.digits_at(scale), other.digits_at(scale));
        let (mut digits, mut borrow) = (Vec::with_capacity(from.len()), 0);
        for place in 0..from.len().max(taken.len()) {
            let of = |digits: &[u8]| digits.get(place).copied().unwrap_or_default();
            let (own, less) = (of(&from), of(&taken) + borrow);
            borrow = u8::from(own < less);
            digits.push(own + 10 * borrow - less);
        }
        digits.reverse();
        (borrow == 0).then_some(Decimal { digits, scale })
    }

    pub fn is_zero(&self) -> bool {
        self.digits.iter().all(|digit| *digit == 0)
    }

    /// Returns all digits of the decimal when it is written with `scale` places after the point, the least
    /// significant first.
    fn digits_at(&self, scale: i32) -> Vec<u8> {
        let zeros = usize::try_from(scale.saturating_sub(self.scale)).unwrap_or_default();
        repeat_n(0, zeros).chain(self.digits.iter().rev().copied()).collect()
    }

    /// Returns the exact decimal without zeros at its end, such as `0.0000001`. A decimal that would need
    /// more than 20 zeros has an exponent instead, such as `1e308`.
    pub fn to_exact(&self) -> String {
        let Decimal { digits, scale } = self.trimmed();
        let count = digits.len() as i32;
        let point = count.saturating_sub(scale); // the point is after this many digits
        let has_exponent = scale < -MAX_ZEROS || point < -MAX_ZEROS;
        let places = if has_exponent { 0..count } else { 0.min(point - 1)..count.max(point) };
        let mut text = String::new();
        for place in places.clone() {
            if place == point && place > places.start {
                text.push('.');
            }
            let digit = usize::try_from(place).ok().and_then(|place| digits.get(place));
            text.push(char::from(b'0' + digit.unwrap_or(&0)));
        }
        if has_exponent {
            text.push('e');
            text.push_str(itoa::Buffer::new().format(scale.saturating_neg()));
        }
        text
    }

    /// Returns the decimal with two places after the point, rounded half away from zero, such as `12.50`.
    ///
    /// A large exponent makes the text long, and takes memory and time accordingly.
    pub fn to_money(&self) -> String {
        // Leading zeros: room for a carry, and for the digits of `0.00`.
        let mut cents = vec![0; UNIT_DIGITS];
        cents.extend(&self.digits);
        let count = cents.len() as i64 - i64::from(self.scale) + MONEY_PLACES as i64;
        let count = usize::try_from(count).unwrap_or(0);
        let is_up = cents.get(count).is_some_and(|first_dropped| *first_dropped >= 5);
        cents.resize(count.max(UNIT_DIGITS), 0);
        if is_up {
            add_one(&mut cents);
        }
        let zeros = cents.iter().take_while(|digit| **digit == 0).count();
        let zeros = zeros.min(cents.len() - UNIT_DIGITS);
        let point = cents.len() - MONEY_PLACES;
        let mut money = String::with_capacity(cents.len() + 1 - zeros);
        for (at, digit) in cents.iter().enumerate().skip(zeros) {
            if at == point {
                money.push('.');
            }
            money.push(char::from(b'0' + digit));
        }
        money
    }
}

/// Largest number of units that [`units`](Decimal::units) returns: 2^53 - 1. JSON, JavaScript and SQLite
/// represent every integer up to this number exactly.
pub const MAX_UNITS: u64 = (1 << 53) - 1;
/// Maximum number of characters of a decimal from outside the service. An exact sum of doubles always needs
/// fewer.
const MAX_TEXT: usize = 1_000;
/// Maximum number of digits on each side of the decimal point, for a decimal from outside the service.
const MAX_DIGITS: i64 = 324;
/// Maximum number of zeros that are written instead of an exponent.
const MAX_ZEROS: i32 = 20;
/// Number of decimal places that a sum gets above its highest counter, to take the carry. A counter is a
/// `u64`, which has at most 20 digits.
const CARRY_PLACES: usize = 20;
const MONEY_PLACES: usize = 2;
/// Number of digits of the shortest amount, `0.00`.
const UNIT_DIGITS: usize = 1 + MONEY_PLACES;

fn sum_up(products: &[(Decimal, &Decimal)]) -> Decimal {
    let scales = products.iter().map(|(amount, price)| amount.scale + price.scale);
    let scale = scales.max().unwrap_or_default();
    // Counter n counts units of 10^(n - scale), and may hold more than 9.
    let mut places = Vec::new();
    for (amount, price) in products {
        add_product(&mut places, (scale - amount.scale - price.scale) as usize, amount, price);
    }
    places.extend([0; CARRY_PLACES]);
    let mut carry = 0;
    let digits = places.iter().map(|place| {
        carry += place;
        let digit = (carry % 10) as u8;
        carry /= 10;
        digit
    });
    let mut digits: Vec<u8> = digits.collect();
    digits.reverse();
    Decimal { digits, scale }
}

/// Adds the product of two decimals to the counters of a sum. There is one counter for each decimal place.
/// The product's last digit goes to the counter `lowest`.
fn add_product(places: &mut Vec<u64>, lowest: usize, a: &Decimal, b: &Decimal) {
    places.resize(places.len().max(lowest + a.digits.len() + b.digits.len()), 0);
    for (a_place, a_digit) in a.digits.iter().rev().enumerate() {
        for (b_place, b_digit) in b.digits.iter().rev().enumerate() {
            if let Some(place) = places.get_mut(lowest + a_place + b_place) {
                *place += u64::from(a_digit * b_digit);
            }
        }
    }
}

fn add_one(digits: &mut [u8]) {
    for digit in digits.iter_mut().rev() {
        *digit = (*digit + 1) % 10;
        if *digit > 0 {
            return;
        }
    }
}

/// Returns a JSON number with two places after the point, rounded half away from zero, such as `-5.00` for
/// `-5`. Returns `None` for a number beyond the largest double, because its text could be of any length.
pub(crate) fn number_as_money(number: &str, to_double: ToDouble) -> Option<String> {
    match to_double(number) {
        // The text is not parsed: its exponent may be too large for an integer.
        0.0 => Some("0.00".to_owned()),
        double => double.is_finite().then(|| signed_money(number)).flatten(),
    }
}

/// Returns a decimal text with two places after the point, rounded half away from zero, such as `12.50` for `12.5`.
/// Returns `None` for a text other than digits with at most one point and one minus sign.
pub(crate) fn text_as_money(text: &str) -> Option<String> {
    let has_exponent = text.bytes().any(|byte| matches!(byte, b'e' | b'E'));
    (!has_exponent).then(|| signed_money(text)).flatten()
}

fn signed_money(text: &str) -> Option<String> {
    let size = text.strip_prefix('-');
    let money = Decimal::parse(size.unwrap_or(text))?.to_money();
    let is_negative = size.is_some() && money != "0.00";
    Some(if is_negative { ["-", &money].concat() } else { money })
}
