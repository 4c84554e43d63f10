//! The errors for notifications that cannot be sent.

use crate::office::orders::rule::Record;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::pledges::types::NotificationService;

/// Returns an error if the transaction's recipient was erased, because there is no address to send to any
/// more.
pub(super) fn refuse_erased(record: &Record, service: NotificationService) -> Result<()> {
    match record.metadata()?.summary.erased {
        Some(time) => {
            Err(refusal(record, service, &format!("the recipient's data was erased on {time}")))
        }
        None => Ok(()),
    }
}

/// Returns the error for a notification that cannot be sent, with the reason.
pub(super) fn refusal(record: &Record, service: NotificationService, why: &str) -> OperatorError {
    let what = match service.is_email() {
        true => "the e-mail".to_owned(),
        false => format!("the message by {}", service.name()),
    };
    OperatorError::invalid(format!("{what} of {} cannot be sent: {why}", record.id))
}
