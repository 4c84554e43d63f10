//! IDs of operations. If two requests have the same ID, the operation is done only once
//! ([`once`](crate::office::shared::rule::once)).

use super::error::{OperatorError, Result};
use super::refused::{RefusalCode, Refused};
use crate::pledges::hash::first_bytes;
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::secret::NamespaceSecret;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::time::SKEW_MS;
use hmac::Mac as _;
use sha2::{Digest as _, Sha256};
use std::fmt::{self, Display, Formatter};

/// Bytes of randomness in an ID: 128 bits.
const RANDOM_BYTES: usize = 16;
/// Bytes of the stored hash of an ID.
const HASH_BYTES: usize = 16;
/// Largest number of characters of an ID.
const MAX_LENGTH: usize = 64;
/// An operation must begin within this many milliseconds after its ID was generated. After that, the page with
/// the form is stale.
const VALID_MS: u64 = 60 * 60_000;

/// The ID of an operation: 1 to 64 of the characters `A` to `Z`, `a` to `z`, `0` to `9`, `_` and `-`. If two
/// people use the same ID, it stands for two different operations.
///
/// Only a [hash](Self::hash) of the ID is stored. New API keys are derived from the ID and the namespace's
/// secret, so a person who can read all records must not learn the ID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationId {
    text: String,
    /// When the ID was generated, in milliseconds since 1970; `None` if its text has no time.
    made_ms: Option<u64>,
    /// Whether this process generated the ID. Such an ID cannot have been used before.
    is_new: bool,
}

impl OperationId {
    /// Generates a random ID. Its text is `{milliseconds since 1970}-{32 hexadecimal digits}`.
    pub fn new(clock: &impl Clock, entropy: &impl Entropy) -> Self {
        let mut random = [0; RANDOM_BYTES];
        entropy.fill(&mut random);
        let made_ms = clock.now_ms();
        let text = format!("{made_ms}-{}", base16ct::lower::encode_string(&random));
        OperationId { text, made_ms: Some(made_ms), is_new: true }
    }

    pub fn parse(text: &str) -> Result<Self, Refused> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if !(1..=MAX_LENGTH).contains(&text.len()) || !text.bytes().all(is_plain) {
            let problem = format!(
                "nothing was done: an operation ID has 1 to {MAX_LENGTH} letters, digits, `_` and `-`"
            );
            return Err(Refused::at("operation-id", RefusalCode::Invalid, problem));
        }
        Ok(OperationId { text: text.to_owned(), made_ms: made_ms(text), is_new: false })
    }

    /// Returns the ID of one step of this operation. The first step, at the empty position, has the
    /// operation's own ID. Later steps have IDs without a time, so these steps may begin at any time.
    pub(crate) fn step(&self, position: &str) -> Self {
        if position.is_empty() {
            return self.clone();
        }
        let hash = Sha256::new_with_prefix(&self.text).chain_update("\n").chain_update(position);
        let text = base16ct::lower::encode_string(&first_bytes::<RANDOM_BYTES>(hash.finalize()));
        OperationId { text, made_ms: None, is_new: self.is_new }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns when the form with this ID was opened, in milliseconds since 1970. Returns `None` if the ID
    /// has no time, or if this process generated the ID.
    pub(crate) fn sent_ms(&self) -> Option<u64> {
        self.made_ms.filter(|_| !self.is_new)
    }

    /// Refuses to begin an operation whose ID is too old, or from the future.
    pub(crate) fn check_age(&self, now_ms: u64) -> Result<()> {
        let Some(made_ms) = self.made_ms else { return Ok(()) };
        let valid = made_ms.saturating_sub(SKEW_MS)..=made_ms.saturating_add(VALID_MS);
        if valid.contains(&now_ms) {
            return Ok(());
        }
        let minutes = VALID_MS / 60_000;
        Err(OperatorError::invalid(format!(
            "nothing was done: this form, or operation ID, is more than {minutes} minutes old. Open the page again, or \
             begin with a new ID"
        )))
    }

    /// Returns the hash to store for this ID and this person. The hash reveals neither of them, and differs
    /// from person to person.
    pub(crate) fn hash(&self, by: &str) -> String {
        let hash = Sha256::new_with_prefix(by).chain_update("\n").chain_update(&self.text);
        base16ct::lower::encode_string(&first_bytes::<HASH_BYTES>(hash.finalize()))
    }

    /// Derives secret bytes that are unique to this operation, person and purpose. Returns `None` for an ID
    /// without a time. A person may have chosen such an ID, so others could guess it.
    pub(crate) fn bytes<const N: usize>(
        &self,
        secret: &NamespaceSecret,
        by: &str,
        mode: Mode,
        purpose: &[u8],
    ) -> Option<[u8; N]> {
        self.made_ms?;
        let scope = Scope { mode, unit: String::new() };
        let mac = secret.mac("operation", &scope, [self.text.as_bytes(), by.as_bytes(), purpose]);
        Some(first_bytes(mac.finalize().into_bytes()))
    }
}

impl Display for OperationId {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

fn made_ms(text: &str) -> Option<u64> {
    let (made_ms, random) = text.split_once('-')?;
    let made_ms: u64 = made_ms.parse().ok().filter(|ms: &u64| ms.to_string() == made_ms)?;
    let random = base16ct::lower::decode_vec(random).ok()?;
    (random.len() == RANDOM_BYTES).then_some(made_ms)
}
