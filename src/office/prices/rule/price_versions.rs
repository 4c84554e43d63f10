//! The price lists by which transactions were charged. A price list never changes, and is stored under the time at which
//! it was set.

use crate::office::orders::rows::entry::offering_in_rows;
use crate::office::orders::rows::order::Order;
use crate::office::shared::rule::error::Result;
use crate::pledges::charge::PriceList;
use crate::pledges::store::{Key as _, OperatorStore, PriceListKey, PriceListVersionKey, decode};
use crate::pledges::time::date_time;
use std::collections::{BTreeMap, BTreeSet};

/// Number of price lists that are read at once. Each of them may have 1 MiB.
pub(crate) const READS: usize = 5;

/// Decodes a price list, and keeps only the prices of `offerings`. Shortens long offering IDs, as the
/// ledger's rows do. Returns `None` for a damaged price list.
pub(crate) fn of_offerings(value: &[u8], offerings: &BTreeSet<String>) -> Option<PriceList> {
    let list: PriceList = decode(PriceListVersionKey::KIND, value).ok()?;
    let prices = list.unit_prices.into_iter();
    let named = prices.map(|(offering, price)| (offering_in_rows(offering), price));
    let unit_prices = named.filter(|(offering, _)| offerings.contains(&**offering)).collect();
    Some(PriceList { unit_prices, ..list })
}

/// The unit prices by which transactions were charged.
#[derive(Default)]
pub(crate) struct ChargedPrices(BTreeMap<String, PriceList>);

impl ChargedPrices {
    /// Reads the price lists of these transactions, and keeps the prices of `offerings`. Looks for the price lists of
    /// the modes first, because few units have their own. KV cost: 1 read per 5 price lists.
    pub async fn read(
        store: &impl OperatorStore,
        rows: &[Order],
        offerings: &BTreeSet<String>,
    ) -> Result<Self> {
        let mut found = ChargedPrices::default();
        for of in [of_mode, of_unit] {
            let missing = rows.iter().filter(|row| found.list(row).is_none());
            let times: Vec<_> =
                missing.filter_map(|row| Some((row, date_time(row.prices?)))).collect();
            let keys = times.iter().map(|(row, time)| PriceListVersionKey { of: of(row), time });
            let keys: BTreeMap<_, _> = keys.map(|key| (key.name(), key)).collect();
            let keys: Vec<_> = keys.into_values().collect();
            for keys in keys.chunks(READS) {
                for (key, value) in keys.iter().zip(store.get_values(keys).await?) {
                    let list = value.and_then(|value| of_offerings(&value, offerings));
                    found.0.extend(list.map(|list| (key.name(), list)));
                }
            }
        }
        Ok(found)
    }

    /// Returns the unit price by which an offering of a transaction was charged; `None` if it had no price, or the
    /// price list cannot be read.
    pub fn price(&self, row: &Order, offering: &str) -> Option<&str> {
        let price = self.list(row)?.unit_prices.get(&*offering_in_rows(offering.to_owned()))?;
        Some(price.as_str())
    }

    fn list(&self, row: &Order) -> Option<&PriceList> {
        let time = date_time(row.prices?);
        let named =
            |of: PriceListKey<'_>| self.0.get(&PriceListVersionKey { of, time: &time }.name());
        let list = named(of_unit(row)).or_else(|| named(of_mode(row)))?;
        (list.currency_code.code() == row.currency_code).then_some(list)
    }
}

fn of_mode(row: &Order) -> PriceListKey<'_> {
    PriceListKey::of_mode(row.scope.mode)
}

fn of_unit(row: &Order) -> PriceListKey<'_> {
    PriceListKey::of_unit(row.scope.mode, &row.scope.unit)
}
