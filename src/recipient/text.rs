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

/// Most characters of a text in an e-mail.
const MAX_BRIEF: usize = 80;

/// Returns the first 80 characters of a text in one line, without what a mail program would make a link
/// of: words such as `www.evil.example`, `evil.example/x`, `a@evil.example` and `https://x`, but not
/// `J.R.R.`. Control characters and those that turn the direction of text are left out, too. `None` if
/// nothing is left.
pub(super) fn brief(text: &str) -> Option<String> {
    let end = text.char_indices().nth(MAX_BRIEF).map_or(text.len(), |(end, _)| end);
    let words = text.get(..end)?.split(|c: char| c.is_whitespace() || c.is_control());
    let words = words.filter(|word| !word.is_empty() && !is_link(word));
    let text = words.collect::<Vec<_>>().join(" ");
    let text: String = text.chars().filter(|character| !is_invisible(*character)).collect();
    (!text.trim().is_empty()).then_some(text)
}

/// Whether a mail program may make a link of this word.
fn is_link(word: &str) -> bool {
    let visible: String = word.chars().filter(|character| !is_invisible(*character)).collect();
    let mut labels = visible.split(['.', '\u{3002}', '\u{ff0e}', '\u{ff61}']).skip(1);
    visible.contains(['@', '\u{ff20}'])
        || visible.contains("://")
        || labels.any(|label| {
            label.chars().take_while(|character| character.is_alphanumeric()).nth(1).is_some()
        })
}

/// Whether this character turns the direction of text, or joins or separates others without a sign.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}' | '\u{feff}')
}
