//! The words of errors and of the audit log for payments.

use super::LastChange;
use crate::pledges::settlement::Settlement;
use crate::pledges::time::date_time;

/// The end of the error message about a month that somebody else changed at the same moment.
pub(super) const CHANGED: &str = "was changed at the same moment. Check the month again";

/// Describes a change to the person whose change it prevents.
pub(super) fn changed_in_words(LastChange { settlement, row }: &LastChange) -> String {
    let done = if settlement.is_some() { "paid" } else { "unpaid" };
    let who = if row.author.is_empty() { "somebody" } else { &row.author };
    format!("{who} marked the month as {done} at {}", date_time(row.at))
}

/// Describes a payment in words, such as `1234.50 USD paid on …, invoice 17, marked by … on …`.
pub(super) fn in_words(Settlement { paid_at, sums, invoice, by, at }: &Settlement) -> String {
    let sums = in_money(sums.iter().map(|sum| (&*sum.currency_code, &*sum.amount)));
    let paid_at = paid_at.as_str();
    format!("{sums} paid on {paid_at}, invoice {invoice}, marked by {by} on {at}")
}

/// Joins currency codes and amounts to words such as `1234.50 USD and 20.00 EUR`.
pub(super) fn in_money<'s>(sums: impl Iterator<Item = (&'s str, &'s str)>) -> String {
    let sums: Vec<_> = sums.map(|(code, amount)| format!("{amount} {code}")).collect();
    sums.join(" and ")
}
