//! What a shop owes for a month in one currency.

use crate::decimal::{Decimal, text_as_money};
use crate::ledger::MonthSum;
use crate::settlement::{Deductions, SettledSum, Settlement};
use serde::Serialize;

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
    pub(super) fn carry(&mut self, carried: Decimal) -> Decimal {
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
    pub(super) fn pass(
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
pub(super) fn money(text: &str) -> Decimal {
    text_as_money(text).and_then(|money| Decimal::parse(&money)).unwrap_or_else(zero)
}

pub(super) fn zero() -> Decimal {
    Decimal::from_units(0, 0)
}
