//! Computes what shops owe for months: the month's charges, minus the month's credits, minus the excess of
//! credits from earlier months.
//!
//! Credits of earlier orders can exceed the charges of the month in which they are booked. The excess is
//! carried to the next unpaid month of the same unit, mode and currency. When that month is paid, its
//! settlement records how much was carried into it. From then on, the month takes exactly that amount, and
//! the rest is carried to later months.

pub use super::due::{Due, totals};

use super::coverage::Coverage;
use super::due::{MonthUsage, by_month, month_of, zero};
use super::transactions::TransactionFilter;
use super::{Result, read_values};
use crate::decimal::Decimal;
use crate::ledger::credits::{CreditSum, credit_sums};
use crate::ledger::{self, Ledger, ListedMonth, MonthSum};
use crate::scope::{Mode, Scope};
use crate::settlement::Month;
use crate::store::{Key as _, OperatorStore, SettlementKey, decode};
use std::collections::{BTreeMap, BTreeSet};
use std::iter;

// ---- Months --------------------------------------------------------------------------------------

/// Returns what the selected shops owe for months, with the payments of settled months. Includes each shop
/// that has transactions, credits or a payment in a month. Sorts by month (newest first), unit and mode.
/// `coverage` is the ledger's coverage of these shops.
///
/// Ledger cost: 3 queries. A charge above 9 × 10^13 costs 1 more query. Credits of earlier orders that may be
/// carried into the months also cost 1 more query. KV cost: 1 read per 100 results.
///
/// # Errors
/// If a settlement is damaged, or the ledger or the store fails.
pub async fn dues(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    filter: &TransactionFilter,
    months: &[Month],
    coverage: &Coverage,
) -> Result<Vec<MonthUsage>> {
    let units = filter.units();
    let asked = Asked { mode: filter.mode, units: units.as_deref(), months, listed: None };
    dues_of(store, ledger, &asked, coverage).await
}

/// Returns what shops owe, like [`dues`], but only for the listed months. Each entry of the list is one month
/// of one shop.
pub(super) async fn listed_dues(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    listed: &[ListedMonth],
    coverage: &Coverage,
) -> Result<Vec<MonthUsage>> {
    let months: BTreeSet<_> = listed.iter().map(|it| it.month).collect();
    let months: Vec<_> = months.into_iter().collect();
    let units: BTreeSet<_> = listed.iter().map(|it| it.shop.unit.clone()).collect();
    let units: Vec<_> = units.into_iter().collect();
    let asked = Asked { mode: None, units: Some(&units), months: &months, listed: Some(listed) };
    let mut found = dues_of(store, ledger, &asked, coverage).await?;
    found.retain(|usage| {
        listed.iter().any(|ListedMonth { shop, month }| {
            (*month, &shop.unit, shop.mode) == (usage.month, &usage.unit, usage.mode)
        })
    });
    Ok(found)
}

/// The shops and months for which dues are requested.
struct Asked<'a> {
    mode: Option<Mode>,
    units: Option<&'a [String]>,
    months: &'a [Month],
    /// The wanted entries, each of which is one month of one shop. With `None`, all entries are wanted.
    listed: Option<&'a [ListedMonth]>,
}

impl Asked<'_> {
    /// Returns the sums of the charges for the wanted months. If the caller listed these months, also
    /// includes every requested month of each shop with credits. Excess credits of such a month may be
    /// carried into a listed month.
    async fn sums(&self, ledger: &dyn Ledger, credits: &[CreditSum]) -> Result<Vec<MonthSum>> {
        let Asked { mode, units, months, listed } = *self;
        let Some(listed) = listed else {
            return Ok(ledger::sums(ledger, mode, units, months).await?);
        };
        let shops: BTreeSet<_> = credits.iter().map(|it| (&it.unit, it.mode)).collect();
        let credited = shops.into_iter().flat_map(|(unit, mode)| {
            let shop = Scope { mode, unit: unit.clone() };
            months.iter().map(move |month| ListedMonth { shop: shop.clone(), month: *month })
        });
        let wanted: Vec<_> = listed.iter().cloned().chain(credited).collect();
        Ok(ledger::listed_sums(ledger, &wanted).await?)
    }
}

async fn dues_of(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    asked: &Asked<'_>,
    coverage: &Coverage,
) -> Result<Vec<MonthUsage>> {
    let mut found = counted(ledger, asked).await?;
    let settled = ledger::settled(ledger, asked.mode, asked.units, asked.months).await?;
    for (month, shop) in settled {
        month_of(&mut found, shop, month);
    }
    settle(store, &mut found).await?;
    carry(&mut found, coverage);
    found.retain(|usage| asked.months.contains(&usage.month));
    Ok(found)
}

