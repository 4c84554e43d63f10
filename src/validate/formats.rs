//! The texts with formats that the walk of a JavaScript value collects, with a word for each.

use super::rules;
use crate::schema::Format;

/// How many texts one call takes.
pub const TEXTS: usize = 256;
/// How far up in a text's word its [`Format`] stands; below is the rank of its place.
pub const FORMAT: u32 = 5;
/// How far up in a text's word its length stands, in bytes.
pub const LENGTH: u32 = 7;

/// Checks whether the texts have their formats. Returns how many do not.
///
/// The word of a wrong text becomes its rank and, in the second byte, the code; others become 0.
pub fn check(words: &mut [u32], mut text: &[u8]) -> usize {
    let mut wrong = 0;
    for word in words {
        let length = (*word >> LENGTH) as usize;
        let (this, rest) = text.split_at_checked(length).unwrap_or_default(); // JavaScript may lie
        text = rest;
        let rank = *word & ((1 << FORMAT) - 1);
        let format = Format::from_repr((*word >> FORMAT & 3) as u8).unwrap_or(Format::Any);
        *word = rules::text(format, this).err().map_or(0, |code| rank | (code as u32) << 8);
        wrong += usize::from(*word != 0);
    }
    wrong
}
