use crate::pledges::charge::{PriceList, UnitPrice};
use crate::pledges::decimal::Decimal;
use crate::pledges::types::CurrencyCode;
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
    /// The reasons to ask for confirmation: an offering loses its price, a price becomes ten times as high or as low, the
    /// currency changes, or the old price list cannot be read.
    pub risks: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PriceChange {
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
        change.risks.extend(leaps(&change.prices));
        change
    }
}

// ---- Prices that are likely to be a mistake ------------------------------------------------------

/// Maximum number of prices that are named as a risk.
const MAX_NAMED: usize = 5;

/// Names the prices that become at least ten times as high or as low, such as `the price of tree changes from
/// 0.50 to 50000 (× 100000)`.
fn leaps(prices: &[PriceChange]) -> Vec<String> {
    let leaps = prices.iter().filter_map(|change| {
        let (from, to) = (change.from.as_ref()?, change.to.as_ref()?);
        let factor = leap(from, to)?;
        let (from, to) = (from.as_str(), to.as_str());
        Some(format!("the price of {} changes from {from} to {to}{factor}", change.offering))
    });
    let mut leaps: Vec<_> = leaps.collect();
    let more = leaps.len().saturating_sub(MAX_NAMED);
    leaps.truncate(MAX_NAMED);
    let more = (more > 0).then(|| format!("prices that change as much: {more} more"));
    leaps.extend(more);
    leaps
}

/// Returns the factor of a change, such as ` (× 100)` or ` (÷ 12.5)`; `None` if the change is below a factor of
/// ten. A change to 0 has no factor. A change from 0 counts as a first price.
fn leap(from: &UnitPrice, to: &UnitPrice) -> Option<String> {
    let factor = |high: &UnitPrice, low: &UnitPrice| {
        let ratio = high.as_str().parse::<f64>().ok()? / low.as_str().parse::<f64>().ok()?;
        let ratio = format!("{ratio:.1}");
        Some(ratio.strip_suffix(".0").unwrap_or(&ratio).to_owned())
    };
    let is_zero = |price: &UnitPrice| price.times(Decimal::from_units(1, 0)).is_zero();
    match (is_zero(from), is_zero(to)) {
        (true, _) => None,
        (_, true) => Some(String::new()),
        _ if is_tenfold(to, from) => factor(to, from).map(|factor| format!(" (× {factor})")),
        _ if is_tenfold(from, to) => factor(from, to).map(|factor| format!(" (÷ {factor})")),
        _ => None,
    }
}

fn is_tenfold(high: &UnitPrice, low: &UnitPrice) -> bool {
    let [one, ten] = [1, 10].map(|factor| Decimal::from_units(factor, 0));
    high.times(one).minus(&low.times(ten)).is_some()
}
