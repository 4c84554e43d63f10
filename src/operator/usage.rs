//! Usage of shops by month: the ledger's current sums, and what the shops have paid. Here, a shop is a unit
//! in one mode, test or live.

pub use super::due::MonthUsage;

use super::coverage::{Coverage, coverage_of_dues};
use super::due::{self, by_month};
use super::dues;
use super::payments;
use super::transactions::TransactionFilter;
use super::{OperatorError, Result};
use crate::auth::check_id;
use crate::ledger::credits::credit_sums;
use crate::ledger::{self, Direction, Filter, Ledger, Order};
use crate::scope::{Mode, Scope};
use crate::settlement::Month;
use crate::store::OperatorStore;
use crate::time::parse_ms;
use std::{mem, slice};

/// Maximum number of months that are summed for a shop. If the shop has more months, the newest are summed.
const MAX_MONTHS: usize = 1_200;
/// Largest number of months whose late transactions are listed.
const MAX_LATE_MONTHS: usize = 20;
/// Largest number of late transactions that are listed for a month.
const MAX_LATE: usize = 5;

/// The usage of shops by month.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The months of the shops: newest month first, then by unit and mode.
    pub months: Vec<MonthUsage>,
    /// How complete the sums are.
    pub coverage: Coverage,
}

// ---- Months --------------------------------------------------------------------------------------

/// Returns all months in which a shop has transactions, credits or a payment. If the ledger no longer keeps
/// a month, returns the sums that were paid.
///
/// Ledger cost: 6 queries. In addition, 1 query for each month whose sums differ from its payment, at most
/// 20. KV cost: 1 list, 1 read, and 1 read per 100 paid months.
///
/// # Errors
/// If the unit's ID is not valid, a settlement is damaged, or the ledger or the store fails.
pub async fn of_shop(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    (unit, mode): (&str, Mode),
) -> Result<Usage> {
    check_id(unit).map_err(OperatorError::Invalid)?;
    let (shop, units) = (Scope { mode, unit: unit.to_owned() }, [unit.to_owned()]);
    let coverage = coverage_of_dues(store, ledger, Some(slice::from_ref(&shop))).await?;
    let mut spanned = ledger::months_of(ledger, Some(mode), Some(&units)).await?;
    spanned.truncate(MAX_MONTHS);
    let mut months = by_month(ledger::sums(ledger, Some(mode), Some(&units), &spanned).await?);
    let credits = credit_sums(ledger, Some(mode), Some(&units)).await?;
    dues::add_credits(&mut months, credits.iter());
    for paid in payments::list(store, unit, Some(mode)).await? {
        let Some(month) = Month::parse(&paid.month) else { continue };
        if let Some(usage) = due::month_of(&mut months, shop.clone(), month) {
            usage.settle(paid.settlement);
        }
    }
    dues::carry(&mut months, &coverage);
    name_late(ledger, &mut months).await?;
    Ok(Usage { months, coverage })
}

/// Returns the usage of the selected shops in one month. Includes shops that have credits or a payment but
/// no transactions.
///
/// Costs as much as [`dues`](dues::dues), plus 2 ledger queries. In addition, 1 query for each shop whose
/// sums differ from its payment, at most 20.
///
/// # Errors
/// If the unit's ID is not valid, a settlement is damaged, the ledger does not keep the month, or the
/// ledger or the store fails.
pub async fn of_month(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    filter: &TransactionFilter,
    month: Month,
) -> Result<Usage> {
    filter.check()?;
    let coverage = coverage_of_dues(store, ledger, filter.shops().as_deref()).await?;
    coverage.check(month)?;
    let mut months = dues::dues(store, ledger, filter, &[month], &coverage).await?;
    name_late(ledger, &mut months).await?;
    Ok(Usage { months, coverage })
}

/// Returns the usage and payments of the selected shops, in one month or in all months.
///
/// Cost:
///
/// - All months of one unit: as [`of_shop`], once for each mode.
/// - One month: as [`of_month`].
/// - All months of all units: as [`of_month`], plus 2 ledger queries.
///
/// # Errors
/// As [`of_shop`] and [`of_month`].
pub async fn of_all(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    filter: &TransactionFilter,
    month: Option<Month>,
) -> Result<Usage> {
    filter.check()?;
    if let (None, Some(unit)) = (month, &filter.unit) {
        let mut usage = Usage::default();
        for mode in filter.modes() {
            let Usage { months, coverage } = of_shop(store, ledger, (unit, mode)).await?;
            usage.months.extend(months);
            let mut damaged = mem::take(&mut usage.coverage.damaged);
            damaged.extend(coverage.damaged);
            usage.coverage = Coverage { damaged, ..coverage };
        }
        usage.months.sort_by(|a, b| b.month.cmp(&a.month).then(a.mode.cmp(&b.mode)));
        return Ok(usage);
    }
    let coverage = coverage_of_dues(store, ledger, filter.shops().as_deref()).await?;
    let spanned = match month {
        Some(month) => {
            coverage.check(month)?;
            vec![month]
        }
        None => all_months(ledger, filter.mode).await?,
    };
    let mut months = dues::dues(store, ledger, filter, &spanned, &coverage).await?;
    months.retain(|usage| !usage.sums.is_empty());
    name_late(ledger, &mut months).await?;
    Ok(Usage { months, coverage })
}

/// Returns the months with transactions or credits.
async fn all_months(ledger: &dyn Ledger, mode: Option<Mode>) -> Result<Vec<Month>> {
    let mut months = ledger::months_of(ledger, mode, None).await?;
    months.extend(credit_sums(ledger, mode, None).await?.iter().map(|credit| credit.month));
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
        let Some((from, until)) = usage.month.span_ms() else { continue };
        let Some(settled) = &usage.settled else { continue };
        let filter = Filter {
            mode: Some(usage.mode),
            units: Some(vec![usage.unit.clone()]),
            from,
            until: Some(until),
            changed_after: parse_ms(&settled.at),
            ..Filter::default()
        };
        let page = ledger::orders(ledger, &filter, &Direction::Newest, MAX_LATE).await?;
        usage.late = page.orders.into_iter().map(|Order { id, .. }| id).collect();
    }
    Ok(())
}
