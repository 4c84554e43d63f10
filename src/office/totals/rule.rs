//! Writes the public totals to Workers KV, from the ledger: once a day for each unit that publishes one.

use super::rows;
use crate::buyer::total::{
    LEAST, MAX_OFFERING_ID, MAX_OFFERINGS, OfferingTotal, PublicTotal, rounded_down,
};
use crate::office::credits::rows as credits;
use crate::office::fulfilment::rows::quantities;
use crate::office::fulfilment::rows::quantities::OfferingSum;
use crate::office::payments::rows::sums::months_of;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::coverage::{Coverage, coverage};
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::put_record;
use crate::office::system::rule::epoch;
use crate::pledges::decimal::Decimal;
use crate::pledges::scope::Mode;
use crate::pledges::service::Clock;
use crate::pledges::settlement::Month;
use crate::pledges::store::{OperatorStore, TotalKey};
use crate::pledges::time::{DAY_MS, date_time, day_of, parse_ms};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// How long after its end a day is counted, in milliseconds. By then its messages have usually arrived.
const COUNTED_AFTER_MS: u64 = 3_600_000;
/// Maximum number of months that a total counts: ten years.
const MAX_MONTHS: usize = 120;
/// Number of months that a query sums.
const MONTHS: usize = 12;
/// Maximum number of sums by month and offering that a query returns.
const MAX_SUMS: usize = 10_000;

/// What a call did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Number of totals that were written, or found to be too small.
    pub written: usize,
    /// Number of totals that were removed, because their units no longer publish them.
    pub removed: usize,
}

/// Writes at most `most` totals that do not count yet up to the last ended day, and removes at most `most` that are no
/// longer published. Does nothing before the ledger's first complete reconciliation pass. Ledger cost: 4 queries; for each
/// total 3, and 2 to 4 for each 12 months of its unit. KV cost: 1 write for each total, and 1 read.
///
/// # Errors
/// If the ledger has lost credits, or the ledger or the store fails. The next call continues with other units.
pub async fn write(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    clock: &impl Clock,
    most: usize,
) -> Result<Totals> {
    let mut done = Totals::default();
    for unit in rows::ended(ledger, most).await? {
        store.remove(&TotalKey(&unit)).await?;
        rows::forget(ledger, &unit).await?;
        done.removed += 1;
    }
    let coverage = coverage(ledger, None).await?;
    let Some(day) = last_day(&coverage, clock.now_ms()) else { return Ok(done) };
    let due = rows::due(ledger, day, most).await?;
    if !due.is_empty() {
        epoch::check(store, ledger).await?;
    }
    for unit in due {
        rows::begin(ledger, &unit, clock.now_ms()).await?;
        let unit = [unit];
        let total = total(ledger, &unit, &coverage, day).await?;
        let [unit] = unit;
        match total {
            Some(total) => put_record(store, &TotalKey(&unit), &total).await?,
            None => store.remove(&TotalKey(&unit)).await?,
        }
        rows::end(ledger, &unit, day).await?;
        done.written += 1;
    }
    Ok(done)
}

/// Returns the day after the last one that can be counted, in days since 1970: an ended day of which the ledger has every
/// transaction.
fn last_day(coverage: &Coverage, now_ms: u64) -> Option<u64> {
    let complete = parse_ms(coverage.complete_up_to.as_deref()?)?;
    Some(complete.min(now_ms.saturating_sub(COUNTED_AFTER_MS)) / DAY_MS)
}

/// Returns what was pledged for a unit before a day in live mode, without what was credited. Returns `None` if nothing of
/// it is large enough.
async fn total(
    ledger: &dyn Ledger,
    unit: &[String; 1],
    coverage: &Coverage,
    day: u64,
) -> Result<Option<PublicTotal>> {
    let day_ms = day.saturating_mul(DAY_MS);
    let months = months_of(ledger, Some(Mode::Live), Some(unit)).await?.into_iter();
    let is_counted = |month: &Month| {
        coverage.has(*month) && month.span_ms().is_some_and(|(from, _)| from < day_ms)
    };
    let months: Vec<_> = months.filter(is_counted).take(MAX_MONTHS).collect();
    let Some(since) = months.last().copied() else { return Ok(None) };
    let mut sums = Sums::default();
    for months in months.chunks(MONTHS) {
        let pledged = quantities::live_before(ledger, unit, (months, day_ms), MAX_SUMS).await?;
        let credited =
            credits::credited_quantities(ledger, Some(Mode::Live), Some(unit), months).await?;
        sums.add(pledged, |sum| &mut sum.pledged);
        sums.add(credited, |sum| &mut sum.credited);
    }
    let totals = sums.totals();
    let until = date_time(day_ms.saturating_sub(DAY_MS));
    let until = day_of(&until).to_owned();
    Ok((!totals.is_empty()).then_some(PublicTotal { since, until, totals }))
}

#[derive(Default)]
struct Sums(BTreeMap<String, Sum>);

#[derive(Default)]
struct Sum {
    pledged: Part,
    credited: Part,
}

#[derive(Default)]
struct Part {
    orders: u64,
    quantity: Decimal,
}

impl Sums {
    fn add(&mut self, sums: Vec<OfferingSum>, part: impl Fn(&mut Sum) -> &mut Part) {
        for OfferingSum { offering, transactions, quantity, .. } in sums {
            let part = part(self.0.entry(offering).or_default());
            part.orders = part.orders.saturating_add(transactions);
            let both =
                [std::mem::take(&mut part.quantity), Decimal::parse(&quantity).unwrap_or_default()];
            part.quantity = Decimal::sum(both.into_iter());
        }
    }

    fn totals(self) -> Vec<OfferingTotal> {
        let total = |(offering_id, sum): (String, Sum)| {
            let Sum { pledged, credited } = sum;
            let orders = pledged.orders.saturating_sub(credited.orders);
            let quantity = rounded_down(&pledged.quantity.minus(&credited.quantity)?)?;
            let is_shown = orders >= LEAST && offering_id.len() <= MAX_OFFERING_ID;
            is_shown.then_some(OfferingTotal { offering_id, quantity })
        };
        let mut totals: Vec<_> = self.0.into_iter().filter_map(total).collect();
        totals.sort_by_key(|total| Reverse(total.quantity)); // those of one quantity stay sorted by ID
        totals.truncate(MAX_OFFERINGS);
        totals
    }
}
