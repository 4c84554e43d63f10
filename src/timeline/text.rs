//! Texts that a shop wrote, as far as a page shows them.

use std::borrow::Cow;

/// Most characters of a text that are shown; longer ones are not meant for a reader.
const MAX_CHARACTERS: usize = 5_000;

/// Returns the text of a member, cut to what is shown; `None` if it is absent or blank.
pub(super) fn shown<'t>(member: &'t Option<Cow<'_, str>>) -> Option<&'t str> {
    member.as_deref().map(beginning).filter(|text| !text.trim().is_empty())
}

/// Returns the first 5,000 characters.
pub(super) fn beginning(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_CHARACTERS).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or_default()
}
