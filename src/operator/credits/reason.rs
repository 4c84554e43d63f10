//! Checks the reason of a credit.

use super::refusal::invalid;
use crate::ledger::Order;
use crate::operator::Result;
use crate::operator::audit::is_line;
use crate::operator::transactions::Record;

/// Largest number of bytes of a reason.
pub const MAX_REASON_BYTES: usize = 200;

/// Refuses a reason that is not one line, or that names the recipient. The audit log keeps the reason even
/// after the recipient's data is erased.
pub(super) fn check_reason(record: &Record, row: &Order, reason: &str) -> Result<()> {
    if !is_line(reason, MAX_REASON_BYTES) || reason.trim().is_empty() {
        return Err(invalid(format!("enter a reason: one line of 1 to {MAX_REASON_BYTES} bytes")));
    }
    let transaction = record.transaction()?;
    let recipients = transaction.pledges.iter().map(|pledge| &pledge.recipient);
    let names = recipients.flat_map(|person| [&person.first_name, &person.name]).flatten();
    let texts = names.chain([&transaction.reference]).filter(|_| row.erased.is_none());
    let said = words(reason);
    let names_person =
        texts.map(|text| words(text)).any(|name| name.len() > 2 && said.contains(&name));
    if reason.contains('@') || names_person {
        return Err(invalid(
            "the reason must not contain an e-mail address, the recipient's name or the order's \
             reference, because the reason is kept when personal data is erased",
        ));
    }
    Ok(())
}

/// Returns the words of a text in lower case, with a space before and after each word.
fn words(text: &str) -> String {
    let words = text.split(|character: char| !character.is_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    format!(" {} ", words.join(" "))
}
