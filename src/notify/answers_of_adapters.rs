//! Interprets the answers of adapters. Nothing but the status is kept.

use super::SendError;
use super::answers::retry_after_seconds;

/// Interprets the status of an adapter's answer. `retry_after` is the header `Retry-After`.
///
/// An adapter refuses a message permanently by 400, 410, 413 and 422. A redirect is not followed, and is also permanent,
/// because the operator has to change the URL. Every other status may be caused by a failure that passes, or by a
/// configuration that the operator can mend.
///
/// # Errors
/// If the status is not one of success (200 to 299).
pub fn adapter_answer(status: u16, retry_after: Option<&str>) -> Result<(), SendError> {
    let code = format!("status-{status}");
    match status {
        200..=299 => Ok(()),
        300..=399 | 400 | 410 | 413 | 422 => Err(SendError::Permanent { code }),
        _ => {
            let after = retry_after.and_then(retry_after_seconds);
            Err(SendError::Temporary { code, after })
        }
    }
}
