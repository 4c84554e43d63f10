//! Safe repeats: `Idempotency-Key` on create (IETF httpapi draft).
//!
//! All that a create makes up (ids, edit key) is derived from the key, so that repeats that race
//! each other make one and the same record, and nobody without the caller's API key can guess it.

use crate::auth::ApiKey;
use crate::hash::update_with_parts;
use crate::http::OWS;
use crate::pledge::{CurrencyCode, EditKeyEncoding};
use crate::scope::Scope;
use crate::version::Version;
use hmac::digest::InvalidLength;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Most characters of a key, without its quotes.
const MAX_LENGTH: usize = 255;

/// The caller's name for one create: 1 to 255 printable ASCII characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Takes a key's text; `None` if it is empty, too long, or not printable ASCII.
    pub fn new(text: String) -> Option<Self> {
        let printable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        (printable && (1..=MAX_LENGTH).contains(&text.len())).then_some(IdempotencyKey(text))
    }

    /// Reads the header: a structured-field string in double quotes, or the same text bare.
    ///
    /// `None` for an empty or longer key, other characters, a stray quote or backslash.
    pub fn parse(header: &str) -> Option<Self> {
        let header = header.trim_matches(OWS);
        let text = match header.strip_prefix('"') {
            Some(quoted) => unescape(quoted.strip_suffix('"')?)?,
            None => Some(header).filter(|bare| !bare.contains(['"', '\\']))?.to_owned(),
        };
        IdempotencyKey::new(text)
    }

    /// Writes the header: bare where that reads the same, else in double quotes.
    pub fn to_header(&self) -> String {
        let bare = self.0.trim() == self.0 && !self.0.contains(['"', '\\']);
        if bare { self.0.clone() } else { quote(&self.0) }
    }
}

fn quote(text: &str) -> String {
    let escaped = text.chars().flat_map(|char| {
        let escape = matches!(char, '"' | '\\').then_some('\\');
        escape.into_iter().chain([char])
    });
    std::iter::once('"').chain(escaped).chain(['"']).collect()
}

/// RFC 9651 §3.3.3: a backslash stands before a quote or a backslash, and nowhere else.
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

/// SHA-256 over who repeats what: names the record of a repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayHash([u8; 32]);

impl ReplayHash {
    /// The hash of (mode, unit, idempotency key).
    pub fn new(scope: &Scope, key: &IdempotencyKey) -> Self {
        let mut hash = Sha256::new();
        update_with_parts(&mut hash, parts(scope, key));
        ReplayHash(hash.finalize().into())
    }

    /// Reads what [`to_hex`](Self::to_hex) writes.
    pub fn from_hex(text: &str) -> Option<Self> {
        Some(ReplayHash(base16ct::lower::decode_vec(text).ok()?.try_into().ok()?))
    }

    /// 64 lower-case hexadecimal digits.
    pub fn to_hex(self) -> String {
        base16ct::lower::encode_string(&self.0)
    }
}

/// SHA-256 of what a request asks for, however it was spelled as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// `canonical` is the request encoded in the order of the schema.
    pub fn new(canonical: &[u8]) -> Self {
        Fingerprint(Sha256::digest(canonical).into())
    }

    /// 64 lower-case hexadecimal digits.
    pub fn to_hex(self) -> String {
        base16ct::lower::encode_string(&self.0)
    }
}

/// What is stored of a create that can be repeated, without expiry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Replay {
    /// The transaction that it made.
    pub id: String,
    /// [Fingerprint] of its payload, in hexadecimal.
    pub fingerprint: String,
    /// What else its answer depends on.
    pub terms: Terms,
    /// The format of the record.
    #[serde(default)]
    pub version: Version,
}

/// What an answer depends on beside the request. A repeat is answered on the terms of the first
/// create, so that an acknowledged answer does not change with time, prices or host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Terms {
    /// When the transaction was created, an RFC 3339 date-time.
    pub created_at: String,
    /// What the prices of that moment made of it.
    pub amount: String,
    /// The currency of `amount`.
    pub currency_code: CurrencyCode,
    /// The origin of its timeline address.
    pub origin: String,
    /// How the edit key in it is written.
    #[serde(default)]
    pub edit_key: EditKeyEncoding,
}

/// Makes what a create would else draw at random.
///
/// The payload's fingerprint takes part: two creates that race under one key with *different*
/// payloads make two records, rather than one that overwrites the other.
#[derive(Clone)]
pub struct Derivation(Hmac<Sha256>);

impl Derivation {
    /// HMAC-SHA-256 keyed with the caller's API key, over (mode, unit, idempotency key, payload).
    ///
    /// # Errors
    /// None in practice: HMAC takes keys of any length.
    pub fn new(
        api_key: ApiKey<'_>,
        scope: &Scope,
        key: &IdempotencyKey,
        payload: Fingerprint,
    ) -> Result<Self, InvalidLength> {
        let mut mac = Hmac::<Sha256>::new_from_slice(api_key.as_str().as_bytes())?;
        update_with_parts(&mut mac, parts(scope, key));
        update_with_parts(&mut mac, [payload.0.as_slice()]);
        Ok(Derivation(mac))
    }

    /// Bytes for one purpose, such as `transaction`.
    pub fn bytes<const N: usize>(&self, purpose: &str, index: usize) -> [u8; N] {
        const { assert!(N <= 32, "one digest is 32 bytes") };
        let mut mac = self.0.clone();
        mac.update(purpose.as_bytes());
        mac.update(&(index as u64).to_be_bytes());
        let digest: [u8; 32] = mac.finalize().into_bytes().into();
        let mut bytes = [0; N];
        bytes.iter_mut().zip(digest).for_each(|(byte, derived)| *byte = derived);
        bytes
    }
}

fn parts<'k>(scope: &'k Scope, key: &'k IdempotencyKey) -> [&'k [u8]; 3] {
    let mode: &str = scope.mode.into();
    [mode.as_bytes(), scope.unit.as_bytes(), key.0.as_bytes()]
}
