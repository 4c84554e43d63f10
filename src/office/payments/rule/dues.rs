//! Computes what shops owe for months: the month's charges, minus the month's credits, minus the excess of
//! credits from earlier months.
//!
//! Credits of earlier orders can exceed the charges of the month in which they are booked. The excess is
//! carried to the next unpaid month of the same unit, mode and currency. When that month is paid, its
//! settlement records how much was carried into it. From then on, the month takes exactly that amount, and
//! the rest is carried to later months.

pub use super::due::{Due, totals};
use crate::office::payments::rows::settled;
use crate::office::payments::rows::sums;

use super::due::{MonthUsage, by_month, month_of, zero};
use crate::office::credits::rows::{CreditSum, credit_sums};
use crate::office::orders::rule::TransactionFilter;
use crate::office::payments::rows::sums::MonthSum;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::coverage::Coverage;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::read_values;
use crate::office::shops::rows::shops::ListedMonth;
use crate::pledges::decimal::Decimal;
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::settlement::Month;
use crate::pledges::store::{Key as _, OperatorStore, SettlementKey, decode};
use std::collections::{BTreeMap, BTreeSet};
use std::iter;

// ---- Months --------------------------------------------------------------------------------------

/// Returns what the selected shops owe for months, with the payments of settled months. Includes each shop
/// that has transactions, credits or a payment in a month. Sorts by month (newest first), unit and mode.
/// `coverage` is the ledger's coverage of these shops.
///
/// Ledger cost: 3 queries. A charge above 9 × 10^13 costs 1 more query. Credits of earlier orders that may be
/// carried into the months also cost 1 more query. KV cost: 1 read per 100 months, requested or earlier.
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
    let asked = Asked { units: units.as_deref(), ..Asked::of(filter.mode, months) };
    dues_of(store, ledger, &asked, coverage).await
}

/// Returns what shops owe, like [`dues`], but only for the listed months. Each entry of the list is one month
/// of one shop.
pub(crate) async fn listed_dues(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    listed: &[ListedMonth],
    coverage: &Coverage,
) -> Result<Vec<MonthUsage>> {
    let months: BTreeSet<_> = listed.iter().map(|it| it.month).collect();
    let months: Vec<_> = months.into_iter().collect();
    let units: BTreeSet<_> = listed.iter().map(|it| it.shop.unit.clone()).collect();
    let units: Vec<_> = units.into_iter().collect();
    let asked = Asked { units: Some(&units), listed: Some(listed), ..Asked::of(None, &months) };
    let mut found = dues_of(store, ledger, &asked, coverage).await?;
    found.retain(|usage| {
        listed.iter().any(|ListedMonth { shop, month }| {
            (*month, &shop.unit, shop.mode) == (usage.month, &usage.unit, usage.mode)
        })
    });
    Ok(found)
}

/// Returns what a shop owes for a month in each currency, as if the month were not settled. The cost is that
/// of [`dues`].
pub(crate) async fn unsettled(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    shop: &Scope,
    month: Month,
    coverage: &Coverage,
) -> Result<Vec<Due>> {
    let (units, months) = ([shop.unit.clone()], [month]);
    let asked = Asked { units: Some(&units), is_open: true, ..Asked::of(Some(shop.mode), &months) };
    let own = dues_of(store, ledger, &asked, coverage).await?.pop();
    Ok(own.map(|usage| usage.sums).unwrap_or_default())
}

struct Asked<'a> {
    mode: Option<Mode>,
    units: Option<&'a [String]>,
    months: &'a [Month],
    /// The wanted entries, each of which is one month of one shop. With `None`, all entries are wanted.
    listed: Option<&'a [ListedMonth]>,
    /// Whether the payments of the requested months are ignored: Workers KV may still show a payment that was
    /// undone.
    is_open: bool,
}

impl<'a> Asked<'a> {
    /// Requests months of all units.
    fn of(mode: Option<Mode>, months: &'a [Month]) -> Self {
        Asked { mode, units: None, months, listed: None, is_open: false }
    }

    /// Returns the sums of the charges for the wanted months. If the caller listed these months, also
    /// includes every requested month of each shop with credits. Excess credits of such a month may be
    /// carried into a listed month.
    async fn sums(&self, ledger: &dyn Ledger, credits: &[CreditSum]) -> Result<Vec<MonthSum>> {
        let Asked { mode, units, months, listed, .. } = *self;
        let Some(listed) = listed else {
            return Ok(sums::sums(ledger, mode, units, months).await?);
        };
        let shops: BTreeSet<_> = credits.iter().map(|it| (&it.unit, it.mode)).collect();
        let credited = shops.into_iter().flat_map(|(unit, mode)| {
            let shop = Scope { mode, unit: unit.clone() };
            months.iter().map(move |month| ListedMonth { shop: shop.clone(), month: *month })
        });
        let wanted: Vec<_> = listed.iter().cloned().chain(credited).collect();
        Ok(sums::listed_sums(ledger, &wanted).await?)
    }
}

