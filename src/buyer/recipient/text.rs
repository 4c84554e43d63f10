//! Prepares texts of a shop for pages and e-mails.

use super::unlinked::unlinked;
use crate::buyer::visible::{is_invisible, is_joiner};
use std::borrow::Cow;
use unicode_segmentation::UnicodeSegmentation as _;

/// A page shows at most this many characters of a text.
const MAX_CHARACTERS: usize = 5_000;

/// Returns an optional text, truncated to 5,000 characters. Returns `None` if the text is absent or blank.
pub(super) fn shown<'t>(member: &'t Option<Cow<'_, str>>) -> Option<&'t str> {
    member.as_deref().map(beginning).filter(|text| !text.trim().is_empty())
}

/// Returns the first 5,000 characters of a text.
pub(super) fn beginning(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_CHARACTERS).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or_default()
}

/// Maximum number of characters of a text in an e-mail.
const MAX_BRIEF: usize = 80;

/// Returns the first 80 characters of a text. An e-mail shows no more than these.
pub fn shortened(text: &str) -> &str {
    few(text, MAX_BRIEF)
}

/// Returns the beginning of a text as one line for an e-mail. Returns `None` if nothing visible is left.
///
/// - Whatever a mail program would turn into a link is [broken up](unlinked).
/// - Encoded words (`=?…?=`) are also broken up, because mail programs decode them in headers.
/// - Control characters and invisible characters are removed, such as those that change the direction of
///   text.
pub fn brief(text: &str) -> Option<String> {
    let words = shortened(text).split(|c: char| c.is_whitespace() || c.is_control()).map(printed);
    let words = words.filter(|word| !word.chars().all(is_invisible));
    let text = words.collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then(|| unlinked(&text.replace("=?", "= ?")))
}

/// Maximum number of characters of an e-mail's preheader. Mail programs show 30 to 140.
const MAX_PREVIEW: usize = 140;

/// Returns the beginning of a text for an e-mail's preheader.
pub(super) fn preview(text: &str) -> &str {
    few(text, MAX_PREVIEW)
}

/// Returns the lines of a shop's own text, without invisible characters. Whatever a mail program would turn into a link is
/// [broken up](unlinked).
pub(super) fn own_lines(text: &str) -> Vec<String> {
    let lines = text.split('\n').map(|line| unlinked(printed(line).trim()));
    lines.filter(|line| !line.chars().all(is_invisible)).collect()
}

/// Returns the first characters of a text, at most this many, without splitting a grapheme cluster.
fn few(text: &str, most: usize) -> &str {
    let end = |text: &str, count| text.char_indices().nth(count).map_or(text.len(), |(end, _)| end);
    let begun = text.get(..end(text, most + 1)).unwrap_or_default(); // limits what is scanned
    let most = end(text, most);
    let mut ends = begun.grapheme_indices(true).map(|(start, shown)| start + shown.len());
    let last = ends.by_ref().take_while(|end| *end <= most).last();
    begun.get(..last.unwrap_or_default()).unwrap_or_default()
}

/// Converts a text to the name of an e-mail's sender, which is written in quotes in the header. Returns
/// `None` if nothing visible is left.
pub(super) fn sender(text: &str) -> Option<String> {
    let text = printed(text).replace(['"', '\\', '<', '>'], "").replace("=?", "= ?");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.chars().all(is_invisible)).then_some(text)
}

/// Removes control characters and invisible characters from a text. Keeps spaces, and the invisible
/// characters that join or change their neighbours, as in Persian and in emoji.
fn printed(text: &str) -> String {
    let is_printed = |character: &char| {
        let (blank, hidden) = (character.is_whitespace(), is_invisible(*character));
        !character.is_control() && (!hidden || blank || is_joiner(*character))
    };
    text.chars().filter(is_printed).collect()
}
