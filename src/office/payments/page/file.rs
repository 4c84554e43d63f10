//! Months as a CSV file: a line for each currency of a month.

use crate::office::payments::rule::dues::Due;
use crate::office::payments::rule::usage::{MonthUsage, Usage};
use crate::office::shared::page::response::Page;
use crate::office::shared::rule::coverage::Coverage;
use crate::office::shared::rule::csv;
use crate::office::shared::rule::csv::BYTE_ORDER_MARK;
use crate::pledges::settlement::Settlement;

const COLUMNS: [&str; 16] = [
    "unit",
    "mode",
    "month",
    "currency",
    "amount",
    "transactions",
    "unpriced",
    "complete_up_to",
    "paid_at",
    "paid_amount",
    "invoice",
    "marked_by",
    "marked_at",
    "credited",
    "carried",
    "due",
];

pub(crate) fn file(name: &[&str], Usage { months, coverage }: &Usage) -> Page {
    let headings = COLUMNS.map(str::to_owned).to_vec();
    let lines =
        months.iter().flat_map(|usage| usage.sums.iter().map(|sum| line(usage, sum, coverage)));
    let lines = csv::lines(std::iter::once(headings).chain(lines));
    let file = [BYTE_ORDER_MARK, &lines].concat();
    Page::csv(name, file.into_bytes())
}

fn line(usage: &MonthUsage, sum: &Due, coverage: &Coverage) -> Vec<String> {
    let mut line = vec![
        csv::text(&usage.of.scope.unit),
        usage.of.scope.mode.name().to_owned(),
        usage.of.month.to_string(),
        csv::text(&sum.currency_code),
        csv::text(&sum.amount),
        sum.transactions.to_string(),
        sum.unpriced.to_string(),
        csv::text(coverage.complete_up_to.as_deref().unwrap_or_default()),
    ];
    if let Some(settled) = &usage.settled {
        let amount = settled.of(&sum.currency_code).map(|paid| &*paid.amount).unwrap_or_default();
        let Settlement { paid_at, invoice, by, at, .. } = settled;
        line.extend([paid_at.as_str(), amount, invoice, by, at].map(csv::text));
    }
    line.resize(COLUMNS.len() - 3, String::new());
    line.extend([&sum.credited, &sum.carried, &sum.due].map(|amount| csv::text(amount)));
    line
}
