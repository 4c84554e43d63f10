//! Seals (encrypts and authenticates) short texts, such as the secrets of shops.

use super::secret::SECRET_BYTES;
use base64ct::{Base64UrlUnpadded, Encoding as _};
use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305, XNonce};
use std::fmt::{self, Debug, Formatter};

/// Size of a nonce, in bytes. Random nonces of 192 bits are practically unique.
pub const NONCE_BYTES: usize = 24;
/// Size of the authentication tag, in bytes.
const TAG_BYTES: usize = 16;

/// Seals texts for one owner, and opens them. A text that was sealed for another owner, or with another key, does not
/// open.
pub struct Sealer {
    cipher: XChaCha20Poly1305,
    owner: String,
}

impl Debug for Sealer {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("Sealer(…)")
    }
}

impl Sealer {
    pub fn new(key: [u8; SECRET_BYTES], owner: impl Into<String>) -> Self {
        Sealer { cipher: XChaCha20Poly1305::new(&key.into()), owner: owner.into() }
    }

    /// Seals bytes as a text in base64url. Each text needs a new random nonce.
    pub fn seal(&self, nonce: [u8; NONCE_BYTES], bytes: &[u8]) -> Option<String> {
        let payload = Payload { msg: bytes, aad: self.owner.as_bytes() };
        let sealed = self.cipher.encrypt(&XNonce::from(nonce), payload).ok()?;
        Some(Base64UrlUnpadded::encode_string(&[nonce.as_slice(), &sealed].concat()))
    }

    /// Opens a text. Returns `None` if [`seal`](Self::seal) did not make it with this key for this owner.
    pub fn open(&self, text: &str) -> Option<Vec<u8>> {
        let bytes = Base64UrlUnpadded::decode_vec(text).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_BYTES>()?;
        let payload = Payload { msg: sealed, aad: self.owner.as_bytes() };
        self.cipher.decrypt(&XNonce::from(*nonce), payload).ok()
    }
}

/// Returns the length of a sealed text in characters.
pub const fn sealed_length(bytes: usize) -> usize {
    ((NONCE_BYTES + bytes + TAG_BYTES) * 4).div_ceil(3)
}
