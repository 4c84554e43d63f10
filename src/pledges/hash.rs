//! Hashes over several texts.

use hmac::{Hmac, Mac};
use sha2::Sha256;
use sha2::digest::Update;

/// Adds texts to a hash. The length of each text is added before it, so that different lists of texts never
/// add the same bytes.
pub fn update_with_parts<'p>(hash: &mut impl Update, parts: impl IntoIterator<Item = &'p [u8]>) {
    for part in parts {
        hash.update(&(part.len() as u64).to_be_bytes());
        hash.update(part);
    }
}

pub fn first_bytes<const N: usize>(digest: impl Into<[u8; 32]>) -> [u8; N] {
    const { assert!(N <= 32, "a digest has 32 bytes") };
    let mut bytes = [0; N];
    bytes.iter_mut().zip(digest.into()).for_each(|(byte, first)| *byte = first);
    bytes
}

/// Returns the HMAC-SHA-256 of texts in a row, without their lengths. It is compiled once for all callers.
#[inline(never)]
pub fn hmac(mut keyed: Hmac<Sha256>, texts: &[&[u8]]) -> [u8; 32] {
    for text in texts {
        Mac::update(&mut keyed, text);
    }
    keyed.finalize().into_bytes().into()
}
