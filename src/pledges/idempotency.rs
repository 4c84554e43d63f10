//! The `Idempotency-Key` of a create request (IETF httpapi draft), which makes retries safe.
//!
//! With this header, the IDs and the edit key are derived from the request, so that concurrent repeated
//! requests write the same record. The derivation is keyed by the namespace's secret, so that nobody can
//! guess the result.

use super::hash::{first_bytes, hmac};
use super::http::OWS;
use super::scope::Scope;
use super::secret::NamespaceSecret;
use super::types::CurrencyCode;
use super::version::Version;
use hmac::Hmac;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Maximum number of characters of a key, without its quotes.
const MAX_LENGTH: usize = 255;

/// The caller's identifier for a create request: 1 to 255 printable ASCII characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Checks the text of a key. Returns `None` if it is empty, too long, or not printable ASCII.
    pub fn new(text: String) -> Option<Self> {
        let printable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        (printable && (1..=MAX_LENGTH).contains(&text.len())).then_some(IdempotencyKey(text))
    }

    /// Parses the header: a structured-field string in double quotes, or the same text without quotes.
    ///
    /// Returns `None` if the key is empty, too long, or not printable ASCII, or has a stray quote or backslash.
    pub fn parse(header: &str) -> Option<Self> {
        let header = header.trim_matches(OWS);
        let text = match header.strip_prefix('"') {
            Some(quoted) => unescape(quoted.strip_suffix('"')?)?,
            None => Some(header).filter(|bare| !bare.contains(['"', '\\']))?.to_owned(),
        };
        IdempotencyKey::new(text)
    }

    /// Returns the header's value: the key without quotes, or in double quotes if the text without quotes
    /// would not parse to the same key.
    pub fn to_header(&self) -> String {
        let is_trimmed = !self.0.starts_with(' ') && !self.0.ends_with(' ');
        let bare = is_trimmed && !self.0.bytes().any(is_escaped);
        if bare { self.0.clone() } else { quote(&self.0) }
    }
}

/// Returns whether this character needs a backslash within double quotes.
fn is_escaped(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\')
}

fn quote(text: &str) -> String {
    let mut quoted = "\"".to_owned();
    for byte in text.bytes() {
        if is_escaped(byte) {
            quoted.push('\\');
        }
        quoted.push(char::from(byte));
    }
    quoted.push('"');
    quoted
}

/// Removes the backslashes of escaped characters (RFC 9651 §3.3.3). Returns `None` if a backslash stands
/// before any character other than a quote or a backslash.
fn unescape(quoted: &str) -> Option<String> {
    let mut text = String::with_capacity(quoted.len());
    let mut chars = quoted.chars();
    while let Some(char) = chars.next() {
        text.push(match char {
            '\\' => chars.next().filter(|next| matches!(next, '"' | '\\'))?,
            '"' => return None,
            other => other,
        });
    }
    Some(text)
}

/// The hash in the name of a replay record. It is an HMAC, because an idempotency key is often an order number, which
/// could be guessed from a plain hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayHash([u8; 32]);

impl ReplayHash {
    /// Computes the HMAC-SHA-256 of (mode, unit, idempotency key), keyed by the namespace's secret.
    pub fn new(secret: &NamespaceSecret, scope: &Scope, key: &IdempotencyKey) -> Self {
        ReplayHash(hmac(secret.mac("replay", scope, [key.0.as_bytes()]), &[]))
    }

    /// Returns 64 lower-case hexadecimal digits.
    pub fn to_hex(self) -> String {
        base16ct::lower::encode_string(&self.0)
    }

    /// Parses the text that [`to_hex`](Self::to_hex) returns.
    pub fn from_hex(text: &str) -> Option<Self> {
        Some(ReplayHash(base16ct::lower::decode_vec(text).ok()?.try_into().ok()?))
    }
}

/// The SHA-256 of a payload. Two JSON texts of the same payload have the same hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Hashes a request. `canonical` is its JSON with the members in the order of the schema.
    pub fn new(canonical: &[u8]) -> Self {
        Fingerprint(Sha256::digest(canonical).into())
    }
}

/// The record of a create request that had an idempotency key. It does not expire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Replay {
    /// The ID of the transaction that the request created.
    pub id: String,
    pub terms: Terms,
    #[serde(skip_deserializing)]
    pub version: Version,
}

/// The parts of an answer that do not follow from the request. An idempotent replay returns these parts as
/// they were in the first answer, even if the time, the prices or the host have changed since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Terms {
    /// When the transaction was created, an RFC 3339 date-time.
    pub created_at: String,
    /// The charge, computed from the prices at that time.
    pub amount: String,
    /// The code of the currency: a [`CurrencyCode`], or a code that only a later release knows.
    pub currency_code: String,
    /// The origin of the timeline URL.
    pub origin: String,
}

impl Terms {
    /// Returns whether this release knows the currency of these terms. If it does not, the service must not
    /// answer with the terms.
    pub fn are_known(&self) -> bool {
        CurrencyCode::from_code(&self.currency_code).is_some()
    }
}

/// Derives the IDs and the edit key for a create request with an idempotency key. (A request without an
/// idempotency key gets random IDs and a random edit key.)
///
/// The API key is not part of the derivation. So a retry with another key of the unit, such as a key that
/// has replaced the first one, makes the same record.
///
/// The payload is part of the derivation. So two concurrent create requests with one idempotency key and
/// *different* payloads make two records, and neither overwrites the other.
#[derive(Clone)]
pub struct Derivation(Hmac<Sha256>);

impl Derivation {
    /// Computes the HMAC-SHA-256 of (mode, unit, idempotency key, payload), keyed by the namespace's secret.
    pub fn new(
        secret: &NamespaceSecret,
        scope: &Scope,
        key: &IdempotencyKey,
        payload: Fingerprint,
    ) -> Self {
        Derivation(secret.mac("repeat", scope, [key.0.as_bytes(), &payload.0]))
    }

    /// Derives bytes for one purpose, such as `pledge`, and one index, such as the number of the pledge.
    pub fn bytes<const N: usize>(&self, purpose: &str, index: usize) -> [u8; N] {
        let index = (index as u64).to_be_bytes();
        first_bytes(hmac(self.0.clone(), &[purpose.as_bytes(), &index]))
    }
}
