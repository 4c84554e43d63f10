//! Checks many texts in one call: those with a format that the walk of a JavaScript value collects.

use super::rules;
use crate::schema::Format;

/// Most texts of one call.
pub const MAX_TEXTS: usize = 256;
/// The lowest bit of the [`Format`] in a text's word. The bits below hold the index of its node.
pub const FORMAT_SHIFT: u32 = 5;
/// The lowest bit of the length in a text's word, in bytes.
pub const LENGTH_SHIFT: u32 = 7;

/// Checks whether the texts have their formats; `text` is all of them, concatenated, and `words`
/// has a word for each. Returns how many texts are wrong.
///
/// The word of a wrong text becomes the index of its node and, in the second byte, the code; the
/// word of any other becomes 0.
pub fn check(words: &mut [u32], mut text: &[u8]) -> usize {
    let mut wrong = 0;
    for word in words {
        let length = (*word >> LENGTH_SHIFT) as usize;
        let (this, rest) = text.split_at_checked(length).unwrap_or_default(); // never panics
        text = rest;
        let index = *word & ((1 << FORMAT_SHIFT) - 1);
        let format = Format::from_repr((*word >> FORMAT_SHIFT & 3) as u8).unwrap_or(Format::Any);
        let code = rules::check_format(format, this).err();
        *word = code.map_or(0, |code| index | (code as u32) << 8);
        wrong += usize::from(*word != 0);
    }
    wrong
}
