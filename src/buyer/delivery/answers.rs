//! Interprets the answers of mail services. Only error codes are kept, because the error texts contain addresses.

use super::SendError;
use crate::pledges::retry::RetryAfter;
use crate::pledges::time::http_date_ms;
use serde::Deserialize;

/// Codes of Cloudflare Email Sending for permanent errors: the same e-mail would be refused again. Codes
/// that begin with `E_HEADER` are permanent, too. Errors with any other code are retried. They may be
/// temporary, or the operator can fix the cause, as with `E_SENDER_NOT_VERIFIED`.
const REFUSED: [&str; 6] = [
    "E_RECIPIENT_SUPPRESSED",
    "E_RECIPIENT_NOT_ALLOWED",
    "E_VALIDATION_ERROR",
    "E_FIELD_MISSING",
    "E_CONTENT_TOO_LARGE",
    "E_TOO_MANY_RECIPIENTS",
];

/// Endings of the codes for a used-up quota: Cloudflare's `E_DAILY_LIMIT_EXCEEDED`, and Resend's `daily_quota_exceeded`
/// and `monthly_quota_exceeded`. A rate limit is not a quota.
const QUOTAS: [&str; 3] = ["daily_limit_exceeded", "monthly_limit_exceeded", "quota_exceeded"];

/// Maximum number of characters of a code.
const MAX_CODE: usize = 64;

/// Resend's codes for errors that the operator can fix, although their HTTP status means a permanent error.
const TO_BE_MENDED: [&str; 2] = ["invalid_from_address", "not_found"];

/// Returns the ID of an e-mail that Cloudflare's binding accepted. The binding returns
/// `<ID@sender.example>`; the result is `ID`.
pub fn cloudflare_answer(id: Option<&str>) -> String {
    let id = id.unwrap_or_default().trim_start_matches('<');
    shown(id.split('@').next().unwrap_or_default())
}

/// Converts an error of Cloudflare's e-mail binding to a permanent or a retryable error. `code` is the
/// error's code, or `None` if the error has none.
pub fn cloudflare_error(code: Option<&str>) -> SendError {
    let code = shown(code.unwrap_or_default());
    if REFUSED.contains(&&*code) || code.starts_with("E_HEADER") {
        return SendError::Permanent { code };
    }
    passing(code, None)
}

/// Returns a retryable error with this code: a used-up quota or a temporary error. `after` is the wait that
/// the mail service asks for, in seconds.
fn passing(code: String, after: Option<u32>) -> SendError {
    let name = code.to_ascii_lowercase();
    match QUOTAS.iter().any(|quota| name.ends_with(quota)) {
        true => SendError::Quota { code, after },
        false => SendError::Temporary { code, after },
    }
}

#[derive(Default, Deserialize)]
struct ResendBody {
    #[serde(default)]
    id: String,
    #[serde(default)]
    name: String,
}

/// Interprets Resend's answer to a request to send an e-mail. Returns the ID of the e-mail. `after` is the
/// [wait](wait_seconds) that the answer asks for, in seconds; `body` is the beginning of the answer's body.
///
/// # Errors
/// If it is not certain that the e-mail was sent. There is one exception: if Resend has already sent an
/// e-mail with this idempotency key but other content, the e-mail counts as sent.
pub fn resend_answer(status: u16, after: Option<u32>, body: &[u8]) -> Result<String, SendError> {
    let ResendBody { id, name } = serde_json::from_slice(body).unwrap_or_default();
    let code = if name.is_empty() { format!("status-{status}") } else { shown(&name) };
    match status {
        200..=299 => Ok(shown(&id)),
        409 if name == "invalid_idempotent_request" => Ok("sent-before".to_owned()),
        400 | 404 | 413 | 422 if !TO_BE_MENDED.contains(&&*name) => {
            Err(SendError::Permanent { code })
        }
        _ => Err(passing(code, after)),
    }
}

/// Returns how long an answer asks to wait, in seconds; `None` if it does not ask.
pub fn wait_seconds(retry_after: Option<RetryAfter<'_>>, now_ms: u64) -> Option<u32> {
    let wait_ms = retry_after?.ms(now_ms, http_date_ms)?;
    Some(u32::try_from(wait_ms.div_ceil(1_000)).unwrap_or(u32::MAX))
}

/// Returns a code or ID unchanged if it is safe to log. Returns `unknown` for any other text, because it may
/// contain personal data.
fn shown(code: &str) -> String {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let is_code = (1..=MAX_CODE).contains(&code.len()) && code.bytes().all(is_safe);
    if is_code { code.to_owned() } else { "unknown".to_owned() }
}
