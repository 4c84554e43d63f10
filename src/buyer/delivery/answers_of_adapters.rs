//! Interprets the HTTP answers of adapters. Keeps only the status code of a failed answer.

use super::SendError;

/// Interprets the status of an adapter's answer. `after` is the [wait](crate::buyer::delivery::wait_seconds) that the answer asks
/// for, in seconds.
///
/// The statuses 400, 410, 413 and 422 refuse a message permanently. A redirect is not followed, and also counts as
/// permanent, because the operator has to change the URL. Every other status counts as temporary: the failure may pass,
/// or the operator can correct the configuration.
///
/// # Errors
/// If the status is not 2xx.
pub fn adapter_answer(status: u16, after: Option<u32>) -> Result<(), SendError> {
    let code = format!("status-{status}");
    match status {
        200..=299 => Ok(()),
        300..=399 | 400 | 410 | 413 | 422 => Err(SendError::Permanent { code }),
        _ => Err(SendError::Temporary { code, after }),
    }
}
