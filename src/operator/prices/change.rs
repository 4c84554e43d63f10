//! What a new price list changes.

use crate::charge::{PriceList, UnitPrice};
use crate::pledge::CurrencyCode;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What a new price list changes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The currency before and after; `None` if it does not change, or there was no price list.
    pub currency: Option<(CurrencyCode, CurrencyCode)>,
    /// The prices that differ, sorted by offering.
    pub prices: Vec<PriceChange>,
    /// The reasons to ask for confirmation: an offering loses its price, the currency changes, or the old price list cannot
    /// be read.
    pub risks: Vec<String>,
}

/// A price that a new price list changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PriceChange {
    /// The offering's ID.
    pub offering: String,
    /// The old price; `None` if the offering had none.
    pub from: Option<UnitPrice>,
    /// The new price; `None` if the offering has none.
    pub to: Option<UnitPrice>,
}

/// How many prices a new price list changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChangeCounts {
    /// The number of offerings that get another price.
    pub changed: usize,
    /// The number of offerings that get their first price.
    pub added: usize,
    /// The number of offerings that lose their price.
    pub removed: usize,
}

impl Change {
    /// Counts the prices that change.
    pub fn counts(&self) -> ChangeCounts {
        let count = |from: bool, to: bool| {
            let is = |it: &&PriceChange| (it.from.is_some(), it.to.is_some()) == (from, to);
            self.prices.iter().filter(is).count()
        };
        ChangeCounts {
            changed: count(true, true),
            added: count(false, true),
            removed: count(true, false),
        }
    }

    /// Returns whether nothing changes.
    pub fn is_none(&self) -> bool {
        self.currency.is_none() && self.prices.is_empty() && self.risks.is_empty()
    }

    pub(super) fn new(old: Option<&PriceList>, new: &PriceList) -> Self {
        let none = BTreeMap::new();
        let before = old.map_or(&none, |old| &old.unit_prices);
        let offerings: BTreeSet<_> = before.keys().chain(new.unit_prices.keys()).collect();
        let change = |offering: &String| PriceChange {
            offering: offering.clone(),
            from: before.get(offering).cloned(),
            to: new.unit_prices.get(offering).cloned(),
        };
        let prices: Vec<_> =
            offerings.into_iter().map(change).filter(|change| change.from != change.to).collect();
        let currency = old
            .map(|old| (old.currency_code, new.currency_code))
            .filter(|(before, after)| before != after);
        let moves = currency.map(|(before, after)| {
            let (before, after): (&str, &str) = (before.into(), after.into());
            format!("the currency changes from {before} to {after}")
        });
        let mut change = Change { currency, prices, risks: moves.into_iter().collect() };
        let ChangeCounts { removed, .. } = change.counts();
        let loses = (removed > 0).then(|| format!("offerings that lose their price: {removed}"));
        change.risks.extend(loses);
        change
    }
}
