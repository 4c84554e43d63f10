//! Computes what shops owe for months: the month's charges, minus the month's credits, minus the excess of
//! credits from earlier months.
//!
//! Credits of earlier orders can exceed the charges of the month in which they are booked. The excess is
//! carried to the next unpaid month of the same unit, mode and currency. When that month is paid, its
//! settlement records how much was carried into it. From then on, the month takes exactly that amount, and
//! the rest is carried to later months.

pub use super::due::{Due, totals};
use crate::office::payments::rows::sums;

use super::due::{MonthUsage, by_month, month_of, zero};
use super::{Paid, settled_in};
use crate::office::credits::rows::{CreditSum, credit_sums};
use crate::office::orders::rule::TransactionFilter;
use crate::office::payments::rows::sums::MonthSum;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::coverage::Coverage;
use crate::office::shared::rule::error::Result;
use crate::pledges::decimal::Decimal;
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::settlement::{Month, ScopeMonth};
use std::collections::{BTreeMap, BTreeSet};
use std::iter;

// ---- Months --------------------------------------------------------------------------------------

/// Returns what is due for months of the selected scopes, with the payments of settled months. Includes each scope
/// that has transactions, credits or a payment in a month. Sorts by month (newest first), unit and mode.
/// `coverage` is the ledger's coverage of these scopes.
///
/// Ledger cost: 3 queries. A charge above 9 × 10^13 costs 2 more. Credits of earlier orders that may be
/// carried into the months also cost 1 more query.
///
/// # Errors
/// If a settlement is damaged, or the ledger fails.
pub async fn dues(
    ledger: &dyn Ledger,
    filter: &TransactionFilter,
    months: &[Month],
    coverage: &Coverage,
) -> Result<Vec<MonthUsage>> {
    let units = filter.units();
    let asked = Asked { units: units.as_deref(), ..Asked::of(filter.mode, months) };
    dues_of(ledger, &asked, coverage).await
}

/// Returns what is due, like [`dues`], but only for the listed months.
pub(crate) async fn listed_dues(
    ledger: &dyn Ledger,
    listed: &[ScopeMonth],
    coverage: &Coverage,
) -> Result<Vec<MonthUsage>> {
    let months: BTreeSet<_> = listed.iter().map(|it| it.month).collect();
    let months: Vec<_> = months.into_iter().collect();
    let units: BTreeSet<_> = listed.iter().map(|it| it.scope.unit.clone()).collect();
    let units: Vec<_> = units.into_iter().collect();
    let asked = Asked { units: Some(&units), listed: Some(listed), ..Asked::of(None, &months) };
    let mut found = dues_of(ledger, &asked, coverage).await?;
    found.retain(|usage| listed.contains(&usage.of));
    Ok(found)
}

/// Returns what is due for a month in each currency, as if the month were not settled. The cost is that of
/// [`dues`].
pub(crate) async fn unsettled(
    ledger: &dyn Ledger,
    ScopeMonth { scope: Scope { unit, mode }, month }: &ScopeMonth,
    coverage: &Coverage,
) -> Result<Vec<Due>> {
    let (units, months) = ([unit.clone()], [*month]);
    let asked = Asked { units: Some(&units), is_open: true, ..Asked::of(Some(*mode), &months) };
    let own = dues_of(ledger, &asked, coverage).await?.pop();
    Ok(own.map(|usage| usage.sums).unwrap_or_default())
}

struct Asked<'a> {
    mode: Option<Mode>,
    units: Option<&'a [String]>,
    months: &'a [Month],
    /// The wanted entries. With `None`, all entries are wanted.
    listed: Option<&'a [ScopeMonth]>,
    /// Whether the payments of the requested months are ignored.
    is_open: bool,
}

impl<'a> Asked<'a> {
    /// Requests months of all units.
    fn of(mode: Option<Mode>, months: &'a [Month]) -> Self {
        Asked { mode, units: None, months, listed: None, is_open: false }
    }

    /// Returns the sums of the charges for the wanted months. If the caller listed these months, also
    /// includes every requested month of each scope with credits. Excess credits of such a month may be
    /// carried into a listed month.
    async fn sums(&self, ledger: &dyn Ledger, credits: &[CreditSum]) -> Result<Vec<MonthSum>> {
        let Asked { mode, units, months, listed, .. } = *self;
        let Some(listed) = listed else {
            return Ok(sums::sums(ledger, mode, units, months).await?);
        };
        let scopes: BTreeSet<_> = credits.iter().map(|it| &it.of.scope).collect();
        let credited = scopes.into_iter().flat_map(|scope| {
            months.iter().map(|month| ScopeMonth { scope: scope.clone(), month: *month })
        });
        let wanted: Vec<_> = listed.iter().cloned().chain(credited).collect();
        Ok(sums::listed_sums(ledger, &wanted).await?)
    }
}

/// Computes dues. Every page and command that shows what is due, or compares with it, gets its amounts here.
async fn dues_of(
    ledger: &dyn Ledger,
    asked: &Asked<'_>,
    coverage: &Coverage,
) -> Result<Vec<MonthUsage>> {
    let excesses = settled_excesses(ledger, asked, coverage).await?;
    let mut found = counted(ledger, asked, &excesses).await?;
    carry(&mut found, coverage);
    found.retain(|usage| asked.months.contains(&usage.of.month));
    Ok(found)
}

