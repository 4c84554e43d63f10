//! Products and quotients of decimals, and decimals in JSON.

use super::{Decimal, MAX_UNITS};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

impl Decimal {
    /// Returns the exact product.
    pub fn times(&self, other: &Decimal) -> Self {
        Decimal::sum_of_products(std::iter::once((self.clone(), other)))
    }

    /// Returns the exact sum of two decimals.
    pub fn plus(&self, other: &Decimal) -> Self {
        Decimal::sum([self.clone(), other.clone()].into_iter())
    }

    /// Returns whether this decimal is equal to the other decimal, or larger.
    pub fn is_at_least(&self, other: &Decimal) -> bool {
        self.minus(other).is_some()
    }

    /// Returns how often `divisor` fits into this decimal as a whole, at most [`MAX_UNITS`] times. Returns
    /// [`MAX_UNITS`] for a divisor of 0.
    ///
    /// Each step of the bisection compares an exact product, so nothing is rounded but the result.
    pub fn quotient(&self, divisor: &Decimal) -> u64 {
        let (mut fits, mut is_too_many) = (0, MAX_UNITS + 1);
        while is_too_many - fits > 1 {
            let middle = fits + (is_too_many - fits) / 2;
            if self.is_at_least(&divisor.times(&Decimal::from_units(middle, 0))) {
                fits = middle;
            } else {
                is_too_many = middle;
            }
        }
        fits
    }

    /// Returns the decimal without what is after its point, at most [`MAX_UNITS`].
    pub fn floor(&self) -> u64 {
        self.quotient(&Decimal::from_units(1, 0))
    }
}

/// Writes the exact decimal as a text, such as `"12.5"`.
impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_exact())
    }
}

/// Reads a decimal from a text, as [`parse_bounded`](Decimal::parse_bounded) does.
impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        let decimal = Decimal::parse_bounded(&text).map(|decimal| decimal.trimmed());
        decimal.ok_or_else(|| Error::custom("a decimal has digits and at most one point"))
    }
}
