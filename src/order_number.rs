//! Compares order numbers without regard to their spelling. Requests call an order number a reference.

use std::borrow::Cow;

/// Maximum size of a reference whose spelling is ignored, in bytes. A longer reference, of up to 1 MiB, is not
/// converted, so it costs no memory and hardly any time here.
pub const MAX_BYTES: usize = 1_000;

/// Returns the same text for all spellings of a reference that people write for the same order: `1053`, `#1053` and
/// ` # 1053` are the same, as are `SH-1053`, `sh-1053` and `sh - 1053`. The text is for hashes and comparisons only.
///
/// White space, leading `#` and the case of all letters are ignored. Other punctuation counts: `10-53` is not `1053`. A reference
/// of more than [`MAX_BYTES`] is returned as it is.
pub fn order_number(reference: &str) -> Cow<'_, str> {
    if reference.len() > MAX_BYTES {
        return Cow::Borrowed(reference);
    }
    let visible = reference.chars().filter(|character| !character.is_whitespace());
    Cow::Owned(folded(visible.skip_while(|character| *character == '#')))
}

/// Returns a text in a form that is the same for all spellings that differ only by case. Converts the text to upper
/// case in between, so that `ß` equals `SS`, and `ς` equals `σ`.
pub fn folded(text: impl IntoIterator<Item = char>) -> String {
    let lower = text.into_iter().flat_map(char::to_lowercase); // first: the upper case of `ẞ` is itself
    lower.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}