/// Returns the requested months with their charges and credits. Also returns earlier months whose excess
/// credits may be carried into the requested months.
///
/// Includes settled months without charges and credits: the ledger may have removed their rows, and their
/// settlements state how much of an excess they took. `excesses` are such months whose settlements state an excess.
async fn counted(
    ledger: &dyn Ledger,
    asked: &Asked<'_>,
    excesses: &[ScopeMonth],
) -> Result<Vec<MonthUsage>> {
    let Asked { mode, units, months, is_open, .. } = *asked;
    let credits = credit_sums(ledger, mode, units).await?;
    let mut found = by_month(asked.sums(ledger, &credits).await?);
    let exceeding = credits.iter().filter(|credit| credit.may_exceed).map(|credit| &credit.of);
    let earlier = Earlier::of(exceeding.chain(excesses), months);
    if !earlier.months.is_empty() {
        let sums = sums::sums(ledger, mode, Some(&earlier.units), &earlier.months).await?;
        let is_own = |usage: &MonthUsage| earlier.has(&usage.of);
        found.extend(by_month(sums).into_iter().filter(is_own));
        found.sort_by(MonthUsage::order);
    }
    // Not the earlier months of other scopes: their charges are not read.
    let is_wanted = |of: &ScopeMonth| months.contains(&of.month) || earlier.has(of);
    let all = [months, &earlier.months].concat();
    for Paid { of, settlement } in settled_in(ledger, mode, units, Some(&all)).await? {
        let counts = is_wanted(&of) && !(is_open && months.contains(&of.month));
        if counts && let Some(usage) = month_of(&mut found, of) {
            usage.settle(settlement);
        }
    }
    add_credits(&mut found, credits.iter().filter(|it| is_wanted(&it.of)));
    Ok(found)
}

/// Returns the settled months that the ledger does not keep and whose settlements state more credits than charges. Their
/// rows are removed, so nothing else says so. Ledger cost: 1 query, if the ledger does not keep all months.
async fn settled_excesses(
    ledger: &dyn Ledger,
    Asked { mode, units, .. }: &Asked<'_>,
    coverage: &Coverage,
) -> Result<Vec<ScopeMonth>> {
    if coverage.complete_from.is_none() {
        return Ok(Vec::new());
    }
    let settled = settled_in(ledger, *mode, *units, None).await?;
    let exceeds = |paid: &Paid| {
        let mut sums = paid.settlement.sums.iter().filter(|sum| sum.credits.is_some());
        !coverage.has(paid.of.month) && sums.any(|sum| Due::of_settled(sum).excess().is_some())
    };
    Ok(settled.into_iter().filter(exceeds).map(|paid| paid.of).collect())
}

/// Adds credits to the months in which they are booked. `months` must be sorted.
fn add_credits<'c>(months: &mut Vec<MonthUsage>, credits: impl Iterator<Item = &'c CreditSum>) {
    for CreditSum { of, currency_code, amount, .. } in credits {
        let usage = month_of(months, of.clone());
        if let Some(due) = usage.and_then(|usage| usage.due_in(currency_code)) {
            due.credited.clone_from(amount);
        }
    }
}

// ---- Carried -------------------------------------------------------------------------------------

/// Earlier months that were not requested, and the scopes that may have excess credits in them. Such an excess
/// may be carried into a requested month.
#[derive(Default)]
struct Earlier {
    units: Vec<String>,
    scopes: BTreeSet<Scope>,
    months: Vec<Month>,
}

impl Earlier {
    /// Returns the earlier months to read. They begin with the first of the months whose credits may exceed their charges.
    /// Returns none if no such month is before the last requested one.
    fn of<'e>(exceeding: impl Iterator<Item = &'e ScopeMonth>, months: &[Month]) -> Self {
        let Some(last) = months.iter().max() else { return Earlier::default() };
        let exceeding: Vec<_> = exceeding.filter(|of| of.month < *last).collect();
        let Some(first) = exceeding.iter().map(|of| of.month).min() else {
            return Earlier::default();
        };
        let scopes: BTreeSet<_> = exceeding.iter().map(|of| of.scope.clone()).collect();
        let mut units: Vec<_> = scopes.iter().map(|scope| scope.unit.clone()).collect();
        units.dedup();
        let before = iter::successors(last.previous(), |month| month.previous());
        let before = before.take_while(|month| *month >= first);
        let before = before.filter(|month| !months.contains(month)).collect();
        Earlier { units, scopes, months: before }
    }

    fn has(&self, of: &ScopeMonth) -> bool {
        self.months.contains(&of.month) && self.scopes.contains(&of.scope)
    }
}

/// Carries excess credits from month to month. The months must be sorted, and have their payments.
fn carry(months: &mut Vec<MonthUsage>, coverage: &Coverage) {
    // The ledger does not know the charges of these months, so their credits cannot be set against them.
    months.retain(|usage| usage.settled.is_some() || coverage.has(usage.of.month));
    let mut open: BTreeMap<(Scope, String), Decimal> = BTreeMap::new();
    for usage in months.iter_mut().rev() {
        let is_kept = coverage.has(usage.of.month);
        if let Some(settled) = usage.settled.as_ref().filter(|_| !is_kept) {
            usage.sums = settled.sums.iter().map(Due::of_settled).collect();
        }
        for due in &mut usage.sums {
            let key = (usage.of.scope.clone(), due.currency_code.clone());
            let available = open.remove(&key).unwrap_or_else(zero);
            let rest = due.pass(available, usage.settled.as_ref(), is_kept);
            if !rest.is_zero() {
                open.insert(key, rest);
            }
        }
    }
}
