//! Usage of shops by month: the ledger's current sums, and their payments. A shop is a unit in a mode.

use super::coverage::{Coverage, coverage};
use super::dues::{self, Due};
use super::payments;
use super::transactions::TransactionFilter;
use super::{OperatorError, Result};
use crate::auth::check_id;
use crate::ledger::credits::credit_sums;
use crate::ledger::{self, Direction, Filter, Ledger, MonthSum, Order};
use crate::scope::{Mode, Scope};
use crate::settlement::{Month, Settlement};
use crate::store::OperatorStore;
use crate::time::parse_ms;
use std::cmp::Ordering;
use std::{mem, slice};

/// Largest number of months of a shop that are summed: the newest ones.
const MAX_MONTHS: usize = 1_200;
/// Largest number of months whose late transactions are listed.
const MAX_LATE_MONTHS: usize = 20;
/// Largest number of late transactions that are listed for a month.
const MAX_LATE: usize = 5;

/// The usage of a shop in one month.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonthUsage {
    /// The unit's ID.
    pub unit: String,
    /// Test or live.
    pub mode: Mode,
    /// The month.
    pub month: Month,
    /// One sum for each currency, sorted by the currency's code. The sum is 0.00 for a currency that was paid or credited
    /// but has no transactions now.
    pub sums: Vec<Due>,
    /// The payment; `None` if the month is not marked as paid.
    pub settled: Option<Settlement>,
    /// The IDs of the newest transactions whose rows were written after the month was marked as paid; only if what is due
    /// differs from the payment.
    pub late: Vec<String>,
}

impl MonthUsage {
    pub(super) fn new(scope: Scope, month: Month) -> Self {
        let Scope { mode, unit } = scope;
        MonthUsage { unit, mode, month, sums: Vec::new(), settled: None, late: Vec::new() }
    }

    /// Compares for the order of lists: newest month first, then by unit and mode.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        let by_shop = (&self.unit, self.mode).cmp(&(&other.unit, other.mode));
        other.month.cmp(&self.month).then(by_shop)
    }

    /// Returns the paid amount of a sum: 0.00 if nothing was paid in its currency, `None` if the month is not marked as paid.
    pub fn paid_of(&self, sum: &Due) -> Option<&str> {
        let settled = self.settled.as_ref()?;
        Some(settled.of(&sum.currency_code).map_or("0.00", |paid| &paid.amount))
    }

    /// Returns whether the month is marked as paid, and something else is due now, or for another number of transactions.
    pub fn differs(&self) -> bool {
        let count: u64 = self.sums.iter().map(|sum| sum.transactions).sum();
        self.settled.as_ref().is_some_and(|settled| {
            settled.sums.iter().map(|sum| sum.transactions).sum::<u64>() != count
                || self.sums.iter().any(|sum| self.paid_of(sum) != Some(&sum.due))
        })
    }

    /// Sets the payment, and adds a sum of 0.00 for each paid currency without transactions.
    pub(super) fn settle(&mut self, settled: Settlement) {
        for paid in &settled.sums {
            self.due_in(&paid.currency_code);
        }
        self.settled = Some(settled);
    }

    /// Returns the sum in a currency. Adds a sum of 0.00 if there is none.
    pub(super) fn due_in(&mut self, code: &str) -> Option<&mut Due> {
        let place = match self.sums.binary_search_by(|sum| sum.currency_code.as_str().cmp(code)) {
            Ok(place) => place,
            Err(place) => {
                self.sums.insert(place, Due::new(code.to_owned(), "0.00".to_owned()));
                place
            }
        };
        self.sums.get_mut(place)
    }
}

/// The usage of shops by month.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The months of the shops: newest month first, then by unit and mode.
    pub months: Vec<MonthUsage>,
    /// How complete the sums are.
    pub coverage: Coverage,
}

// ---- Months --------------------------------------------------------------------------------------

/// Returns all months of a shop that have transactions or credits, or are marked as paid. For a month that the ledger no
/// longer keeps, the sums are the paid ones. Ledger cost: 6 queries, and 1 for each month that differs from its payment,
/// at most 20. KV cost: 1 list, and 1 read per 100 paid months.
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
    let coverage = coverage(ledger, Some(slice::from_ref(&shop))).await?;
    let mut spanned = ledger::months_of(ledger, Some(mode), Some(&units)).await?;
    spanned.truncate(MAX_MONTHS);
    let mut months = by_month(ledger::sums(ledger, Some(mode), Some(&units), &spanned).await?);
    let credits = credit_sums(ledger, Some(mode), Some(&units)).await?;
    dues::add_credits(&mut months, credits.iter());
    for paid in payments::list(store, unit, Some(mode)).await? {
        let Some(month) = Month::parse(&paid.month) else { continue };
        if let Some(usage) = dues::month_of(&mut months, shop.clone(), month) {
            usage.settle(paid.settlement);
        }
    }
    dues::carry(&mut months, &coverage);
    name_late(ledger, &mut months).await?;
    Ok(Usage { months, coverage })
}

/// Returns a month of the selected shops, including shops that have credits or a payment but no transactions. Ledger
/// cost: 2 queries, those of [`dues`](dues::dues), and 1 for each shop that differs from its payment, at most 20. KV
/// cost: as [`dues`](dues::dues).
///
/// # Errors
/// If the unit's ID is not valid, a settlement is damaged, the ledger does not keep the month, or the ledger or the store
/// fails.
pub async fn of_month(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    filter: &TransactionFilter,
    month: Month,
) -> Result<Usage> {
    filter.check()?;
    let coverage = coverage(ledger, filter.shops().as_deref()).await?;
    coverage.check(month)?;
    let mut months = dues::dues(store, ledger, filter, &[month], &coverage).await?;
    name_late(ledger, &mut months).await?;
    Ok(Usage { months, coverage })
}

/// Returns the selected months with their payments: one month, or all. Cost of all months of one unit: as [`of_shop`] for
/// each mode. Cost otherwise: as [`of_month`] for each month.
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
    let coverage = coverage(ledger, filter.shops().as_deref()).await?;
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

/// Groups sums that are sorted by month, unit, mode and currency, and sorts the groups as lists are.
pub(super) fn by_month(sums: Vec<MonthSum>) -> Vec<MonthUsage> {
    let mut months: Vec<MonthUsage> = Vec::new();
    for sum in sums {
        let own = months.last_mut().filter(|own| (own.month, own.mode) == (sum.month, sum.mode));
        match own.filter(|own| own.unit == sum.unit) {
            Some(own) => own.sums.push(Due::of_sum(sum)),
            None => {
                let shop = Scope { mode: sum.mode, unit: sum.unit.clone() };
                let own = MonthUsage::new(shop, sum.month);
                months.push(MonthUsage { sums: vec![Due::of_sum(sum)], ..own });
            }
        }
    }
    months.sort_by(MonthUsage::order);
    months
}

/// Adds the IDs of transactions whose rows were written after their month was marked as paid. Does so only for months
/// whose sums differ from the payment, because after a rebuild of the ledger every row looks new.
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
