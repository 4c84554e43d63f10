//! What a unit pledged in the current year, and what its buyers were told of it.

use crate::office::credits::rows as credits;
use crate::office::fulfilment::rows::quantities;
use crate::office::fulfilment::rows::quantities::OfferingSum;
use crate::office::payments::rows::sums;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::coverage::coverage_of_quantities;
use crate::office::shared::rule::error::Result;
use crate::office::system::rule::epoch;
use crate::office::updates::rows::updates;
use crate::office::updates::rows::updates::{UpdateFilter, UpdateRow, UpdateState};
use crate::pledges::decimal::Decimal;
use crate::pledges::scope::Mode;
use crate::pledges::settlement::Month;
use crate::pledges::store::OperatorStore;
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of sums by month and offering that are read.
const MAX_SUMS: usize = 10_000;
/// Maximum number of updates of all offerings that are searched.
const MAX_SEARCHED: usize = 1_000;

#[derive(Clone, Debug)]
pub struct Year {
    /// The months of the year that have begun and that the ledger keeps, newest first.
    pub months: Vec<Month>,
    /// For each offering the exact quantity, less credits; the largest first. Offerings that were credited whole are left out.
    pub pledged: Vec<(String, Decimal)>,
    /// The months and offerings that were pledged.
    of_months: BTreeSet<(Month, String)>,
}

/// Sums what a unit pledged in live mode in the current year (UTC), less credits. Ledger cost: 4 or 5 queries, and that of
/// [`epoch::check`].
///
/// # Errors
/// If the ledger has lost credits, or fails.
pub async fn of_year(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    unit: &str,
    now_ms: u64,
) -> Result<Year> {
    epoch::check(store, ledger).await?;
    let units = [unit.to_owned()];
    let (coverage, _) = coverage_of_quantities(ledger, None).await?;
    let mut months = months_of_year(now_ms);
    months.retain(|month| coverage.has(*month));
    let mode = Some(Mode::Live);
    let pledged = quantities::quantities(ledger, mode, Some(&units), &months, MAX_SUMS).await?;
    let credited = credits::credited_quantities(ledger, mode, Some(&units), &months).await?;
    let of_months = pledged.iter().map(|sum| (sum.month, sum.offering.clone())).collect();
    Ok(Year { months, pledged: less(pledged, credited), of_months })
}

/// Returns the number of live transactions of a unit in the current year (UTC). [`of_year`] reads all of them, this function only
/// sums of days. Ledger cost: 1 query.
///
/// # Errors
/// If the ledger fails.
pub async fn orders_of_year(ledger: &dyn Ledger, unit: &str, now_ms: u64) -> Result<u64> {
    let (units, months) = ([unit.to_owned()], months_of_year(now_ms));
    let sums = sums::sums(ledger, Some(Mode::Live), Some(&units), &months).await?;
    Ok(sums.iter().map(|sum| sum.transactions).sum())
}

/// Returns the months of the current year that have begun, newest first.
fn months_of_year(now_ms: u64) -> Vec<Month> {
    let mut months = Month::last(now_ms, 12);
    let first = months.first().map_or(0, |month| month.number() / 100);
    months.retain(|month| month.number() / 100 == first);
    months
}

fn less(pledged: Vec<OfferingSum>, credited: Vec<OfferingSum>) -> Vec<(String, Decimal)> {
    let sums = |sums: Vec<OfferingSum>| {
        let mut all: BTreeMap<String, Vec<Decimal>> = BTreeMap::new();
        for OfferingSum { offering, quantity, .. } in sums {
            all.entry(offering).or_default().extend(Decimal::parse(&quantity));
        }
        all.into_iter().map(|(offering, parts)| (offering, Decimal::sum(parts.into_iter())))
    };
    let credited: BTreeMap<_, _> = sums(credited).collect();
    let left = |(offering, sum): (String, Decimal)| {
        let credited = credited.get(&offering).cloned().unwrap_or_default();
        let left = sum.minus(&credited).filter(|left| !left.is_zero())?;
        Some((offering, left))
    };
    let mut all: Vec<_> = sums(pledged).filter_map(left).collect();
    all.sort_by(|(_, one), (_, other)| match one.minus(other) {
        None => Ordering::Greater,
        Some(_) => Ordering::Less,
    });
    all
}

/// Returns the published updates about what a unit pledged in the year, newest first. Ledger cost: 1 query.
pub async fn told(ledger: &dyn Ledger, year: &Year, most: usize) -> Result<Vec<UpdateRow>> {
    let filter = UpdateFilter { mode: Some(Mode::Live), months: &year.months, offering: None };
    let mut found = updates::list(ledger, &filter, MAX_SEARCHED).await?;
    found.retain(|row| {
        let of = (row.pledges.month, row.pledges.offering.clone());
        row.state == UpdateState::Published && year.of_months.contains(&of)
    });
    found.sort_by_key(|row| Reverse(row.update.date.clone()));
    found.truncate(most);
    Ok(found)
}
