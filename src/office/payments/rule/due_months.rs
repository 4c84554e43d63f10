//! Lists what shops owe and have paid for each month, in pages.

use super::dues::{dues, listed_dues};
use super::usage::{MonthUsage, Usage};
use crate::office::orders::rule::TransactionFilter;
use crate::office::payments::rows::scope_months;
use crate::office::payments::rows::scope_months::MonthFilter;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::coverage::{Coverage, coverage_of_dues};
use crate::office::shared::rule::error::Result;
use crate::pledges::settlement::{Month, ScopeMonth};
use crate::pledges::store::OperatorStore;
use std::iter::successors;

/// Number of ended months that are listed if no month is given.
pub const MONTHS: usize = 12;

#[derive(Clone, Debug, Default)]
pub struct DueFilter {
    pub scopes: TransactionFilter,
    /// The month to select; `None` selects the last [`MONTHS`] months that have ended.
    pub month: Option<Month>,
    /// `true` selects months that are marked as paid, and `false` those that are not. `None` selects both.
    pub is_paid: Option<bool>,
}

#[derive(Clone, Debug, Default)]
pub struct DuePage {
    /// The months with their dues and payments: newest month first, then by unit and mode.
    pub months: Vec<MonthUsage>,
    /// The last month of this page, after which the next page begins; `None` on the last page.
    pub next: Option<ScopeMonth>,
    pub coverage: Coverage,
}

/// Returns a page of months. Each entry is one month of one scope, with what is owed and what is paid. A month is
/// listed if it has transactions or credits, or is marked as paid. The page has at most `most` months. `after` is
/// the last month of the previous page.
///
/// Ledger cost: 6 to 8 queries, or 3 if no month is listed. KV cost: 1 read, and 1 read per 100 months.
///
/// # Errors
/// - If the unit's ID is not valid.
/// - If the ledger does not keep the month.
/// - If a settlement is damaged, or the ledger or the store fails.
pub async fn due_months(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    now_ms: u64,
    filter: &DueFilter,
    after: Option<&ScopeMonth>,
    most: usize,
) -> Result<DuePage> {
    let DueFilter { scopes, month, is_paid } = filter;
    scopes.check()?;
    let coverage = coverage_of_dues(store, ledger, scopes.scopes().as_deref()).await?;
    let months = months(*month, &coverage, now_ms)?;
    let (mode, unit, is_paid) = (scopes.mode, scopes.unit.clone(), *is_paid);
    let wanted = MonthFilter { mode, unit, months, is_paid };
    let mut listed =
        scope_months::scope_months(ledger, &wanted, after, most.saturating_add(1)).await?;
    let has_more = listed.len() > most;
    listed.truncate(most);
    let next = listed.last().filter(|_| has_more).cloned();
    let months = match listed.as_slice() {
        [] => Vec::new(),
        listed => listed_dues(ledger, listed, &coverage).await?,
    };
    Ok(DuePage { months, next, coverage })
}

/// Returns all months that match, as [`due_months`] lists them. Ledger cost: 5 or 6 queries. KV cost: 1 read.
///
/// # Errors
/// As [`due_months`].
pub async fn all_due_months(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    now_ms: u64,
    DueFilter { scopes, month, is_paid }: &DueFilter,
) -> Result<Usage> {
    scopes.check()?;
    let coverage = coverage_of_dues(store, ledger, scopes.scopes().as_deref()).await?;
    let months = months(*month, &coverage, now_ms)?;
    let mut months = dues(ledger, scopes, &months, &coverage).await?;
    let is_wanted = |usage: &MonthUsage| is_paid.is_none_or(|paid| usage.settled.is_some() == paid);
    months.retain(|usage| !usage.sums.is_empty() && is_wanted(usage));
    Ok(Usage { months, coverage })
}

/// Returns the page of these months that begins after a month, as [`due_months`] lists it.
pub fn page_of(
    Usage { mut months, coverage }: Usage,
    after: Option<&ScopeMonth>,
    most: usize,
) -> DuePage {
    if let Some(after) = after.cloned().map(MonthUsage::new) {
        months.retain(|usage| usage.order(&after).is_gt());
    }
    let has_more = months.len() > most;
    months.truncate(most);
    let next = months.last().filter(|_| has_more).map(|usage| usage.of.clone());
    DuePage { months, next, coverage }
}

/// Returns the given month. If no month is given, returns the last [`MONTHS`] ended months, except those that
/// the ledger does not keep.
fn months(month: Option<Month>, coverage: &Coverage, now_ms: u64) -> Result<Vec<Month>> {
    if let Some(month) = month {
        coverage.check(month)?;
        return Ok(vec![month]);
    }
    let back = successors(Month::at(now_ms), |month| month.previous());
    let ended = back.skip_while(|month| !month.has_ended(now_ms)).take(MONTHS);
    Ok(ended.filter(|month| coverage.has(*month)).collect())
}

/// Returns what is owed and what is paid for one month of a scope. Ledger cost: 5 to 7 queries. KV cost: 2 reads.
///
/// # Errors
/// As [`due_months`].
pub async fn due_month(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    of: &ScopeMonth,
) -> Result<MonthUsage> {
    let filter = TransactionFilter::of(&of.scope);
    filter.check()?;
    let coverage = coverage_of_dues(store, ledger, filter.scopes().as_deref()).await?;
    coverage.check(of.month)?;
    let found = dues(ledger, &filter, &[of.month], &coverage).await?.pop();
    Ok(found.unwrap_or_else(|| MonthUsage::new(of.clone())))
}
