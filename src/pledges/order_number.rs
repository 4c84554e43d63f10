//! Compares order numbers without regard to their spelling. Requests call an order number a reference.

use std::borrow::Cow;

/// Longest reference that is converted for comparisons, in bytes. A longer reference, of up to 1 MiB, stays
/// as it is, which saves memory and time.
pub const MAX_BYTES: usize = 1_000;

/// Converts all spellings of an order number to the same text. For example, `1053`, `#1053` and ` # 1053`
/// become one text, and so do `SH-1053`, `sh-1053` and `sh - 1053`. The text is for hashes and comparisons
/// only.
///
/// Ignores white space, leading `#` and the case of all letters. Other punctuation counts: `10-53` is not
/// `1053`. Returns a reference of more than [`MAX_BYTES`] unchanged.
pub fn order_number(reference: &str) -> Cow<'_, str> {
    if reference.len() > MAX_BYTES {
        return Cow::Borrowed(reference);
    }
    let visible = reference.chars().filter(|character| !character.is_whitespace());
    Cow::Owned(folded(visible.skip_while(|character| *character == '#')))
}

/// Converts a text to lower case, so that spellings that differ only by case become equal. A conversion to
/// upper case in between makes `ß` equal to `SS`, and `ς` equal to `σ`.
pub fn folded(text: impl IntoIterator<Item = char>) -> String {
    let lower = text.into_iter().flat_map(char::to_lowercase); // first: the upper case of `ẞ` is itself
    lower.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}
