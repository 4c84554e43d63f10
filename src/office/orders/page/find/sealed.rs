//! Seals (encrypts) search terms for the URLs of results. A search term is often personal data, and browser histories
//! and logs keep URLs. Only the person who searched can open a sealed term, and only for one day.

use crate::pledges::order_number;
use crate::pledges::sealed::{NONCE_BYTES, Sealer, sealed_length};
use crate::pledges::secret::NamespaceSecret;
use crate::pledges::service::{Clock, Entropy};

/// Hours until a sealed search term (a token) expires.
pub(super) const SEARCH_HOURS: u64 = 24;
/// Maximum length of a search term, in bytes.
pub(super) const MAX_TERM: usize = order_number::MAX_BYTES;

/// Size of the expiry time of a token, in bytes. The time is in milliseconds since 1970.
const TIME: usize = 8;
/// Maximum length of a token in characters.
const MAX_TOKEN: usize = sealed_length(TIME + MAX_TERM);

/// Seals and opens the search terms of one person.
pub(super) struct TermSealer(Sealer);

impl TermSealer {
    /// Creates the sealer of a signed-in person. `person` is the e-mail address in lower case. A token opens only for the
    /// person that it was sealed for.
    pub fn new(secret: &NamespaceSecret, person: String) -> Self {
        TermSealer(Sealer::new(secret.sealing_key(), person))
    }

    /// Seals a term; `None` if it is longer than [`MAX_TERM`].
    pub fn seal(&self, clock: &impl Clock, entropy: &impl Entropy, term: &str) -> Option<String> {
        if term.len() > MAX_TERM {
            return None;
        }
        let ends = clock.now_ms().saturating_add(SEARCH_HOURS * 3_600_000);
        let message = [ends.to_be_bytes().as_slice(), term.as_bytes()].concat();
        let mut nonce = [0; NONCE_BYTES];
        entropy.fill(&mut nonce);
        self.0.seal(nonce, &message)
    }

    /// Opens a token. Returns `None` if it has expired, belongs to somebody else, or was not made by [`seal`](Self::seal).
    pub fn open(&self, clock: &impl Clock, token: &str) -> Option<String> {
        if token.len() > MAX_TOKEN {
            return None;
        }
        let message = self.0.open(token)?;
        let (ends, term) = message.split_first_chunk::<TIME>()?;
        let is_current = clock.now_ms() < u64::from_be_bytes(*ends);
        String::from_utf8(term.to_vec()).ok().filter(|_| is_current)
    }
}
