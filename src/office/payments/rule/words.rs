//! The words of errors and of the audit log for payments.

use crate::office::shared::rows::claims::Claim;
use crate::office::shared::rule::claimed_change;
use crate::pledges::settlement::Settlement;

/// The end of the error message about a month that somebody else changed at the same moment.
pub(super) const CHANGED: &str = "was changed at the same moment. Check the month again";

pub(super) fn changed_in_words(claim: &Claim) -> String {
    claimed_change::in_words(claim, "marked the month as paid", "marked the month as unpaid")
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
