//! Why an e-mail cannot be sent.

use crate::operator::transactions::Record;
use crate::operator::{OperatorError, Result};

/// Refuses a transaction whose recipient was erased.
pub(super) fn refuse_erased(record: &Record) -> Result<()> {
    match record.metadata()?.summary.erased {
        Some(time) => Err(refusal(record, &format!("its recipient was erased on {time}"))),
        None => Ok(()),
    }
}

/// Returns the error for an e-mail that cannot be sent, with the reason.
pub(super) fn refusal(record: &Record, why: &str) -> OperatorError {
    OperatorError::Invalid(format!("the e-mail of {} cannot be sent: {why}", record.id))
}
