//! What shops owe for months: the charges, less the credits of the month, less what earlier months had in excess.
//!
//! Credits of earlier orders can exceed the charges of the month in which they are booked. The excess is carried to the
//! next month of the same unit, mode and currency that is not settled. A settlement states what was carried into its
//! month, so a settled month takes exactly that, and the rest goes on to the months after it.

use super::coverage::Coverage;
use super::payments::ShopMonth;
use super::transactions::TransactionFilter;
use super::usage::{MonthUsage, by_month};
use super::{Result, read_values};
use crate::decimal::{Decimal, text_as_money};
use crate::ledger::credits::{CreditSum, credit_sums};
use crate::ledger::{self, Ledger, MonthSum};
use crate::scope::{Mode, Scope};
use crate::settlement::{Deductions, Month, SettledSum, Settlement};
use crate::store::{Key as _, OperatorStore, SettlementKey, decode};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::iter;

/// What a shop owes for a month in one currency. Amounts are decimals with two places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Due {
    /// The code of the currency, which may be one that only a later release knows.
    pub currency_code: String,
    /// The sum of the charges.
    pub amount: String,
    /// Number of transactions.
    pub transactions: u64,
    /// Number of pledges whose offering had no price.
    pub unpriced: usize,
    /// The credits that are booked in the month.
    pub credited: String,
    /// The excess of credits that is carried from earlier months.
    pub carried: String,
    /// `amount` − `credited` − `carried`; 0.00 if that is negative.
    pub due: String,
}

impl Due {
    /// Creates the due of a sum without credits.
    pub(super) fn new(currency_code: String, amount: String) -> Self {
        let (due, zero) = (amount.clone(), || "0.00".to_owned());
        let (transactions, unpriced) = (0, 0);
        Due {
            currency_code,
            amount,
            transactions,
            unpriced,
            credited: zero(),
            carried: zero(),
            due,
        }
    }

    pub(super) fn of_sum(sum: MonthSum) -> Self {
        let MonthSum { currency_code, amount, transactions, unpriced, .. } = sum;
        Due { transactions, unpriced, ..Due::new(currency_code, amount) }
    }

    /// Returns the due that a settlement states.
    pub(super) fn of_settled(paid: &SettledSum) -> Self {
        let amount = paid.credits.as_ref().map_or(&paid.amount, |credits| &credits.counted);
        let mut due = Due::new(paid.currency_code.clone(), amount.clone());
        (due.transactions, due.unpriced) = (paid.transactions, paid.unpriced);
        if let Some(Deductions { credited, carried, .. }) = &paid.credits {
            due.credited.clone_from(credited);
            due.carry(money(carried));
        }
        due
    }

    /// Returns what a settlement states if this is paid.
    pub(super) fn into_settled(self) -> SettledSum {
        let Due { currency_code, amount, transactions, unpriced, credited, carried, due } = self;
        let credits = (credited != "0.00" || carried != "0.00").then_some(Deductions {
            counted: amount,
            credited,
            carried,
        });
        SettledSum { currency_code, amount: due, transactions, unpriced, credits }
    }

    /// Sets what is carried into the month. Returns the excess, which is carried to a later month.
    fn carry(&mut self, carried: Decimal) -> Decimal {
        self.carried = carried.to_money();
        let taken = Decimal::sum([money(&self.credited), carried].into_iter());
        let counted = money(&self.amount);
        match counted.minus(&taken) {
            Some(due) => {
                self.due = due.to_money();
                zero()
            }
            None => {
                self.due = "0.00".to_owned();
                taken.minus(&counted).unwrap_or_else(zero)
            }
        }
    }

    /// Carries what is available into the month, and returns what is carried to the next month. A settled month takes
    /// what its settlement states; if less is available now, its due differs from what was paid.
    fn pass(&mut self, available: Decimal, settled: Option<&Settlement>, is_kept: bool) -> Decimal {
        let Some(settled) = settled else { return self.carry(available) };
        let stated = settled.of(&self.currency_code).and_then(|paid| paid.credits.as_ref());
        let stated = stated.map_or_else(zero, |credits| money(&credits.carried));
        let rest = available.minus(&stated);
        let taken = if is_kept && rest.is_none() { available } else { stated };
        let excess = self.carry(taken);
        Decimal::sum([rest.unwrap_or_else(zero), excess].into_iter())
    }
}

/// Parses an amount. Accepts only plain decimals, because a number with a large exponent could need gigabytes of memory.
pub(super) fn money(text: &str) -> Decimal {
    text_as_money(text).and_then(|money| Decimal::parse(&money)).unwrap_or_else(zero)
}

fn zero() -> Decimal {
    Decimal::from_units(0, 0)
}

// ---- Months --------------------------------------------------------------------------------------

