//! From the decimal text of a number to the nearest double.
//!
//! The standard library's tables for this are a tenth of the Worker. Amounts of the usual size
//! need one exact multiplication or division; all others go by whole numbers of any length.

/// The double nearest to a JSON number that is not negative, of two equally near ones the even
/// one. `None` for other texts; too large ones become infinite, too small ones 0.
pub fn nearest(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = || whole.bytes().chain(fraction.bytes());
    if mantissa.is_empty() || !digits().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let exponent = power(exponent)?.saturating_sub(i64::try_from(fraction.len()).ok()?);
    let number = Decimal::of(digits().map(|byte| byte - b'0'), exponent);
    Some(number.quickly().unwrap_or_else(|| number.exactly()))
}

/// The number behind the `e`; one that no double reaches stands for all beyond it.
fn power(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let size = digits.parse().unwrap_or(i64::MAX / 4).min(i64::MAX / 4);
    Some(if text.starts_with('-') { -size } else { size })
}

/// Digits that can decide: the middle between two doubles has 767 at most.
const MOST_DIGITS: usize = 800;

/// *digits* × 10^*exponent*, without leading zeros.
struct Decimal {
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    fn of(digits: impl Iterator<Item = u8>, mut exponent: i64) -> Self {
        let mut kept = Vec::with_capacity(24);
        let mut dropped_any = false;
        for digit in digits.skip_while(|digit| *digit == 0) {
            if kept.len() < MOST_DIGITS {
                kept.push(digit);
            } else {
                exponent = exponent.saturating_add(1);
                dropped_any |= digit > 0;
            }
        }
        if dropped_any {
            kept.push(1); // anything above 0 stands for what was dropped
            exponent = exponent.saturating_sub(1);
        }
        Decimal { digits: kept, exponent }
    }

    /// Where both the digits and the power of ten are doubles, IEEE 754 rounds their product once.
    fn quickly(&self) -> Option<f64> {
        const EXACT: u64 = 1 << 53;
        if self.digits.len() > 16 {
            return None;
        }
        let digits = self.digits.iter().fold(0, |sum, digit| sum * 10 + u64::from(*digit));
        let power = POWERS.get(usize::try_from(self.exponent.unsigned_abs()).ok()?)?;
        let digits = (digits <= EXACT).then_some(digits as f64)?;
        Some(if self.exponent < 0 { digits / power } else { digits * power })
    }

    fn exactly(&self) -> f64 {
        match self.exponent.saturating_add(self.digits.len() as i64) {
            _ if self.digits.is_empty() => 0.0,
            310.. => f64::INFINITY,
            ..-330 => 0.0,
            _ => self.scaled().to_double(),
        }
    }

    fn scaled(&self) -> Binary {
        let mut number = Binary::default();
        for digits in self.digits.chunks(9) {
            let sum = digits.iter().fold(0, |sum, digit| sum * 10 + u32::from(*digit));
            number.multiply_and_add(10_u32.pow(digits.len() as u32), sum);
        }
        let power = self.exponent.unsigned_abs() as u32;
        let factors = std::iter::repeat_n(9, (power / 9) as usize).chain([power % 9]);
        let factors = factors.map(|power| 10_u32.pow(power));
        // 10^3 is less than 2^10: so more than 53 bits are left of any quotient.
        if self.exponent < 0 {
            number.shift(power as usize * 10 / 3 / 32 + 4);
            factors.for_each(|factor| number.divide(factor));
        } else {
            number.shift(2);
            factors.for_each(|factor| number.multiply_and_add(factor, 0));
        }
        number
    }
}

/// All powers of ten that are doubles.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// *words* × 2^-(32 × *shifted*), and a little more where a division left a rest.
#[derive(Default)]
struct Binary {
    /// The least first.
    words: Vec<u32>,
    shifted: usize,
    has_rest: bool,
}

impl Binary {
    fn multiply_and_add(&mut self, factor: u32, summand: u32) {
        let mut carry = u64::from(summand);
        for word in &mut self.words {
            carry += u64::from(*word) * u64::from(factor);
            *word = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.words.push(carry as u32);
        }
    }

    fn shift(&mut self, words: usize) {
        self.words.splice(0..0, std::iter::repeat_n(0, words));
        self.shifted += words;
    }

    fn divide(&mut self, divisor: u32) {
        let mut rest = 0;
        for word in self.words.iter_mut().rev() {
            rest = rest << 32 | u64::from(*word);
            *word = (rest / u64::from(divisor)) as u32;
            rest %= u64::from(divisor);
        }
        self.has_rest |= rest > 0;
    }

    fn bit(&self, index: usize) -> bool {
        self.words.get(index / 32).is_some_and(|word| word >> (index % 32) & 1 == 1)
    }

    /// How many bits it has up to the highest that is set.
    fn length(&self) -> usize {
        let zeros = self.words.iter().rev().take_while(|word| **word == 0).count();
        let words = self.words.len() - zeros;
        let highest = words.checked_sub(1).and_then(|last| self.words.get(last));
        highest.map_or(0, |word| words * 32 - word.leading_zeros() as usize)
    }

    /// Keeps 53 bits, or fewer where the last of them would be less than the least double.
    fn to_double(&self) -> f64 {
        const LEAST: i64 = -1_074;
        const GREATEST: i64 = 971;
        let length = self.length();
        let magnitude = length as i64 - 32 * self.shifted as i64;
        let Ok(count) = usize::try_from((magnitude - LEAST).min(53)) else { return 0.0 };
        let dropped = length.saturating_sub(count);
        let kept = (dropped..dropped + count)
            .rev()
            .fold(0_u64, |sum, index| sum << 1 | u64::from(self.bit(index)));
        let power = magnitude - count as i64;
        if power > GREATEST {
            return f64::INFINITY;
        }
        // The exponent's field counts from the least double; the leading bit adds one to it, and
        // so does a carry of the rounding.
        let rounded = kept + u64::from(self.rounds_up(dropped, kept));
        f64::from_bits((((power - LEAST) as u64) << 52) + rounded)
    }

    /// Whether what lies below a bit is more than its half, or the half and the bits above are odd.
    fn rounds_up(&self, dropped: usize, kept: u64) -> bool {
        let Some(half) = dropped.checked_sub(1) else { return false };
        let has_more = self.has_rest || (0..half).any(|index| self.bit(index));
        self.bit(half) && (has_more || kept & 1 == 1)
    }
}
