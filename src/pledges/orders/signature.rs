//! Signatures of webhooks: whether a shop system sent a body.
//!
//! Every signature is an HMAC-SHA-256 (RFC 2104). Stripe and BigCommerce sign the time, too.

use super::system::System;
use crate::pledges::hash::hmac;
use base64ct::{Base64, Encoding as _};
use hmac::{Hmac, KeyInit as _};
use sha2::Sha256;
use std::fmt::{self, Display, Formatter};
use strum::{IntoStaticStr, VariantArray};
use subtle::ConstantTimeEq as _;

/// How far the signed time may be from now, in seconds. Stripe's libraries and those of Standard Webhooks have the
/// same limit.
pub const WINDOW_SECONDS: u64 = 300;
/// Maximum length of a header, in bytes.
pub const MAX_HEADER: usize = 4_096;
/// Maximum number of signatures in a header that are compared.
pub const MAX_SIGNATURES: usize = 8;
/// Maximum number of secrets that are tried: the new one, and old ones while a secret is rolled.
pub const MAX_SECRETS: usize = 4;

const STRIPE: &str = "stripe-signature";
const SHOPIFY: &str = "x-shopify-hmac-sha256";
const WOOCOMMERCE: &str = "x-wc-webhook-signature";
const WEBHOOK_ID: &str = "webhook-id";
const WEBHOOK_TIMESTAMP: &str = "webhook-timestamp";
const WEBHOOK_SIGNATURE: &str = "webhook-signature";

/// The reason why a signature is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Refusal {
    /// A header is absent, or the system has no webhooks.
    Missing,
    /// A header does not have the shape of a signature.
    Malformed,
    /// The signed time is more than [`WINDOW_SECONDS`] from now.
    Stale,
    /// No signature belongs to this body and a secret.
    Wrong,
}

impl Display for Refusal {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Refusal::Missing => "the signature is missing",
            Refusal::Malformed => "the signature is malformed",
            Refusal::Stale => "the signature is too old, or from the future",
            Refusal::Wrong => "the signature is wrong",
        })
    }
}

/// Checks that a system signed a body with one of the secrets. `header` returns the value of a header by its name in
/// lower case. Empty secrets are skipped.
///
/// # Errors
/// The reason of the refusal. The time is checked before the signature.
pub fn verify(
    system: System,
    header: &dyn Fn(&'static str) -> Option<String>,
    body: &[u8],
    secrets: &[Vec<u8>],
    now_ms: u64,
) -> Result<(), Refusal> {
    let read = |name| bounded(header(name));
    let (name, separator, prefix) = match system {
        System::Stripe => (STRIPE, ',', "v1="),
        System::Shopify => (SHOPIFY, '\n', ""),
        System::WooCommerce => (WOOCOMMERCE, '\n', ""),
        System::BigCommerce => (WEBHOOK_SIGNATURE, ' ', "v1,"),
        System::Medusa => return Err(Refusal::Missing),
    };
    let text = read(name)?;
    let values =
        |prefix| text.split(separator).filter_map(move |part| part.trim().strip_prefix(prefix));
    let start = match system {
        System::Stripe => {
            let mut times = values("t=");
            let time = times.next().filter(|_| times.next().is_none());
            timed("", time.ok_or(Refusal::Malformed)?, now_ms)?
        }
        System::BigCommerce => {
            let id = [&read(WEBHOOK_ID)?, "."].concat();
            timed(&id, &read(WEBHOOK_TIMESTAMP)?, now_ms)?
        }
        _ => String::new(),
    };
    let form = if system == System::Stripe { Form::Hex } else { Form::Base64 };
    let signatures = values(prefix).take(MAX_SIGNATURES).filter_map(|text| form.normal(text));
    let signatures: Vec<_> = signatures.collect();
    if signatures.is_empty() {
        return Err(Refusal::Malformed);
    }
    let secrets = secrets.iter().filter(|secret| !secret.is_empty()).take(MAX_SECRETS);
    let is_valid = secrets.fold(false, |is_valid, secret| {
        let Ok(keyed) = Hmac::<Sha256>::new_from_slice(secret) else { return is_valid };
        let expected = form.encode(&hmac(keyed, &[start.as_bytes(), body]));
        let is_same = |text: &String| text.as_bytes().ct_eq(expected.as_bytes()).into();
        signatures.iter().map(is_same).fold(is_valid, |is_valid, is_same: bool| is_valid | is_same)
    });
    if is_valid { Ok(()) } else { Err(Refusal::Wrong) }
}

/// Returns whether a request is the unsigned ping that WooCommerce sends when a webhook is saved. It wants the status
/// 200, and has the form body `webhook_id=3`.
pub fn is_ping(
    system: System,
    header: &dyn Fn(&'static str) -> Option<String>,
    body: &[u8],
) -> bool {
    let digits = body.strip_prefix(b"webhook_id=").unwrap_or_default();
    let is_form = (1..=20).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    system == System::WooCommerce && is_form && header(WOOCOMMERCE).is_none()
}

/// How a signature is written.
#[derive(Clone, Copy)]
enum Form {
    Hex,
    Base64,
}

impl Form {
    fn encode(self, mac: &[u8; 32]) -> String {
        match self {
            Form::Hex => base16ct::lower::encode_string(mac),
            Form::Base64 => Base64::encode_string(mac),
        }
    }

    /// Returns a signature as [`encode`](Self::encode) writes it; `None` if it does not have the shape of 32 bytes.
    fn normal(self, text: &str) -> Option<String> {
        let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
        let is_right = match self {
            Form::Hex => text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()),
            Form::Base64 => {
                let digits = text.strip_suffix('=').unwrap_or_default();
                digits.len() == 43 && digits.bytes().all(is_base64)
            }
        };
        is_right.then(|| match self {
            Form::Hex => text.to_ascii_lowercase(),
            Form::Base64 => text.to_owned(),
        })
    }
}

fn bounded(header: Option<String>) -> Result<String, Refusal> {
    let header = header.filter(|header| !header.is_empty()).ok_or(Refusal::Missing)?;
    if header.len() <= MAX_HEADER { Ok(header) } else { Err(Refusal::Malformed) }
}

/// Returns what is signed before the body: an ID that ends in a full stop, and the time in seconds since 1970, which is
/// checked.
fn timed(id: &str, time: &str, now_ms: u64) -> Result<String, Refusal> {
    let is_digits = time.len() <= 12 && time.bytes().all(|byte| byte.is_ascii_digit());
    let seconds: Option<u64> = is_digits.then(|| time.parse().ok()).flatten();
    let distance = seconds.ok_or(Refusal::Malformed)?.abs_diff(now_ms / 1_000);
    if distance <= WINDOW_SECONDS { Ok([id, time, "."].concat()) } else { Err(Refusal::Stale) }
}
