//! What the answers of mail services mean. Only their codes are kept: their texts contain addresses.

use super::MailError;
use serde::Deserialize;

/// Codes of Cloudflare's Email Sending after which the same e-mail would be refused again. Others pass,
/// or are the operator's to mend, such as `E_SENDER_NOT_VERIFIED`.
const REFUSED: [&str; 6] = [
    "E_RECIPIENT_SUPPRESSED",
    "E_RECIPIENT_NOT_ALLOWED",
    "E_VALIDATION_ERROR",
    "E_FIELD_MISSING",
    "E_CONTENT_TOO_LARGE",
    "E_TOO_MANY_RECIPIENTS",
];

/// How codes end that say that a quota is used up: Cloudflare's `E_DAILY_LIMIT_EXCEEDED`, Resend's
/// `daily_quota_exceeded` and `monthly_quota_exceeded`. A rate limit is none.
const QUOTAS: [&str; 3] = ["daily_limit_exceeded", "monthly_limit_exceeded", "quota_exceeded"];

/// Most characters of a code.
const MAX_CODE: usize = 64;

/// Codes of Resend that the operator can mend, though they come with a status after which nothing helps.
const TO_BE_MENDED: [&str; 2] = ["invalid_from_address", "not_found"];

/// The ID of an e-mail that Cloudflare's binding has taken: of `<ID@domain of the sender>`, the ID.
pub fn cloudflare_answer(id: Option<&str>) -> String {
    let id = id.unwrap_or_default().trim_start_matches('<');
    shown(id.split('@').next().unwrap_or_default())
}

/// The error of Cloudflare's binding that was thrown with this code, if any.
pub fn cloudflare_error(code: Option<&str>) -> MailError {
    let code = shown(code.unwrap_or_default());
    if REFUSED.contains(&&*code) || code.starts_with("E_HEADER") {
        return MailError::Permanent { code };
    }
    passing(code, None)
}

/// An error that passes, with a quota or by itself.
fn passing(code: String, after: Option<u32>) -> MailError {
    let name = code.to_ascii_lowercase();
    match QUOTAS.iter().any(|quota| name.ends_with(quota)) {
        true => MailError::Quota { code, after },
        false => MailError::Temporary { code, after },
    }
}

/// An answer of Resend.
#[derive(Default, Deserialize)]
struct ResendBody {
    #[serde(default)]
    id: String,
    #[serde(default)]
    name: String,
}

/// What an answer of Resend says: the ID of the e-mail, or why it was not sent. `retry_after` is the
/// header of this name, `body` what the answer begins with.
///
/// # Errors
/// If the e-mail may not have been sent. An e-mail that was sent before under this key with another
/// content counts as sent.
pub fn resend_answer(
    status: u16,
    retry_after: Option<&str>,
    body: &[u8],
) -> Result<String, MailError> {
    let ResendBody { id, name } = serde_json::from_slice(body).unwrap_or_default();
    let code = if name.is_empty() { format!("status-{status}") } else { shown(&name) };
    match status {
        200..=299 => Ok(shown(&id)),
        409 if name == "invalid_idempotent_request" => Ok("sent-before".to_owned()),
        400 | 404 | 413 | 422 if !TO_BE_MENDED.contains(&&*name) => {
            Err(MailError::Permanent { code })
        }
        _ => Err(passing(code, retry_after.and_then(seconds))),
    }
}

/// The seconds of a `Retry-After` header; `None` for a date, which Resend does not send.
fn seconds(retry_after: &str) -> Option<u32> {
    let digits = retry_after.trim_ascii();
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u32::MAX))
}

/// A code or ID that is safe to log; `unknown` for any other text, which may be about somebody.
fn shown(code: &str) -> String {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let is_code = (1..=MAX_CODE).contains(&code.len()) && code.bytes().all(is_safe);
    if is_code { code.to_owned() } else { "unknown".to_owned() }
}