/// Returns what the selected shops owe for months, with the payments of those that are settled: newest month first, then
/// by unit and mode. Includes the shops that have transactions, credits or a payment in a month. `coverage` is that of
/// the shops.
///
/// Ledger cost: 3 queries, 1 more if a charge is above 9 × 10^13, and 1 more if credits of earlier orders may be carried
/// into the months. KV cost: 1 read per 100 months of shops.
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
    let mut found = counted(ledger, filter, months).await?;
    settle(store, &mut found).await?;
    carry(&mut found, coverage);
    found.retain(|usage| months.contains(&usage.month));
    Ok(found)
}

/// Returns what a shop owes for a month as if the month was not settled, by currency. Cost: as [`dues`].
pub(super) async fn unsettled(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    of: &ShopMonth,
    coverage: &Coverage,
) -> Result<Vec<Due>> {
    let filter = TransactionFilter { unit: Some(of.unit.clone()), mode: Some(of.mode) };
    let mut found = counted(ledger, &filter, &[of.month]).await?;
    settle(store, &mut found).await?;
    for usage in found.iter_mut().filter(|usage| usage.month == of.month) {
        usage.settled = None; // Workers KV may still show a payment that was undone
    }
    carry(&mut found, coverage);
    let own = found.into_iter().find(|usage| usage.month == of.month);
    Ok(own.map(|usage| usage.sums).unwrap_or_default())
}

/// Returns the charges and the credits of months, and of the earlier months from which something may be carried into
/// them.
async fn counted(
    ledger: &dyn Ledger,
    filter: &TransactionFilter,
    months: &[Month],
) -> Result<Vec<MonthUsage>> {
    let (mode, units) = (filter.mode, filter.units());
    let units = units.as_deref();
    let mut found = by_month(ledger::sums(ledger, mode, units, months).await?);
    let credits = credit_sums(ledger, mode, units).await?;
    if let Some(earlier) = Earlier::of(&credits, months) {
        let sums = ledger::sums(ledger, mode, Some(&earlier.units), &earlier.months).await?;
        found.extend(by_month(sums).into_iter().filter(|usage| earlier.has(usage)));
        found.sort_by(MonthUsage::order);
        let is_earlier = |credit: &&CreditSum| earlier.months.contains(&credit.month);
        add_credits(&mut found, credits.iter().filter(is_earlier));
    }
    add_credits(&mut found, credits.iter().filter(|credit| months.contains(&credit.month)));
    for (month, shop) in ledger::settled(ledger, mode, units, months).await? {
        month_of(&mut found, shop, month);
    }
    Ok(found)
}

/// Adds the payments of months. KV cost: 1 read per 100 months.
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

/// Adds credits to the months in which they are booked. The months are sorted.
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

/// Returns the month of a shop in sorted months. Inserts it if it is not there.
pub(super) fn month_of(
    months: &mut Vec<MonthUsage>,
    shop: Scope,
    month: Month,
) -> Option<&mut MonthUsage> {
    let wanted = MonthUsage::new(shop, month);
    let place = match months.binary_search_by(|own| own.order(&wanted)) {
        Ok(place) => place,
        Err(place) => {
            months.insert(place, wanted);
            place
        }
    };
    months.get_mut(place)
}

// ---- Carried -------------------------------------------------------------------------------------

/// The months before the requested ones from which something may be carried into them, and the shops.
struct Earlier {
    units: Vec<String>,
    shops: BTreeSet<(String, Mode)>,
    months: Vec<Month>,
}

impl Earlier {
    /// Returns the months since the first credit of an earlier order; `None` if there is no such credit.
    fn of(credits: &[CreditSum], months: &[Month]) -> Option<Self> {
        let last = *months.iter().max()?;
        let excessive = |credit: &&CreditSum| credit.is_of_earlier && credit.month < last;
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

    fn has(&self, usage: &MonthUsage) -> bool {
        self.shops.contains(&(usage.unit.clone(), usage.mode))
    }
}

/// Carries the excess of credits from month to month. The months are sorted, and have their payments.
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

/// Returns the totals of months, one for each currency.
pub fn totals(months: &[MonthUsage]) -> Vec<Due> {
    let mut totals: BTreeMap<&str, Vec<&Due>> = BTreeMap::new();
    for due in months.iter().flat_map(|usage| &usage.sums) {
        totals.entry(&due.currency_code).or_default().push(due);
    }
    totals.into_iter().map(|(code, dues)| total(code, &dues)).collect()
}

fn total(code: &str, dues: &[&Due]) -> Due {
    let sum = |of: fn(&Due) -> &str| Decimal::sum(dues.iter().map(|due| money(of(due)))).to_money();
    Due {
        currency_code: code.to_owned(),
        amount: sum(|due| &due.amount),
        transactions: dues.iter().map(|due| due.transactions).sum(),
        unpriced: dues.iter().map(|due| due.unpriced).sum(),
        credited: sum(|due| &due.credited),
        carried: sum(|due| &due.carried),
        due: sum(|due| &due.due),
    }
}
