//! What a shop owes for a month, and the payment of the month.

use crate::office::payments::rows::sums::MonthSum;
use crate::pledges::decimal::{Decimal, text_as_money};
use crate::pledges::settlement::{Deductions, ScopeMonth, SettledSum, Settlement};
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// What is due for a month in one currency. Amounts are decimals with two places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Due {
    /// The code of the currency. This release may not know a code that a later release has written.
    pub currency_code: String,
    /// The sum of the charges.
    pub amount: String,
    pub transactions: u64,
    /// Number of pledges whose offering had no price.
    pub unpriced: usize,
    /// The credits that are booked in the month.
    pub credited: String,
    /// The excess of earlier months' credits over their charges, which is carried into this month.
    pub carried: String,
    /// `amount` − `credited` − `carried`; 0.00 if that is negative.
    pub due: String,
}

impl Due {
    /// Creates a `Due` with no transactions and no credits yet: the whole amount is due.
    pub(crate) fn new(currency_code: String, amount: String) -> Self {
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

    pub(crate) fn of_sum(sum: MonthSum) -> Self {
        let MonthSum { currency_code, amount, transactions, unpriced, .. } = sum;
        Due { transactions, unpriced, ..Due::new(currency_code, amount) }
    }

    /// Returns the amount due, with its parts, from the settlement that was recorded when the month was paid.
    pub(crate) fn of_settled(paid: &SettledSum) -> Self {
        let amount = paid.credits.as_ref().map_or(&paid.amount, |credits| &credits.counted);
        let mut due = Due::new(paid.currency_code.clone(), amount.clone());
        (due.transactions, due.unpriced) = (paid.transactions, paid.unpriced);
        if let Some(Deductions { credited, carried, .. }) = &paid.credits {
            due.credited.clone_from(credited);
            due.carry(money(carried));
        }
        due
    }

    /// Converts this amount due to the sum that a settlement records when the month is paid.
    pub(crate) fn into_settled(self) -> SettledSum {
        let Due { currency_code, amount, transactions, unpriced, credited, carried, due } = self;
        let credits = (credited != "0.00" || carried != "0.00").then_some(Deductions {
            counted: amount,
            credited,
            carried,
        });
        SettledSum { currency_code, amount: due, transactions, unpriced, credits }
    }

    pub fn is_owed(&self) -> bool {
        self.due != "0.00"
    }

    /// Returns the excess of credits over charges, which is carried to a later month; `None` if there is
    /// none. In a total of several months, it is the sum of their excesses.
    pub fn excess(&self) -> Option<String> {
        let parts = [&self.credited, &self.carried, &self.due];
        let parts = Decimal::sum(parts.into_iter().map(|part| money(part)));
        let excess = parts.minus(&money(&self.amount))?;
        (!excess.is_zero()).then(|| excess.to_money())
    }

    /// Sets the excess of earlier credits that is carried into this month, and computes what is due. Returns
    /// the rest of the excess, which is carried to a later month.
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

    /// Carries the excess of earlier months' credits (`available`) into this month. Returns the excess that
    /// is left for the next month.
    ///
    /// A settled month takes exactly the amount that its settlement states, with one exception. If less than
    /// that is available now, and the ledger still keeps the month (`is_kept`), the month takes all that is
    /// available. The month's amount due then differs from what was paid.
    pub(crate) fn pass(
        &mut self,
        available: Decimal,
        settled: Option<&Settlement>,
        is_kept: bool,
    ) -> Decimal {
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
pub(crate) fn money(text: &str) -> Decimal {
    text_as_money(text).and_then(|money| Decimal::parse(&money)).unwrap_or_else(zero)
}

pub(crate) fn zero() -> Decimal {
    Decimal::from_units(0, 0)
}

// ---- Months --------------------------------------------------------------------------------------

/// What is due and paid for one month of a scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonthUsage {
    pub of: ScopeMonth,
    /// One sum for each currency, sorted by the currency's code. The sum is 0.00 for a currency that was paid or credited
    /// but has no transactions now.
    pub sums: Vec<Due>,
    /// The payment; `None` if the month is not marked as paid.
    pub settled: Option<Settlement>,
    /// The IDs of the newest transactions whose rows were written after the month was marked as paid. Filled
    /// only if the amount due differs from the payment.
    pub late: Vec<String>,
}

impl MonthUsage {
    pub(crate) fn new(of: ScopeMonth) -> Self {
        MonthUsage { of, sums: Vec::new(), settled: None, late: Vec::new() }
    }

    /// Compares two months in the order of lists: newest month first, then by unit and mode.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        other.of.month.cmp(&self.of.month).then_with(|| self.of.scope.cmp(&other.of.scope))
    }

    /// Returns the amount that was paid in the currency of `sum`; 0.00 if nothing was paid in this currency.
    /// Returns `None` if the month is not marked as paid.
    pub fn paid_of(&self, sum: &Due) -> Option<&str> {
        let settled = self.settled.as_ref()?;
        Some(settled.of(&sum.currency_code).map_or("0.00", |paid| &paid.amount))
    }

    pub fn owes(&self) -> bool {
        self.sums.iter().any(Due::is_owed)
    }

    /// Returns whether the month is marked as paid, but its amount due or its number of transactions has
    /// changed since.
    pub fn differs(&self) -> bool {
        let count: u64 = self.sums.iter().map(|sum| sum.transactions).sum();
        self.settled.as_ref().is_some_and(|settled| {
            settled.sums.iter().map(|sum| sum.transactions).sum::<u64>() != count
                || self.sums.iter().any(|sum| self.paid_of(sum) != Some(&sum.due))
        })
    }

    /// Sets the payment, and adds a sum of 0.00 for each paid currency without transactions.
    pub(crate) fn settle(&mut self, settled: Settlement) {
        for paid in &settled.sums {
            self.due_in(&paid.currency_code);
        }
        self.settled = Some(settled);
    }

    /// Returns the sum in a currency. Adds a sum of 0.00 if there is none.
    pub(crate) fn due_in(&mut self, code: &str) -> Option<&mut Due> {
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

/// Groups sums by scope and month. The sums must be sorted by month, unit, mode and currency. The groups are
/// sorted as in lists: newest month first, then by unit and mode.
pub(crate) fn by_month(sums: Vec<MonthSum>) -> Vec<MonthUsage> {
    let mut months: Vec<MonthUsage> = Vec::new();
    for sum in sums {
        match months.last_mut().filter(|own| own.of == sum.of) {
            Some(own) => own.sums.push(Due::of_sum(sum)),
            None => {
                let own = MonthUsage::new(sum.of.clone());
                months.push(MonthUsage { sums: vec![Due::of_sum(sum)], ..own });
            }
        }
    }
    months.sort_by(MonthUsage::order);
    months
}

/// Returns the entry of a month from a sorted list. Inserts the entry if it is missing.
pub(crate) fn month_of(months: &mut Vec<MonthUsage>, of: ScopeMonth) -> Option<&mut MonthUsage> {
    let wanted = MonthUsage::new(of);
    let place = match months.binary_search_by(|own| own.order(&wanted)) {
        Ok(place) => place,
        Err(place) => {
            months.insert(place, wanted);
            place
        }
    };
    months.get_mut(place)
}

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
