//! Finds what operators have to look at. Each function reads one kind of task. If one of them fails, the
//! others still work.

use super::epoch;
use crate::office::payments::rule::dues::listed_dues;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::coverage::coverage_of_dues;
use crate::office::shared::rule::error::Result;
use crate::office::shops::rows::scopes;
use crate::office::system::rows::attention::Unsettled;
use crate::office::system::rows::unusual::UnusualCharges;
use crate::office::system::rows::{attention, unusual};
use crate::pledges::scope::Mode;
use crate::pledges::service::Clock;
use crate::pledges::settlement::Month;
use crate::pledges::store::{Key as _, OperatorStore, UnitKey};
use crate::pledges::time::DAY_MS;
use std::collections::{BTreeMap, BTreeSet};
use std::iter::successors;

/// The search for unusual charges covers this many days.
pub const UNUSUAL_DAYS: u64 = 90;
/// The search for open payments covers this many months before the current one.
const MONTHS: usize = 12;
/// The search for unpriced pledges covers this many months, including the current one.
const UNPRICED_MONTHS: usize = 2;
/// Maximum number of entries, each one month of one scope, for which the amount due is computed. It
/// is computed only if credits may cover all charges of the month.
const MAX_COVERED: usize = 200;
/// The search for units without live transactions checks at most this many units.
pub const MAX_UNITS: usize = 1_000;

pub use crate::office::mails::rule::{RECENT_DAYS, RecentFailures, recent_failures};

/// Returns the number of unpriced pledges in live mode, for the current and the previous month. Pledges of
/// scopes that have paid the month do not count. Ledger cost: 1 query.
pub async fn unpriced(ledger: &dyn Ledger, clock: &impl Clock) -> Result<Vec<(Month, u64)>> {
    let months: Vec<_> = months_back(clock).take(UNPRICED_MONTHS).collect();
    Ok(attention::unpriced(ledger, &months).await?)
}

/// Returns for how many scopes something is due for each of the last 12 months that have ended, newest month
/// first. Leaves out months for which nothing is due.
///
/// Credits may cover all charges of a scope's month. Then the amount due is computed, for at most 200 such
/// months. Any further month of this kind counts as owed.
///
/// Ledger cost: 2 queries, and 5 to 7 more if amounts due are computed. KV cost: 1 read, and 1 read per 100 computed
/// months.
///
/// # Errors
/// If the ledger has lost credits, or the ledger or the store fails.
pub async fn unsettled(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    clock: &impl Clock,
) -> Result<Vec<(Month, u64)>> {
    epoch::check(store, ledger).await?;
    let has_ended = |month: &Month| month.has_ended(clock.now_ms());
    let months: Vec<_> = months_back(clock).filter(has_ended).take(MONTHS).collect();
    let Unsettled { owed, mut covered } = attention::unsettled(ledger, &months).await?;
    let mut counts: BTreeMap<Month, u64> = owed.into_iter().collect();
    let others = covered.split_off(covered.len().min(MAX_COVERED));
    let owed = match covered.as_slice() {
        [] => Vec::new(),
        covered => {
            listed_dues(ledger, covered, &coverage_of_dues(store, ledger, None).await?).await?
        }
    };
    let owed = owed.iter().filter(|usage| usage.owes()).map(|usage| usage.of.month);
    for month in owed.chain(others.into_iter().map(|it| it.month)) {
        *counts.entry(month).or_default() += 1;
    }
    Ok(counts.into_iter().rev().collect())
}

/// Returns the current month and the [`MONTHS`] months before it, newest first.
fn months_back(clock: &impl Clock) -> impl Iterator<Item = Month> {
    successors(Month::at(clock.now_ms()), |month| month.previous()).take(MONTHS + 1)
}

/// Returns the unusual charges of the last [`UNUSUAL_DAYS`] days, as [`unusual::unusual`] defines them. `limit` is an
/// amount in hundredths of the currency. Ledger cost: 1 query.
pub async fn unusual(
    ledger: &dyn Ledger,
    clock: &impl Clock,
    limit: Option<u64>,
    most: usize,
) -> Result<UnusualCharges> {
    let since = clock.now_ms().saturating_sub(UNUSUAL_DAYS * DAY_MS);
    Ok(unusual::unusual(ledger, since, limit, most).await?)
}

/// Units without a live transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdleUnits {
    pub units: Vec<String>,
    /// Whether there are further units that were not checked.
    pub has_more: bool,
}

/// Searches the first 1,000 registered units, and returns those without a live transaction. KV cost: 1 list.
/// Ledger cost: 1 query.
pub async fn idle_units(store: &impl OperatorStore, ledger: &dyn Ledger) -> Result<IdleUnits> {
    let active = scopes::scopes(ledger, Some(Mode::Live), None).await?;
    let active: BTreeSet<_> = active.into_iter().map(|scope| scope.unit).collect();
    let page = store.list(UnitKey::PREFIX, None).await?;
    let ids = page.records.iter().filter_map(|record| record.name.strip_prefix(UnitKey::PREFIX));
    let idle = ids.take(MAX_UNITS).filter(|id| !active.contains(*id));
    Ok(IdleUnits { units: idle.map(str::to_owned).collect(), has_more: page.cursor.is_some() })
}
