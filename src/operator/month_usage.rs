//! A month of a shop: what it owes, and what it has paid. A shop is a unit in a mode.

use super::due::Due;
use crate::ledger::MonthSum;
use crate::scope::{Mode, Scope};
use crate::settlement::{Month, Settlement};
use std::cmp::Ordering;

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
