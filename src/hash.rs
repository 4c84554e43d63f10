//! Hashes over several texts.

use sha2::digest::Update;

/// Adds texts, each behind its length: no two lists of texts add the same bytes.
pub fn update_with_parts<'p>(hash: &mut impl Update, parts: impl IntoIterator<Item = &'p [u8]>) {
    for part in parts {
        hash.update(&(part.len() as u64).to_be_bytes());
        hash.update(part);
    }
}
