use super::due::{Due, MonthUsage};
use crate::pledges::settlement::{PaidAt, ScopeMonth, Settlement};
use serde::Serialize;

/// What is due for a month of a scope in one currency, in the form that commands print.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sum {
    #[serde(flatten)]
    pub of: ScopeMonth,
    /// The code of the currency of `amount`.
    pub currency_code: String,
    pub transactions: u64,
    /// Number of pledges whose offering had no price.
    pub unpriced: usize,
    /// The exact sum of the charges, a decimal with two places.
    pub amount: String,
    /// The credits that are booked in the month.
    pub credited: String,
    /// The part of earlier months' credits that exceeded those months' charges. It reduces this month's sum.
    pub carried: String,
    /// What is due: `amount` − `credited` − `carried`; 0.00 if that is negative.
    pub due: String,
    /// The payment of this sum; `None` if the month is not marked as paid.
    pub settled: Option<Settled>,
    /// The IDs of transactions whose rows were written after the month was marked as paid, as in
    /// [`MonthUsage::late`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Settled {
    /// The paid amount; `None` if nothing was paid in this currency.
    pub amount: Option<String>,
    pub paid_at: PaidAt,
    pub invoice: String,
}

impl Settled {
    fn of(settlement: &Settlement, code: &str) -> Self {
        Settled {
            amount: settlement.of(code).map(|sum| sum.amount.clone()),
            paid_at: settlement.paid_at.clone(),
            invoice: settlement.invoice.clone(),
        }
    }
}

impl MonthUsage {
    pub fn into_sums(self) -> Vec<Sum> {
        let MonthUsage { of: month, sums, settled, late } = self;
        let of = |sum: Due| {
            let Due { currency_code, amount, transactions, unpriced, credited, carried, due } = sum;
            let settled = settled.as_ref().map(|it| Settled::of(it, &currency_code));
            let (of, late) = (month.clone(), late.clone());
            Sum {
                of,
                currency_code,
                transactions,
                unpriced,
                amount,
                credited,
                carried,
                due,
                settled,
                late,
            }
        };
        sums.into_iter().map(of).collect()
    }
}
