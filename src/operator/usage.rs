//! Usage of shops by month: the ledger's current sums, and their payments. A shop is a unit in a mode.

use super::coverage::{Coverage, coverage};
use super::payments;
use super::transactions::TransactionFilter;
use super::{OperatorError, Result, read_values};
use crate::auth::check_id;
use crate::decimal::{Decimal, text_as_money};
use crate::ledger::{self, Direction, Filter, Ledger, MonthSum, Order};
use crate::scope::{Mode, Scope};
use crate::settlement::{Month, SettledSum, Settlement};
use crate::store::{Key as _, OperatorStore, SettlementKey, decode};
use crate::time::parse_ms;
use std::collections::BTreeMap;
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
    /// One sum for each currency, sorted by the currency's code. The sum is 0.00 for a currency that was paid but has
    /// no transactions now.
    pub sums: Vec<SettledSum>,
    /// The payment; `None` if the month is not marked as paid.
    pub settled: Option<Settlement>,
    /// The IDs of the newest transactions whose rows were written after the month was marked as paid; only if the sums
    /// differ from the payment.
    pub late: Vec<String>,
}

impl MonthUsage {
    pub(super) fn new(scope: Scope, month: Month) -> Self {
        let Scope { mode, unit } = scope;
        MonthUsage { unit, mode, month, sums: Vec::new(), settled: None, late: Vec::new() }
    }

    /// Returns the paid amount of a sum: 0.00 if nothing was paid in its currency, `None` if the month is not marked as paid.
    pub fn paid_of(&self, sum: &SettledSum) -> Option<&str> {
        let settled = self.settled.as_ref()?;
        let of = settled.sums.iter().find(|paid| paid.currency_code == sum.currency_code);
        Some(of.map_or("0.00", |paid| &paid.amount))
    }

    /// Returns whether the month is marked as paid, and the ledger now has other sums or another number of transactions.
    pub fn differs(&self) -> bool {
        let count = |sums: &[SettledSum]| sums.iter().map(|sum| sum.transactions).sum::<u64>();
        self.settled.as_ref().is_some_and(|settled| {
            count(&settled.sums) != count(&self.sums)
                || self.sums.iter().any(|sum| self.paid_of(sum) != Some(&sum.amount))
        })
    }

    /// Sets the payment, and adds a sum of 0.00 for each paid currency without transactions.
    fn settle(&mut self, settled: Settlement) {
        for paid in &settled.sums {
            let code = &paid.currency_code;
            if let Err(place) = self.sums.binary_search_by(|sum| sum.currency_code.cmp(code)) {
                self.sums.insert(place, nothing_in(code));
            }
        }
        self.settled = Some(settled);
    }
}

fn nothing_in(code: &str) -> SettledSum {
    let (currency_code, amount) = (code.to_owned(), "0.00".to_owned());
    SettledSum { currency_code, amount, transactions: 0, unpriced: 0 }
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

/// Returns all months of a shop that have transactions or are marked as paid. For a month that the ledger no longer keeps,
/// the sums are the paid ones. Ledger cost: 5 queries, and 1 for each month that differs from its payment, at most 20.
/// KV cost: 1 list, and 1 read per 100 paid months.
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
    for paid in payments::list(store, unit, Some(mode)).await? {
        let Some(month) = Month::parse(&paid.month) else { continue };
        let place = months.partition_point(|known| known.month > month);
        if months.get(place).is_none_or(|known| known.month != month) {
            months.insert(place, MonthUsage::new(shop.clone(), month));
        }
        let Some(usage) = months.get_mut(place) else { continue };
        if !coverage.has(month) {
            usage.sums.clone_from(&paid.settlement.sums);
        }
        usage.settle(paid.settlement);
    }
    name_late(ledger, &mut months).await?;
    Ok(Usage { months, coverage })
}

/// Returns a month of the selected shops, without payments: [`look_up_payments`] adds the payments. Includes shops that
/// have a payment but no transactions. Ledger cost: 4 queries.
///
/// # Errors
/// If the unit's ID is not valid, or the ledger does not keep the month, or fails.
pub async fn of_month(
    ledger: &dyn Ledger,
    filter: &TransactionFilter,
    month: Month,
) -> Result<Usage> {
    filter.check()?;
    let coverage = coverage(ledger, filter.shops().as_deref()).await?;
    coverage.check(month)?;
    Ok(Usage { months: shops_of(ledger, filter, month).await?, coverage })
}

