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

/// Most characters of a code.
const MAX_CODE: usize = 64;

/// The error of Cloudflare's binding that was thrown with this code, if any.
pub fn cloudflare_error(code: Option<&str>) -> MailError {
    let code = shown(code.unwrap_or_default());
    if REFUSED.contains(&&*code) || code.starts_with("E_HEADER") {
        return MailError::Permanent { code };
    }
    MailError::Temporary { code, after: None }
}

/// An answer of Resend.
#[derive(Deserialize)]
struct ResendBody {
    #[serde(default)]
    id: String,
    #[serde(default)]
    name: String,
}

/// What an answer of Resend says: the ID of the e-mail, or why it was not sent. `retry_after` is the
/// header's, in seconds.
///
/// # Errors
/// If the e-mail may not have been sent. An e-mail that was sent before under this key with another
/// content counts as sent.
pub fn resend_answer(
    status: u16,
    retry_after: Option<u32>,
    body: &str,
) -> Result<String, MailError> {
    let ResendBody { id, name } =
        serde_json::from_str(body).unwrap_or(ResendBody { id: String::new(), name: String::new() });
    let code = if name.is_empty() { format!("status-{status}") } else { shown(&name) };
    match status {
        200..=299 => Ok(shown(&id)),
        409 if name == "invalid_idempotent_request" => Ok("sent-before".to_owned()),
        400 | 404 | 413 | 422 => Err(MailError::Permanent { code }),
        _ => Err(MailError::Temporary { code, after: retry_after }),
    }
}

/// A code or ID that is safe to log; `unknown` for any other text.
fn shown(code: &str) -> String {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let is_code = (1..=MAX_CODE).contains(&code.len()) && code.bytes().all(is_safe);
    if is_code { code.to_owned() } else { "unknown".to_owned() }
}
