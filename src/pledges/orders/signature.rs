//! Signatures of webhooks: whether a shop system sent a body.
//!
//! Every signature is an HMAC-SHA-256 (RFC 2104). Stripe and BigCommerce sign the time, too.

use super::system::System;
use base64ct::{Base64, Encoding as _};
use hmac::{Hmac, KeyInit as _, Mac as _};
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

/// The signatures of a body. Each of them may match.
struct Signed {
    /// What is signed before the body, such as the time.
    start: String,
    signatures: Vec<[u8; 32]>,
}

/// Checks that a system signed a body with one of the secrets. `header` returns the value of a header by its name in
/// lower case. Empty secrets are skipped.
///
/// # Errors
/// The reason of the refusal. The time is checked before the signature.
pub fn verify(
    system: System,
    header: impl Fn(&'static str) -> Option<String>,
    body: &[u8],
    secrets: &[&[u8]],
    now_ms: u64,
) -> Result<(), Refusal> {
    let read = |name| bounded(header(name));
    let signed = match system {
        System::Stripe => stripe(&read(STRIPE)?, now_ms),
        System::Shopify => untimed(&read(SHOPIFY)?),
        System::WooCommerce => untimed(&read(WOOCOMMERCE)?),
        System::BigCommerce => {
            let signatures = read(WEBHOOK_SIGNATURE)?;
            standard(&read(WEBHOOK_ID)?, &read(WEBHOOK_TIMESTAMP)?, &signatures, now_ms)
        }
        System::Medusa => Err(Refusal::Missing),
    }?;
    let secrets = secrets.iter().filter(|secret| !secret.is_empty()).take(MAX_SECRETS);
    let is_valid = secrets.fold(false, |is_valid, secret| is_valid | signed.is_by(secret, body));
    is_valid.then_some(()).ok_or(Refusal::Wrong)
}

/// Returns whether a request is the unsigned ping that WooCommerce sends when a webhook is saved. It wants the status
/// 200, and has the form body `webhook_id=3`.
pub fn is_ping(
    system: System,
    header: impl Fn(&'static str) -> Option<String>,
    body: &[u8],
) -> bool {
    let digits = body.strip_prefix(b"webhook_id=").unwrap_or_default();
    let is_form = (1..=20).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    system == System::WooCommerce && is_form && header(WOOCOMMERCE).is_none()
}

impl Signed {
    /// Compares all signatures with that of a secret, in constant time.
    fn is_by(&self, secret: &[u8], body: &[u8]) -> bool {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { return false };
        mac.update(self.start.as_bytes());
        mac.update(body);
        let expected: [u8; 32] = mac.finalize().into_bytes().into();
        let matches = self.signatures.iter().map(|signature| signature.ct_eq(&expected).into());
        matches.fold(false, |is_valid, matches: bool| is_valid | matches)
    }
}

fn bounded(header: Option<String>) -> Result<String, Refusal> {
    let header = header.filter(|header| !header.is_empty()).ok_or(Refusal::Missing)?;
    if header.len() <= MAX_HEADER { Ok(header) } else { Err(Refusal::Malformed) }
}

/// Reads a header such as `t=1764316800,v1=<hex>,v1=<hex>`. Signatures of other versions are ignored.
fn stripe(header: &str, now_ms: u64) -> Result<Signed, Refusal> {
    let parts = || header.split(',').filter_map(|part| part.trim().split_once('='));
    let of = |name: &'static str| parts().filter(move |(own, _)| *own == name).map(|(_, it)| it);
    let mut times = of("t");
    let time = times.next().filter(|_| times.next().is_none()).ok_or(Refusal::Malformed)?;
    check_time(time, now_ms)?;
    let signatures = of("v1").take(MAX_SIGNATURES).filter_map(|hex| {
        let mut signature = [0; 32];
        (hex.len() == 64 && base16ct::mixed::decode(hex, &mut signature).is_ok())
            .then_some(signature)
    });
    signed([time, "."].concat(), signatures)
}

/// Reads a header that is one signature in base64.
fn untimed(header: &str) -> Result<Signed, Refusal> {
    signed(String::new(), base64(header).into_iter())
}

/// Reads the headers of Standard Webhooks 1.0. Signatures of other versions are ignored.
fn standard(id: &str, time: &str, signatures: &str, now_ms: u64) -> Result<Signed, Refusal> {
    check_time(time, now_ms)?;
    let signatures = signatures.split(' ').filter_map(|part| part.strip_prefix("v1,"));
    let signatures = signatures.take(MAX_SIGNATURES).filter_map(base64);
    signed([id, ".", time, "."].concat(), signatures)
}

fn signed(start: String, signatures: impl Iterator<Item = [u8; 32]>) -> Result<Signed, Refusal> {
    let signatures: Vec<_> = signatures.collect();
    let is_any = !signatures.is_empty();
    is_any.then_some(Signed { start, signatures }).ok_or(Refusal::Malformed)
}

fn base64(text: &str) -> Option<[u8; 32]> {
    let mut signature = [0; 32];
    let length = Base64::decode(text.trim(), &mut signature).ok()?.len();
    (length == signature.len()).then_some(signature)
}

/// Checks a time in seconds since 1970.
fn check_time(text: &str, now_ms: u64) -> Result<(), Refusal> {
    let is_digits = text.len() <= 12 && text.bytes().all(|byte| byte.is_ascii_digit());
    let seconds: Option<u64> = is_digits.then(|| text.parse().ok()).flatten();
    let distance = seconds.ok_or(Refusal::Malformed)?.abs_diff(now_ms / 1_000);
    if distance <= WINDOW_SECONDS { Ok(()) } else { Err(Refusal::Stale) }
}
