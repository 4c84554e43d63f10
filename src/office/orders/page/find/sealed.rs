//! Seals (encrypts) search terms for the URLs of results. A search term is often personal data, and browser histories
//! and logs keep URLs. Only the person who searched can open a sealed term, and only for one day.

use crate::pledges::order_number;
use crate::pledges::secret::NamespaceSecret;
use crate::pledges::service::{Clock, Entropy};
use base64ct::{Base64UrlUnpadded, Encoding as _};
use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305, XNonce};

/// Hours until a sealed search term (a token) expires.
pub(super) const SEARCH_HOURS: u64 = 24;
/// Maximum length of a search term, in bytes.
pub(super) const MAX_TERM: usize = order_number::MAX_BYTES;

/// Size of a nonce, in bytes. Random nonces of 192 bits are practically unique.
const NONCE: usize = 24;
/// Size of the expiry time of a token, in bytes. The time is in milliseconds since 1970.
const TIME: usize = 8;
/// Size of the authentication tag, in bytes.
const TAG: usize = 16;
/// Maximum length of a token in characters: base64 of nonce, time, term and tag.
const MAX_TOKEN: usize = (NONCE + TIME + MAX_TERM + TAG).div_ceil(3) * 4;

/// Seals and opens the search terms of one person.
pub(super) struct Sealer {
    cipher: XChaCha20Poly1305,
    /// The person's e-mail address, in lower case. A token opens only with the address that it was sealed for.
    person: String,
}

impl Sealer {
    /// Creates the sealer of a signed-in person. `person` is the e-mail address in lower case.
    pub fn new(secret: &NamespaceSecret, person: String) -> Self {
        let cipher = XChaCha20Poly1305::new(&secret.sealing_key().into());
        Sealer { cipher, person }
    }

    /// Seals a term; `None` if it is longer than [`MAX_TERM`].
    pub fn seal(&self, clock: &impl Clock, entropy: &impl Entropy, term: &str) -> Option<String> {
        if term.len() > MAX_TERM {
            return None;
        }
        let ends = clock.now_ms().saturating_add(SEARCH_HOURS * 3_600_000);
        let message = [ends.to_be_bytes().as_slice(), term.as_bytes()].concat();
        let mut nonce = [0; NONCE];
        entropy.fill(&mut nonce);
        let payload = Payload { msg: &message, aad: self.person.as_bytes() };
        let sealed = self.cipher.encrypt(&XNonce::from(nonce), payload).ok()?;
        Some(Base64UrlUnpadded::encode_string(&[nonce.as_slice(), &sealed].concat()))
    }

    /// Opens a token. Returns `None` if it has expired, belongs to somebody else, or was not made by [`seal`](Self::seal).
    pub fn open(&self, clock: &impl Clock, token: &str) -> Option<String> {
        if token.len() > MAX_TOKEN {
            return None;
        }
        let bytes = Base64UrlUnpadded::decode_vec(token).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE>()?;
        let payload = Payload { msg: sealed, aad: self.person.as_bytes() };
        let message = self.cipher.decrypt(&XNonce::from(*nonce), payload).ok()?;
        let (ends, term) = message.split_first_chunk::<TIME>()?;
        let is_current = clock.now_ms() < u64::from_be_bytes(*ends);
        String::from_utf8(term.to_vec()).ok().filter(|_| is_current)
    }
}
