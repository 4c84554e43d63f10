use crate::pledges::validate::number::to_double;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use serde_json::value::RawValue;
use std::cmp::Ordering;

/// A quantity pledged towards an offering (§2.5): finite, and greater than 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amount(f64);

impl Amount {
    pub(super) const ONE: Amount = Amount(1.0);

    /// Checks a quantity. Returns `None` for 0, negative numbers, infinities and NaN.
    pub fn new(value: f64) -> Option<Self> {
        (value.is_finite() && value > 0.0).then_some(Amount(value))
    }

    /// Parses the text of a JSON number. Rounds to the nearest double, which is JavaScript's type of numbers.
    pub fn parse(text: &str) -> Option<Self> {
        Amount::new(to_double(text))
    }

    pub fn get(self) -> f64 {
        self.0
    }

    /// Returns the quantity as an integer, if it is an integer that a double represents exactly.
    pub fn as_integer(self) -> Option<u64> {
        const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53
        (self.0.fract() == 0.0 && self.0 <= EXACT).then_some(self.0 as u64)
    }
}

impl Eq for Amount {} // an amount is never NaN

impl Ord for Amount {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Amount {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Writes the number as JavaScript does: `3`, not `3.0`.
impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_integer() {
            Some(integer) => serializer.serialize_u64(integer),
            None => serializer.serialize_f64(self.0),
        }
    }
}

/// Parses the number from its text, because serde_json's own conversion can miss the nearest double.
impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Amount::parse(<&RawValue>::deserialize(deserializer)?.get())
            .ok_or_else(|| Error::custom("an amount must be finite and greater than 0"))
    }
}
