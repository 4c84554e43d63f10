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

/// How far the signed time may be from now, in milliseconds. Stripe's libraries and those of Standard Webhooks have the
/// same limit.
pub const WINDOW_MS: u64 = 300_000;
/// Maximum number of signatures in a header that are compared.
pub const MAX_SIGNATURES: usize = 8;

const WOOCOMMERCE: &str = "x-wc-webhook-signature";
const WEBHOOK_ID: &str = "webhook-id";
const WEBHOOK_TIMESTAMP: &str = "webhook-timestamp";

/// The reason why a signature is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Refusal {
    /// A header is absent, or the system has no webhooks.
    Missing,
    /// The signed time is absent, or more than [`WINDOW_MS`] from now.
    Stale,
    /// No signature belongs to this body and a secret.
    Wrong,
}

impl Display for Refusal {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Refusal::Missing => "the signature is missing",
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
    let read = |name| header(name).filter(|text| !text.is_empty()).ok_or(Refusal::Missing);
    let text = read(system.signature_header().ok_or(Refusal::Missing)?)?;
    let (separator, prefix) = match system {
        System::Stripe => (',', "v1="),
        System::BigCommerce => (' ', "v1,"),
        _ => ('\n', ""),
    };
    let values =
        |prefix| text.split(separator).filter_map(move |part| part.trim().strip_prefix(prefix));
    let start = match system {
        System::Stripe => timed("", values("t=").next().unwrap_or_default(), now_ms)?,
        System::BigCommerce => {
            let id = [&read(WEBHOOK_ID)?, "."].concat();
            timed(&id, &read(WEBHOOK_TIMESTAMP)?, now_ms)?
        }
        _ => String::new(),
    };
    let form = if system == System::Stripe { Form::Hex } else { Form::Base64 };
    let signatures = values(prefix).filter_map(|text| form.normal(text)).take(MAX_SIGNATURES);
    let signatures: Vec<_> = signatures.collect();
    let secrets = secrets.iter().filter(|secret| !secret.is_empty());
    let is_valid = secrets.fold(false, |is_valid, secret| {
        let Ok(keyed) = Hmac::<Sha256>::new_from_slice(secret) else { return is_valid };
        let expected = form.encode(&hmac(keyed, &[start.as_bytes(), body]));
        let is_same = |text: &String| text.as_bytes().ct_eq(expected.as_bytes()).into();
        signatures.iter().map(is_same).fold(is_valid, |is_valid, is_same: bool| is_valid | is_same)
    });
    if is_valid { Ok(()) } else { Err(Refusal::Wrong) }
}

impl System {
    /// Returns the header with the signatures; `None` for a system without webhooks.
    pub fn signature_header(self) -> Option<&'static str> {
        match self {
            System::Stripe => Some("stripe-signature"),
            System::Shopify => Some("x-shopify-hmac-sha256"),
            System::WooCommerce => Some(WOOCOMMERCE),
            System::BigCommerce => Some("webhook-signature"),
            System::Medusa => None,
        }
    }
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

/// Returns what is signed before the body: an ID that ends in a full stop, and the time in seconds since 1970, which is
/// checked.
fn timed(id: &str, time: &str, now_ms: u64) -> Result<String, Refusal> {
    let is_digits = time.len() <= 12 && time.bytes().all(|byte| byte.is_ascii_digit());
    let seconds: Option<u64> = is_digits.then(|| time.parse().ok()).flatten();
    let distance_ms = seconds.map(|seconds| (seconds * 1_000).abs_diff(now_ms));
    let is_near = distance_ms.is_some_and(|distance| distance <= WINDOW_MS);
    if is_near { Ok([id, time, "."].concat()) } else { Err(Refusal::Stale) }
}
