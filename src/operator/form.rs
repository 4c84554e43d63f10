//! Forms that make something once, however often they are sent.

use super::{OperatorError, Result};
use crate::handle::{Clock, Entropy};
use crate::hash::first_bytes;
use crate::scope::{Mode, Scope};
use crate::secret::NamespaceSecret;
use crate::time::SKEW_MS;
use hmac::Mac as _;
use std::fmt::{self, Display, Formatter};

/// Bytes of randomness in a form's ID: 128 bits.
const RANDOM_BYTES: usize = 16;
/// How long a form is taken after it was made, in milliseconds: so long the record of changes is looked
/// through for what became of it.
const VALID_MS: u64 = 60 * 60_000;

/// The ID of a form, in a hidden field of it: what it makes is derived from it. Its text is
/// `{milliseconds since 1970}-{32 hexadecimal digits}`. It is no secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormId {
    made_ms: u64,
    random: [u8; RANDOM_BYTES],
}

impl FormId {
    /// The ID of a form that is made now.
    pub fn new(clock: &impl Clock, entropy: &impl Entropy) -> Self {
        let mut random = [0; RANDOM_BYTES];
        entropy.fill(&mut random);
        FormId { made_ms: clock.now_ms(), random }
    }

    /// Reads the text of an ID; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let (made_ms, random) = text.split_once('-')?;
        let made_ms = made_ms.parse().ok()?;
        let id =
            FormId { made_ms, random: base16ct::lower::decode_vec(random).ok()?.try_into().ok()? };
        (id.to_string() == text).then_some(id)
    }

    /// When the form was made, in milliseconds since 1970.
    pub(super) fn made_ms(&self) -> u64 {
        self.made_ms
    }

    /// When the form was made, in milliseconds since 1970, or some minutes before: the clocks of others,
    /// who have written what is looked for since, may be late.
    pub(super) fn began_ms(&self) -> u64 {
        self.made_ms.saturating_sub(SKEW_MS)
    }

    /// Refuses a form that is too old, or of a time to come.
    pub(super) fn check(&self, clock: &impl Clock) -> Result<()> {
        let now_ms = clock.now_ms();
        let is_of_now = (self.made_ms..=self.made_ms.saturating_add(VALID_MS)).contains(&now_ms);
        if is_of_now || (now_ms..=now_ms + SKEW_MS).contains(&self.made_ms) {
            return Ok(());
        }
        let minutes = VALID_MS / 60_000;
        Err(OperatorError::Invalid(format!(
            "nothing was done: this form is more than {minutes} minutes old, open its page again"
        )))
    }

    /// Bytes that only this form, sent by this person, gives for this purpose, and nobody can guess.
    pub(super) fn bytes<const N: usize>(
        &self,
        secret: &NamespaceSecret,
        by: &str,
        mode: Mode,
        purpose: &[u8],
    ) -> [u8; N] {
        let (id, scope) = (self.to_string(), Scope { mode, unit: String::new() });
        let mac = secret.mac("form", &scope, [id.as_bytes(), by.as_bytes(), purpose]);
        first_bytes(mac.finalize().into_bytes())
    }
}

impl Display for FormId {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}-{}", self.made_ms, base16ct::lower::encode_string(&self.random))
    }
}
