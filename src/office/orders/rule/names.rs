//! Finds a recipient's names in texts that stay when personal data is erased.

use crate::pledges::types::Recipient;
use std::collections::BTreeSet;

/// Shortest part of a name that is searched for, in bytes. Two Latin letters, as in `de` or `Li`, are too often
/// a word.
const LEAST_PART_BYTES: usize = 3;

/// Returns whether a text has the recipient's first name, full name, or a part of them, such as the surname.
/// Compares whole words, in lower case.
pub(crate) fn names_person(text: &str, recipient: &Recipient<'_>) -> bool {
    let said = words(text);
    let single: BTreeSet<_> = said.split(' ').collect();
    let names = [&recipient.first_name, &recipient.name].into_iter().flatten();
    names.map(|name| words(name)).any(|name| {
        let mut parts = name.split(' ').filter(|part| part.len() >= LEAST_PART_BYTES);
        has_words(&said, &name) || parts.any(|part| single.contains(part))
    })
}

/// Returns whether a text has these words, in this order.
pub(crate) fn says(text: &str, wanted: &str) -> bool {
    has_words(&words(text), &words(wanted))
}

fn has_words(said: &str, wanted: &str) -> bool {
    !wanted.trim().is_empty() && said.contains(wanted)
}

/// Returns the words of a text in lower case, with a space before and after each word.
fn words(text: &str) -> String {
    let words = text.split(|character: char| !character.is_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    format!(" {} ", words.join(" "))
}
