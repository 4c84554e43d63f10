//! Usage of scopes by month: the ledger's current sums, and what was paid.

pub use super::due::MonthUsage;
use crate::office::orders::rows::orders;
use crate::office::payments::rows::settled;
use crate::office::payments::rows::sums;

use super::dues;
use crate::office::credits::rows::credit_sums;
use crate::office::orders::rows::order::{Filter, Order};
use crate::office::orders::rows::orders::Direction;
use crate::office::orders::rule::TransactionFilter;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::coverage::{Coverage, coverage_of_dues};
use crate::office::shared::rule::error::Result;
use crate::pledges::scope::Scope;
use crate::pledges::settlement::{Month, ScopeMonth};
use crate::pledges::store::OperatorStore;
use crate::pledges::time::parse_ms;

/// Maximum number of months of transactions that are summed. If there are more, the newest are summed.
const MAX_MONTHS: usize = 1_200;
/// Largest number of months whose late transactions are listed.
const MAX_LATE_MONTHS: usize = 20;
/// Maximum number of late transactions of one scope and one millisecond among which a transaction is searched.
const MAX_AT_ONCE: usize = 1_000;
/// Largest number of late transactions that are listed for a month.
const MAX_LATE: usize = 5;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The months of the scopes: newest month first, then by unit and mode.
    pub months: Vec<MonthUsage>,
    pub coverage: Coverage,
}

// ---- Months --------------------------------------------------------------------------------------

/// Returns all months in which a scope has transactions, credits or a payment, as [`of_all`] does.
///
/// # Errors
/// As [`of_all`].
pub async fn of_scope(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    scope: &Scope,
) -> Result<Usage> {
    of_all(store, ledger, &TransactionFilter::of(scope), None).await
}

/// Returns the usage of the selected scopes in one month, as [`of_all`] does.
///
/// # Errors
/// As [`of_all`].
pub async fn of_month(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    filter: &TransactionFilter,
    month: Month,
) -> Result<Usage> {
    of_all(store, ledger, filter, Some(month)).await
}

/// Returns the usage and payments of the selected scopes, in one month or in all months. Includes scopes that
/// have credits or a payment but no transactions. If the ledger no longer keeps a month, returns the sums that
/// were paid.
///
/// Costs as much as [`dues`](dues::dues), plus 2 ledger queries for one month, or 5 for all months. In
/// addition, 1 query for each month of a scope whose sums differ from its payment, at most 20.
///
/// # Errors
/// If the unit's ID is not valid, a settlement is damaged, the ledger does not keep the month, or the
/// ledger or the store fails.
pub async fn of_all(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    filter: &TransactionFilter,
    month: Option<Month>,
) -> Result<Usage> {
    filter.check()?;
    let coverage = coverage_of_dues(store, ledger, filter.scopes().as_deref()).await?;
    let spanned = match month {
        Some(month) => {
            coverage.check(month)?;
            vec![month]
        }
        None => all_months(ledger, filter).await?,
    };
    let mut months = dues::dues(ledger, filter, &spanned, &coverage).await?;
    months.retain(|usage| !usage.sums.is_empty());
    name_late(ledger, &mut months).await?;
    Ok(Usage { months, coverage })
}

/// Returns the months in which the selected scopes may have transactions, credits or a payment.
async fn all_months(ledger: &dyn Ledger, filter: &TransactionFilter) -> Result<Vec<Month>> {
    let units = filter.units();
    let (mode, units) = (filter.mode, units.as_deref());
    let mut months = sums::months_of(ledger, mode, units).await?;
    months.truncate(MAX_MONTHS);
    months.extend(credit_sums(ledger, mode, units).await?.iter().map(|credit| credit.of.month));
    months
        .extend(settled::settled(ledger, mode, units, None).await?.iter().map(|(of, _)| of.month));
    months.sort_unstable();
    months.dedup();
    Ok(months)
}

/// Adds the IDs of late transactions: the ledger received them after their month was marked as paid. Skips
/// months whose sums equal the payment, because after a rebuild of the ledger every transaction would look
/// late.
async fn name_late(ledger: &dyn Ledger, months: &mut [MonthUsage]) -> Result<()> {
    let differing = months.iter_mut().filter(|usage| usage.differs());
    for usage in differing.take(MAX_LATE_MONTHS) {
        let Some(late) = late_in(usage) else { continue };
        let page = orders::orders(ledger, &late, &Direction::Newest, MAX_LATE).await?;
        usage.late = page.orders.into_iter().map(|Order { id, .. }| id).collect();
    }
    Ok(())
}

/// Selects the transactions of a month whose rows were written after the month was marked as paid. Returns `None` if
/// the month's sums equal its payment, or it has none.
fn late_in(usage: &MonthUsage) -> Option<Filter> {
    let (from, until) = usage.of.month.span_ms()?;
    let settled = usage.settled.as_ref().filter(|_| usage.differs())?;
    Some(Filter {
        from,
        until: Some(until),
        changed_after: parse_ms(&settled.at),
        ..Filter::of(&usage.of.scope)
    })
}

/// Returns whether a transaction may never have been charged: its row was written after its month
/// was marked as paid, and the month's sums differ from the payment. Returns `false` for a month
/// that the ledger does not keep. Ledger cost: that of [`of_month`].
pub(crate) async fn is_late(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    of: &ScopeMonth,
    order: &Order,
) -> Result<bool> {
    let filter = TransactionFilter::of(&of.scope);
    let coverage = coverage_of_dues(store, ledger, filter.scopes().as_deref()).await?;
    if !coverage.has(of.month) {
        return Ok(false);
    }
    let found = dues::dues(ledger, &filter, &[of.month], &coverage).await?.pop();
    let Some(late) = found.as_ref().and_then(late_in) else { return Ok(false) };
    let Some(from) = parse_ms(&order.created_at) else { return Ok(false) };
    let own = Filter { from, until: Some(from.saturating_add(1)), ..late };
    let page = orders::orders(ledger, &own, &Direction::Newest, MAX_AT_ONCE).await?;
    Ok(page.orders.iter().any(|it| it.id == order.id))
}
