//! The sums of months, as JSON and as tables.

use crate::office::payments::rule::sum::{Settled, Sum};
use crate::office::payments::rule::usage::{MonthUsage, Usage as Used};
use crate::office::shared::operation::covered::complete;
use crate::office::shared::operation::facts::Fact;
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::table::paragraphs;
use crate::office::shared::rule::coverage::Coverage;
use crate::pledges::settlement::Month;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Summed {
    month: Option<Month>,
    pub(super) sums: Vec<Sum>,
    transactions: u64,
    #[serde(flatten)]
    coverage: Coverage,
}

impl Summed {
    pub(super) fn new(month: Option<Month>, Used { months, coverage }: Used) -> Self {
        let sums: Vec<_> = months.into_iter().flat_map(MonthUsage::into_sums).collect();
        let transactions = sums.iter().map(|sum| sum.due.transactions).sum();
        Summed { month, sums, transactions, coverage }
    }

    /// Formats the sums. `none` is the text if there are no sums.
    pub(super) fn in_words(&self, none: &str) -> String {
        let found = in_table(&self.sums, &self.coverage, none);
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

/// The columns of sums that only CSV files have.
const ONLY_IN_FILES: [&str; 4] = ["Currency", "Marked by", "Marked at", "Complete up to"];

/// Formats sums as a table for a terminal. `none` is the text if there are no sums.
pub(crate) fn in_table(sums: &[Sum], coverage: &Coverage, none: &str) -> String {
    listing(sums, coverage).or(none).without(&ONLY_IN_FILES).in_lines()
}

/// Returns the list of sums.
pub(crate) fn listing(sums: &[Sum], coverage: &Coverage) -> Listing {
    let paid =
        |sum: &Sum, of: &dyn Fn(&Settled) -> Fact| sum.settled.as_ref().map_or_else(Fact::none, of);
    let money = |amount: &str, sum: &Sum| Fact::money(amount, &sum.due.currency_code);
    Listing::new(
        sums,
        "No transactions.",
        &[
            ("Month", &|it| Fact::Month(it.of.month)),
            ("Unit", &|it| Fact::unit(&it.of.scope.unit)),
            ("Mode", &|it| Fact::Mode(it.of.scope.mode)),
            ("Transactions", &|it| Fact::number(it.due.transactions)),
            ("Unpriced", &|it| Fact::some(it.due.unpriced)),
            ("Amount", &|it| Fact::number(&it.due.amount)),
            ("Credited", &|it| Fact::some(&it.due.credited)),
            ("Carried", &|it| Fact::some(&it.due.carried)),
            ("Due", &|it| money(&it.due.due, it)),
            ("Currency", &|it| Fact::words(&it.due.currency_code)),
            ("Paid amount", &|it| {
                paid(it, &|paid| Fact::number(paid.amount.as_deref().unwrap_or("0.00")))
            }),
            ("Paid at", &|it| paid(it, &|paid| Fact::time(paid.paid_at.as_str()))),
            ("Invoice", &|it| paid(it, &|paid| Fact::Text(paid.invoice.clone()))),
            ("Marked by", &|it| paid(it, &|paid| Fact::Text(paid.by.clone()))),
            ("Marked at", &|it| paid(it, &|paid| Fact::time(&*paid.at))),
            ("Complete up to", &|_| Fact::time(coverage.complete_up_to.as_deref())),
        ],
    )
}