/// Returns the shops with transactions in a month, or with a payment for it.
async fn shops_of(
    ledger: &dyn Ledger,
    filter: &TransactionFilter,
    month: Month,
) -> Result<Vec<MonthUsage>> {
    let (mode, units) = (filter.mode, filter.units());
    let units = units.as_deref();
    let mut months = by_month(ledger::sums(ledger, mode, units, &[month]).await?);
    months.sort_by(|a, b| (&a.unit, a.mode).cmp(&(&b.unit, b.mode)));
    let mut others = ledger::settled(ledger, mode, units, month).await?;
    others.retain(|shop| {
        let place = |usage: &MonthUsage| (&*usage.unit, usage.mode).cmp(&(&*shop.unit, shop.mode));
        months.binary_search_by(place).is_err()
    });
    months.extend(others.into_iter().map(|shop| MonthUsage::new(shop, month)));
    months.sort_by(|a, b| (&a.unit, a.mode).cmp(&(&b.unit, b.mode)));
    Ok(months)
}

/// Adds the payments to months of shops, and the IDs of late transactions. Ledger cost: at most 20 queries. KV cost: 1
/// read per 100 shops.
///
/// # Errors
/// If a settlement is damaged, or the ledger or the store fails.
pub async fn look_up_payments(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    months: &mut [MonthUsage],
) -> Result<()> {
    let key = |of: &MonthUsage| (of.mode, of.unit.clone(), of.month);
    let shops: Vec<_> = months.iter().map(key).collect();
    let keys =
        shops.iter().map(|(mode, unit, month)| SettlementKey { mode: *mode, unit, month: *month });
    let values = read_values(store, &keys.collect::<Vec<_>>()).await?;
    for (usage, value) in months.iter_mut().zip(values) {
        if let Some(value) = value {
            usage.settle(decode(SettlementKey::KIND, &value)?);
        }
    }
    name_late(ledger, months).await
}

/// Returns the selected months with their payments: one month, or all. Cost of all months of one unit: as [`of_shop`] for
/// each mode. Cost otherwise: for each month as [`of_month`] and [`look_up_payments`].
///
/// # Errors
/// As [`of_shop`], [`of_month`] and [`look_up_payments`].
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
        None => ledger::months_of(ledger, filter.mode, None).await?,
    };
    let mut months = Vec::new();
    for month in spanned {
        let mut own = shops_of(ledger, filter, month).await?;
        look_up_payments(store, ledger, &mut own).await?;
        months.extend(own.into_iter().filter(|usage| !usage.sums.is_empty()));
    }
    Ok(Usage { months, coverage })
}

/// Groups sums that are sorted by month, unit, mode and currency.
fn by_month(sums: Vec<MonthSum>) -> Vec<MonthUsage> {
    let mut months: Vec<MonthUsage> = Vec::new();
    for sum in sums {
        let MonthSum { mode, unit, month, currency_code, transactions, unpriced, amount } = sum;
        let own = months.last_mut().filter(|own| (own.month, own.mode) == (month, mode));
        let sum = SettledSum { currency_code, amount, transactions, unpriced };
        match own.filter(|own| own.unit == unit) {
            Some(own) => own.sums.push(sum),
            None => {
                let own = MonthUsage::new(Scope { mode, unit }, month);
                months.push(MonthUsage { sums: vec![sum], ..own });
            }
        }
    }
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

/// Returns the totals of months, one for each currency.
pub fn totals(months: &[MonthUsage]) -> Vec<SettledSum> {
    let mut totals: BTreeMap<&str, Vec<&SettledSum>> = BTreeMap::new();
    for sum in months.iter().flat_map(|usage| &usage.sums) {
        totals.entry(&sum.currency_code).or_default().push(sum);
    }
    let total = |(code, sums): (&str, Vec<&SettledSum>)| {
        let amounts = sums.iter().filter_map(|sum| charge(&sum.amount));
        SettledSum {
            currency_code: code.to_owned(),
            amount: Decimal::sum(amounts).to_money(),
            transactions: sums.iter().map(|sum| sum.transactions).sum(),
            unpriced: sums.iter().map(|sum| sum.unpriced).sum(),
        }
    };
    totals.into_iter().map(total).collect()
}

/// Parses an amount. Accepts only plain decimals, because a number with a large exponent could need gigabytes of
/// memory.
fn charge(text: &str) -> Option<Decimal> {
    text_as_money(text).and_then(|money| Decimal::parse(&money))
}