/// Computes dues. Every page and command that shows what is due, or compares with it, gets its amounts here.
async fn dues_of(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    asked: &Asked<'_>,
    coverage: &Coverage,
) -> Result<Vec<MonthUsage>> {
    let mut found = counted(ledger, asked).await?;
    let has_payment =
        |usage: &&mut MonthUsage| !(asked.is_open && asked.months.contains(&usage.month));
    settle(store, &mut found.iter_mut().filter(has_payment).collect::<Vec<_>>()).await?;
    carry(&mut found, coverage);
    found.retain(|usage| asked.months.contains(&usage.month));
    Ok(found)
}

/// Returns the requested months with their charges and credits. Also returns earlier months whose excess
/// credits may be carried into the requested months.
///
/// Includes settled months without charges and credits: the ledger may have removed their rows, and their
/// settlements state how much of an excess they took.
async fn counted(ledger: &dyn Ledger, asked: &Asked<'_>) -> Result<Vec<MonthUsage>> {
    let Asked { mode, units, months, .. } = *asked;
    let credits = credit_sums(ledger, mode, units).await?;
    let mut found = by_month(asked.sums(ledger, &credits).await?);
    let earlier = Earlier::of(&credits, months);
    if !earlier.months.is_empty() {
        let sums = sums::sums(ledger, mode, Some(&earlier.units), &earlier.months).await?;
        let is_own = |usage: &MonthUsage| earlier.has(&usage.unit, usage.mode, usage.month);
        found.extend(by_month(sums).into_iter().filter(is_own));
        found.sort_by(MonthUsage::order);
    }
    // Not the earlier months of other shops: their charges are not read.
    let is_wanted =
        |unit: &str, mode, month| months.contains(&month) || earlier.has(unit, mode, month);
    let all = [months, &earlier.months].concat();
    for (month, shop) in settled::settled(ledger, mode, units, Some(&all)).await? {
        if is_wanted(&shop.unit, shop.mode, month) {
            month_of(&mut found, shop, month);
        }
    }
    add_credits(&mut found, credits.iter().filter(|it| is_wanted(&it.unit, it.mode, it.month)));
    Ok(found)
}

/// Reads the payments of months, and adds them to the months. KV cost: 1 read per 100 months.
async fn settle(store: &impl OperatorStore, months: &mut [&mut MonthUsage]) -> Result<()> {
    let key = |of: &&mut MonthUsage| (of.mode, of.unit.clone(), of.month);
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
fn add_credits<'c>(months: &mut Vec<MonthUsage>, credits: impl Iterator<Item = &'c CreditSum>) {
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
#[derive(Default)]
struct Earlier {
    units: Vec<String>,
    shops: BTreeSet<(String, Mode)>,
    months: Vec<Month>,
}

impl Earlier {
    /// Returns the earlier months to read. They begin with the first month that has a credit for an order of
    /// another month: only such credits can exceed the charges of a month. Returns none if no such credit
    /// is booked before the last requested month.
    fn of(credits: &[CreditSum], months: &[Month]) -> Self {
        let Some(last) = months.iter().max() else { return Earlier::default() };
        let excessive = |credit: &&CreditSum| credit.is_of_other && credit.month < *last;
        let credits: Vec<_> = credits.iter().filter(excessive).collect();
        let Some(first) = credits.iter().map(|credit| credit.month).min() else {
            return Earlier::default();
        };
        let shops: BTreeSet<_> =
            credits.iter().map(|credit| (credit.unit.clone(), credit.mode)).collect();
        let mut units: Vec<_> = shops.iter().map(|(unit, _)| unit.clone()).collect();
        units.dedup();
        let before = iter::successors(last.previous(), |month| month.previous());
        let before = before.take_while(|month| *month >= first);
        let before = before.filter(|month| !months.contains(month)).collect();
        Earlier { units, shops, months: before }
    }

    fn has(&self, unit: &str, mode: Mode, month: Month) -> bool {
        self.months.contains(&month) && self.shops.contains(&(unit.to_owned(), mode))
    }
}

/// Carries excess credits from month to month. The months must be sorted, and have their payments.
fn carry(months: &mut Vec<MonthUsage>, coverage: &Coverage) {
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
