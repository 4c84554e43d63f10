//! The texts that have a format, which the JavaScript encoder collects while it walks a value by
//! the schema: one behind the other, with a word for each.

use super::rules;
use crate::schema::Format;

/// How many texts one call takes.
pub const TEXTS: usize = 256;
/// How far up in a text's word its [`Format`] stands; below is the rank of its place.
pub const FORMAT: u32 = 5;
/// How far up in a text's word its length stands, in bytes.
pub const LENGTH: u32 = 7;

/// Judges the texts. A word becomes 0 where all is well, else the rank of the place and, in the
/// second byte, the code. Gives whether anything is wrong.
pub fn judge(words: &mut [u32], mut text: &[u8]) -> bool {
    let mut wrong = 0;
    for word in words {
        let Some((this, rest)) = text.split_at_checked((*word >> LENGTH) as usize) else {
            return true;
        };
        text = rest;
        let rank = *word & ((1 << FORMAT) - 1);
        let format = match *word >> FORMAT & 3 {
            1 => Format::Email,
            2 => Format::Uri,
            _ => Format::DateTime,
        };
        *word = rules::text(format, this).err().map_or(0, |code| rank | (code as u32) << 8);
        wrong |= *word;
    }
    wrong != 0
}
