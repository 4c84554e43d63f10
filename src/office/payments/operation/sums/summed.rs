//! The sums of months, as JSON and as tables.

use crate::office::payments::rule::sum::Sum;
use crate::office::payments::rule::usage::{MonthUsage, Usage as Used};
use crate::office::shared::operation::covered::{Covered, complete};
use crate::office::shared::operation::table::{paragraphs, some, table, time};
use crate::office::shared::rule::coverage::Coverage;
use crate::pledges::settlement::Month;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Sums<'s> {
    month: Option<Month>,
    sums: &'s [Sum],
    transactions: u64,
    #[serde(flatten)]
    covered: Covered,
}

pub(super) struct Summed {
    month: Option<Month>,
    pub(super) sums: Vec<Sum>,
    transactions: u64,
    coverage: Coverage,
}

impl Summed {
    pub(super) fn new(month: Option<Month>, Used { months, coverage }: Used) -> Self {
        let sums: Vec<_> = months.into_iter().flat_map(MonthUsage::into_sums).collect();
        let transactions = sums.iter().map(|sum| sum.transactions).sum();
        Summed { month, sums, transactions, coverage }
    }

    pub(super) fn data(&self) -> Sums<'_> {
        Sums {
            month: self.month,
            sums: &self.sums,
            transactions: self.transactions,
            covered: Covered::from(&self.coverage),
        }
    }

    /// Formats the sums. `none` is the text if there are no sums.
    pub(super) fn in_words(&self, none: &str) -> String {
        let found = match self.sums.is_empty() {
            true => none.to_owned(),
            false => sums_table(&self.sums),
        };
        paragraphs([found, self.late(), complete(&self.coverage)])
    }

    /// Returns a text with the IDs of the transactions that were added or changed after their month was marked as paid.
    fn late(&self) -> String {
        let late = self.sums.iter().filter(|sum| !sum.late.is_empty());
        let mut lines: Vec<_> = late
            .map(|sum| {
                let (mode, ids) = (sum.of.scope.mode.name(), sum.late.join(", "));
                format!("{} of {} ({mode}): {ids}", sum.of.month, sum.of.scope.unit)
            })
            .collect();
        lines.dedup();
        match lines.is_empty() {
            true => String::new(),
            false => format!(
                "Transactions that were added or changed after their month was marked as paid:\n{}",
                lines.join("\n")
            ),
        }
    }
}

pub(crate) fn sums_table(sums: &[Sum]) -> String {
    const HEADS: [&str; 13] = [
        "MONTH",
        "UNIT",
        "MODE",
        "TRANSACTIONS",
        "SUM",
        "CREDITED",
        "CARRIED",
        "DUE",
        "CURRENCY",
        "UNPRICED",
        "SETTLED",
        "PAID",
        "INVOICE",
    ];
    let rows: Vec<_> = sums.iter().map(cells).collect();
    table(HEADS, &rows)
}

fn cells(sum: &Sum) -> [String; 13] {
    let settled = sum.settled.as_ref();
    [
        sum.of.month.to_string(),
        sum.of.scope.unit.clone(),
        sum.of.scope.mode.name().to_owned(),
        sum.transactions.to_string(),
        sum.amount.clone(),
        not_zero(&sum.credited),
        not_zero(&sum.carried),
        sum.due.clone(),
        sum.currency_code.clone(),
        some(sum.unpriced),
        settled
            .map(|it| it.amount.clone().unwrap_or_else(|| "0.00".to_owned()))
            .unwrap_or_default(),
        settled.map(|it| time(it.paid_at.as_str())).unwrap_or_default(),
        settled.map(|it| it.invoice.clone()).unwrap_or_default(),
    ]
}

/// Returns the amount; empty for 0.00.
fn not_zero(amount: &str) -> String {
    if amount == "0.00" { String::new() } else { amount.to_owned() }
}
