use super::due::{Due, MonthUsage};
use crate::pledges::settlement::{PaidAt, ScopeMonth, Settlement};
use serde::Serialize;

/// What is due for a month of a scope in one currency, in the form that commands print.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sum {
    #[serde(flatten)]
    pub of: ScopeMonth,
    #[serde(flatten)]
    pub due: Due,
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
    /// Who marked the month as paid, and when.
    #[serde(skip)]
    pub by: String,
    #[serde(skip)]
    pub at: String,
}

impl Settled {
    fn of(settlement: &Settlement, code: &str) -> Self {
        let amount = settlement.of(code).map(|sum| sum.amount.clone());
        let Settlement { paid_at, invoice, by, at, .. } = settlement.clone();
        Settled { amount, paid_at, invoice, by, at }
    }
}

impl MonthUsage {
    pub fn into_sums(self) -> Vec<Sum> {
        let MonthUsage { of, sums, settled, late } = self;
        let sum = |due: Due| {
            let settled = settled.as_ref().map(|it| Settled::of(it, &due.currency_code));
            Sum { of: of.clone(), due, settled, late: late.clone() }
        };
        sums.into_iter().map(sum).collect()
    }
}
