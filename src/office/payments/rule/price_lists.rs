//! The price lists by which the transactions of a statement were charged.

use crate::office::prices::rows::{PricedCharges, PricedMonth};
use crate::office::prices::rule::price_versions::{READS, of_offerings};
use crate::office::shared::rule::error::Result;
use crate::pledges::charge::PriceList;
use crate::pledges::scope::Scope;
use crate::pledges::store::{OperatorStore, PriceListKey, PriceListVersionKey};
use crate::pledges::time::date_time;
use std::collections::{BTreeMap, BTreeSet};

/// `Other`.
pub(super) const MAX_PRICE_LISTS: usize = 50;

/// The price lists by which a month was charged, each under the time at which it was set. They contain only
/// the offerings of that month.
pub(super) struct PriceLists(BTreeMap<u64, PriceList>);

impl PriceLists {
    pub async fn read(
        store: &impl OperatorStore,
        scope: &Scope,
        priced: &PricedMonth,
    ) -> Result<Self> {
        let Scope { unit, mode } = scope;
        let of = [PriceListKey::of_mode(*mode), PriceListKey::of_unit(*mode, unit)];
        let times: BTreeSet<_> = priced.charges.iter().filter_map(|it| it.by.prices).collect();
        let times: Vec<_> = times.into_iter().take(MAX_PRICE_LISTS).collect();
        let offerings = priced.quantities.iter().map(|it| it.offering.clone()).collect();
        let mut lists = BTreeMap::new();
        for times in times.chunks(READS) {
            let texts: Vec<_> = times.iter().map(|time| date_time(*time)).collect();
            for of in of {
                let keys: Vec<_> =
                    texts.iter().map(|time| PriceListVersionKey { of, time }).collect();
                for (time, value) in times.iter().zip(store.get_values(&keys).await?) {
                    let list = value.and_then(|value| of_offerings(&value, &offerings));
                    lists.extend(list.map(|list| (*time, list)));
                }
            }
        }
        Ok(PriceLists(lists))
    }

    /// Returns the price list by which these transactions were charged; `None` if it cannot be read.
    pub fn of(&self, charges: &PricedCharges) -> Option<&PriceList> {
        let list = self.0.get(&charges.by.prices?)?;
        (list.currency_code.code() == charges.by.currency_code).then_some(list)
    }
}
