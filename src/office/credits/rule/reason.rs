//! Checks the reason of a credit.

use super::refusal::invalid_at;
use crate::buyer::visible::is_line;
use crate::office::orders::rows::order::Order;
use crate::office::orders::rule::{Record, names_person, says};
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::refused::RefusalCode;

/// Largest number of bytes of a reason.
pub const MAX_REASON_BYTES: usize = 200;

/// Refuses a reason that is not one line, or that has a name of the recipient. The audit log keeps the reason even
/// after the recipient's data is erased.
pub(crate) fn check_reason(record: &Record, row: &Order, reason: &str) -> Result<()> {
    if !is_line(reason, MAX_REASON_BYTES) {
        return Err(invalid_at(
            "reason",
            RefusalCode::Invalid,
            format_args!(
                "enter a reason: one line of 1 to {MAX_REASON_BYTES} bytes, without invisible characters"
            ),
        ));
    }
    if reason.contains('@') || row.erased.is_none() && names_order(record, reason)? {
        return Err(invalid_at(
            "reason",
            RefusalCode::NotAllowed,
            "the reason must not contain an e-mail address, a name of the recipient or the order's \
             reference, because the reason is kept when personal data is erased",
        ));
    }
    Ok(())
}

/// Returns whether a reason names the recipient, or has the order's reference.
fn names_order(record: &Record, reason: &str) -> Result<bool> {
    let transaction = record.transaction()?;
    let mut recipients = transaction.pledges.iter().map(|pledge| &pledge.recipient);
    let names_recipient = recipients.any(|recipient| names_person(reason, recipient));
    Ok(names_recipient || says(reason, &transaction.reference))
}
