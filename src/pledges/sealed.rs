//! Seals (encrypts and authenticates) short texts, such as the secrets of shops, with Ascon-AEAD128 (NIST SP 800-232).

use super::secret::SEALING_KEY_BYTES;
use ascon_aead::aead::{Aead as _, KeyInit as _, Payload};
use ascon_aead::{AsconAead128, AsconAead128Nonce};
use std::fmt::{self, Debug, Formatter};

/// Size of a nonce, in bytes. Random nonces of 128 bits are practically unique.
pub const NONCE_BYTES: usize = 16;
/// Size of the authentication tag, in bytes.
const TAG_BYTES: usize = 16;

/// Seals texts for one owner, and opens them. A text that was sealed for another owner, or with another key, does not
/// open.
pub struct Sealer {
    cipher: AsconAead128,
    owner: String,
}

impl Debug for Sealer {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("Sealer(…)")
    }
}

impl Sealer {
    pub fn new(key: [u8; SEALING_KEY_BYTES], owner: impl Into<String>) -> Self {
        Sealer { cipher: AsconAead128::new(&key.into()), owner: owner.into() }
    }

    /// Seals bytes as hexadecimal digits. Each text needs a new random nonce.
    pub fn seal(&self, nonce: [u8; NONCE_BYTES], bytes: &[u8]) -> Option<String> {
        let payload = Payload { msg: bytes, aad: self.owner.as_bytes() };
        let sealed = self.cipher.encrypt(&AsconAead128Nonce::from(nonce), payload).ok()?;
        Some(base16ct::lower::encode_string(&[nonce.as_slice(), &sealed].concat()))
    }

    /// Opens a text. Returns `None` if [`seal`](Self::seal) did not make it with this key for this owner.
    pub fn open(&self, text: &str) -> Option<Vec<u8>> {
        let bytes = base16ct::lower::decode_vec(text).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_BYTES>()?;
        let payload = Payload { msg: sealed, aad: self.owner.as_bytes() };
        self.cipher.decrypt(&AsconAead128Nonce::from(*nonce), payload).ok()
    }
}

/// Returns the length of a sealed text in characters.
pub const fn sealed_length(bytes: usize) -> usize {
    (NONCE_BYTES + bytes + TAG_BYTES) * 2
}