/// Returns what a shop owes for a month in each currency, as if the month were not settled. Ledger cost: 2
/// queries, and up to 2 more as for [`dues`]. KV cost: 1 read per 100 earlier months.
pub(super) async fn unsettled(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    shop: &Scope,
    month: Month,
    coverage: &Coverage,
) -> Result<Vec<Due>> {
    let units = [shop.unit.clone()];
    let months = [month];
    let asked = Asked { mode: Some(shop.mode), units: Some(&units), months: &months, listed: None };
    let mut found = counted(ledger, &asked).await?;
    // Not the month itself: Workers KV may still show a payment that was undone.
    let earlier = found.partition_point(|usage| usage.month >= month);
    settle(store, found.split_at_mut(earlier).1).await?;
    carry(&mut found, coverage);
    let own = found.into_iter().find(|usage| usage.month == month);
    Ok(own.map(|usage| usage.sums).unwrap_or_default())
}

/// Returns the requested months with their charges and credits. Also returns earlier months whose excess
/// credits may be carried into the requested months.
async fn counted(ledger: &dyn Ledger, asked: &Asked<'_>) -> Result<Vec<MonthUsage>> {
    let Asked { mode, units, months, .. } = *asked;
    let credits = credit_sums(ledger, mode, units).await?;
    let mut found = by_month(asked.sums(ledger, &credits).await?);
    if let Some(earlier) = Earlier::of(&credits, months) {
        let sums = ledger::sums(ledger, mode, Some(&earlier.units), &earlier.months).await?;
        let is_own = |usage: &MonthUsage| earlier.has(&usage.unit, usage.mode);
        found.extend(by_month(sums).into_iter().filter(is_own));
        found.sort_by(MonthUsage::order);
        // Not the credits of other shops: the charges of their earlier months are not read.
        let is_earlier = |credit: &&CreditSum| {
            earlier.months.contains(&credit.month) && earlier.has(&credit.unit, credit.mode)
        };
        add_credits(&mut found, credits.iter().filter(is_earlier));
    }
    add_credits(&mut found, credits.iter().filter(|credit| months.contains(&credit.month)));
    Ok(found)
}

/// Reads the payments of months, and adds them to the months. KV cost: 1 read per 100 months.
async fn settle(store: &impl OperatorStore, months: &mut [MonthUsage]) -> Result<()> {
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
    Ok(())
}

/// Adds credits to the months in which they are booked. `months` must be sorted.
pub(super) fn add_credits<'c>(
    months: &mut Vec<MonthUsage>,
    credits: impl Iterator<Item = &'c CreditSum>,
) {
    for CreditSum { mode, unit, month, currency_code, amount, .. } in credits {
        let shop = Scope { mode: *mode, unit: unit.clone() };
        let usage = month_of(months, shop, *month);
        if let Some(due) = usage.and_then(|usage| usage.due_in(currency_code)) {
            due.credited.clone_from(amount);
        }
    }
}

// ---- Carried -------------------------------------------------------------------------------------

/// Earlier months that were not requested, and the shops that may have excess credits in them. Such an excess
/// may be carried into a requested month.
struct Earlier {
    units: Vec<String>,
    shops: BTreeSet<(String, Mode)>,
    months: Vec<Month>,
}

impl Earlier {
    /// Returns the earlier months to read. They begin with the first month that has a credit for an order of
    /// another month: only such credits can exceed the charges of a month. Returns `None` if no such credit
    /// is booked before the last requested month.
    fn of(credits: &[CreditSum], months: &[Month]) -> Option<Self> {
        let last = *months.iter().max()?;
        let excessive = |credit: &&CreditSum| credit.is_of_other && credit.month < last;
        let credits: Vec<_> = credits.iter().filter(excessive).collect();
        let first = credits.iter().map(|credit| credit.month).min()?;
        let shops: BTreeSet<_> =
            credits.iter().map(|credit| (credit.unit.clone(), credit.mode)).collect();
        let mut units: Vec<_> = shops.iter().map(|(unit, _)| unit.clone()).collect();
        units.dedup();
        let before = iter::successors(last.previous(), |month| month.previous());
        let before = before.take_while(|month| *month >= first);
        let before = before.filter(|month| !months.contains(month)).collect();
        Some(Earlier { units, shops, months: before })
    }

    fn has(&self, unit: &str, mode: Mode) -> bool {
        self.shops.contains(&(unit.to_owned(), mode))
    }
}

/// Carries excess credits from month to month. The months must be sorted, and have their payments.
pub(super) fn carry(months: &mut Vec<MonthUsage>, coverage: &Coverage) {
    // The ledger does not know the charges of these months, so their credits cannot be set against them.
    months.retain(|usage| usage.settled.is_some() || coverage.has(usage.month));
    let mut open: BTreeMap<(String, Mode, String), Decimal> = BTreeMap::new();
    for usage in months.iter_mut().rev() {
        let is_kept = coverage.has(usage.month);
        if let Some(settled) = usage.settled.as_ref().filter(|_| !is_kept) {
            usage.sums = settled.sums.iter().map(Due::of_settled).collect();
        }
        for due in &mut usage.sums {
            let key = (usage.unit.clone(), usage.mode, due.currency_code.clone());
            let available = open.remove(&key).unwrap_or_else(zero);
            let rest = due.pass(available, usage.settled.as_ref(), is_kept);
            if !rest.is_zero() {
                open.insert(key, rest);
            }
        }
    }
}
