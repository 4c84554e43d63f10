//! What a pledge transaction is worth: the operator's prices, summed in exact decimals.

use crate::pledge::{CurrencyCode, Impact};
use bigdecimal::{BigDecimal, RoundingMode, Zero as _};
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use std::collections::BTreeMap;
use std::str::FromStr as _;

/// The operator's price catalogue, one JSON record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Catalogue {
    /// The currency of every charge.
    pub currency_code: CurrencyCode,
    /// Price of one unit of each offering. An offering that is not listed costs nothing.
    pub unit_prices: BTreeMap<String, UnitPrice>,
}

/// A price of 0 or more, written as a plain decimal such as `0.50`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnitPrice(String);

/// Most characters of a price: enough for any currency, too few to slow a sum.
const MAX_PRICE_LENGTH: usize = 40;

impl UnitPrice {
    /// `None` for a sign, an exponent, a bare point, blanks, or more than 40 characters.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let plain = text.len() <= MAX_PRICE_LENGTH && digits(whole) && digits(fraction);
        plain.then(|| UnitPrice(text.to_owned()))
    }

    fn to_decimal(&self) -> BigDecimal {
        BigDecimal::from_str(&self.0).unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for UnitPrice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        UnitPrice::parse(&text).ok_or_else(|| {
            D::Error::custom(format_args!(
                "`{text}` is not a price: write a plain decimal such as `0.50`"
            ))
        })
    }
}

impl Catalogue {
    /// The sum of amount × unit price: exact, rounded once to two places, half away from zero.
    ///
    /// Each amount counts as its shortest decimal text. Any amount works, from 5e-324 to 1.8e308;
    /// the result is a plain decimal without an exponent, such as `12.50`.
    pub fn amount<'r, 'a: 'r>(&self, impacts: impl Iterator<Item = &'r Impact<'a>>) -> String {
        let sum = impacts.fold(BigDecimal::zero(), |sum, impact| sum + self.price(impact));
        sum.with_scale_round(2, RoundingMode::HalfUp).to_plain_string()
    }

    fn price(&self, impact: &Impact<'_>) -> BigDecimal {
        match self.unit_prices.get(&*impact.offering_id) {
            Some(price) => price.to_decimal() * shortest_decimal(impact.amount.get()),
            None => BigDecimal::zero(),
        }
    }
}

/// Rust prints a double as the shortest decimal that reads back as the same double.
fn shortest_decimal(amount: f64) -> BigDecimal {
    BigDecimal::from_str(&format!("{amount:e}")).unwrap_or_default()
}
