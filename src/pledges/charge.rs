//! Computes the charge of a pledge transaction from the operator's prices, in exact decimals.

use super::decimal::Decimal;
use super::time::parse_ms;
use super::types::{CurrencyCode, Impact};
use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::fmt::{self, Formatter};

/// The operator's price list, one JSON record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PriceList {
    /// The currency of every charge.
    pub currency_code: CurrencyCode,
    /// The price of one unit of each offering. An offering that is not listed is charged 0.00.
    #[serde(deserialize_with = "read_prices")]
    pub unit_prices: BTreeMap<String, UnitPrice>,
    /// The time at which this price list was set, an RFC 3339 date-time with milliseconds.
    #[serde(default, deserialize_with = "read_time", skip_serializing_if = "Option::is_none")]
    pub prices: Option<String>,
}

/// Deserializes a time of 24 bytes, which fits the metadata of a record. Any other text becomes `None`.
fn read_time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let time = Option::<String>::deserialize(deserializer)?;
    Ok(time.filter(|time| time.len() == 24 && parse_ms(time).is_some()))
}

/// A price of 0 or more, written as a plain decimal such as `0.50`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct UnitPrice {
    text: String,
    #[serde(skip)]
    decimal: Decimal,
}

/// Maximum number of characters of a price. This is enough for any currency, and few enough for fast sums.
const MAX_PRICE_LENGTH: usize = 40;

/// Approximate memory, in bytes, that an entry of a price list takes without its texts.
const PRICE_BYTES: usize = 128;

impl UnitPrice {
    /// Parses a price. Returns `None` for a sign, an exponent, a point without digits on both sides, blanks, or over 40
    /// characters.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let plain = text.len() <= MAX_PRICE_LENGTH && digits(whole) && digits(fraction);
        let decimal = Decimal::parse(text).filter(|_| plain)?;
        Some(UnitPrice { text: text.to_owned(), decimal })
    }

    pub fn times(&self, quantity: Decimal) -> Decimal {
        Decimal::sum_of_products(std::iter::once((quantity, &self.decimal)))
    }

    /// Returns the price as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

// A visitor instead of `try_from`, so that the error for a bare number also says what to write.
impl<'de> Deserialize<'de> for UnitPrice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(UnitPriceVisitor)
    }
}

struct UnitPriceVisitor;

impl Visitor<'_> for UnitPriceVisitor {
    type Value = UnitPrice;

    fn expecting(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("a price: write a plain decimal in quotes, such as `\"0.50\"`")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<UnitPrice, E> {
        UnitPrice::parse(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}

/// Deserializes `unitPrices`, an object with a price for each offering.
///
/// # Errors
/// If the value is not such an object, or has two prices for an offering.
pub fn read_prices<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, UnitPrice>, D::Error> {
    deserializer.deserialize_map(PricesVisitor)
}

struct PricesVisitor;

impl<'de> Visitor<'de> for PricesVisitor {
    type Value = BTreeMap<String, UnitPrice>;

    fn expecting(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("an object from offering IDs to prices")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut prices = BTreeMap::new();
        while let Some((offering, price)) = members.next_entry::<String, UnitPrice>()? {
            if prices.contains_key(&offering) {
                return Err(Error::custom(format_args!(
                    "`{offering}` has two prices: remove one of them"
                )));
            }
            prices.insert(offering, price);
        }
        Ok(prices)
    }
}

impl PriceList {
    /// Returns the sum of amount × unit price. Computes it exactly, and rounds it once to two places, half
    /// away from zero.
    ///
    /// Each amount counts as its shortest decimal text. Any amount works, from 5e-324 to 1.8e308. The result
    /// is a plain decimal without an exponent, such as `12.50`.
    pub fn amount<'r, 'a: 'r>(&self, impacts: impl Iterator<Item = &'r Impact<'a>>) -> String {
        let products = impacts.filter_map(|impact| {
            let price = self.unit_prices.get(&*impact.offering_id)?;
            Some((Decimal::shortest(impact.amount.get())?, &price.decimal))
        });
        Decimal::sum_of_products(products).to_money()
    }

    pub fn unpriced<'r, 'a: 'r>(&self, impacts: impl Iterator<Item = &'r Impact<'a>>) -> usize {
        impacts.filter(|impact| !self.lists(&impact.offering_id)).count()
    }

    pub fn bytes(&self) -> usize {
        let texts = |(offering, price): (&String, &UnitPrice)| offering.len() + price.text.len();
        self.unit_prices.iter().map(texts).map(|bytes| bytes + PRICE_BYTES).sum()
    }

    pub fn lists(&self, offering_id: &str) -> bool {
        self.unit_prices.contains_key(offering_id)
    }
}
