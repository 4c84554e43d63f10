//! Checks the reason of a change.

use super::refused::{RefusalCode, Refused};
use crate::buyer::visible::is_line;

/// Largest length of a reason, in bytes.
const MAX_REASON: usize = 500;

/// Checks a reason: one line of 1 to 500 bytes, without an e-mail address, because the audit log keeps it.
///
/// # Errors
/// If the reason is not valid.
pub fn check_reason(reason: &str) -> Result<(), Refused> {
    if is_line(reason, MAX_REASON) && !reason.contains('@') {
        return Ok(());
    }
    let problem =
        format!("enter a reason: one line of 1 to {MAX_REASON} bytes, without an e-mail address");
    Err(Refused::at("reason", RefusalCode::Invalid, problem))
}
