//! Breaks up the parts of an e-mail's texts that a mail program would turn into links.

use crate::buyer::visible::is_invisible;

/// The dot, and other characters that browsers treat as a dot in a host name.
const DOTS: [char; 6] = ['.', '\u{2024}', '\u{3002}', '\u{fe52}', '\u{ff0e}', '\u{ff61}'];
/// The at sign, and the characters that look the same.
const AT_SIGNS: [char; 3] = ['@', '\u{fe6b}', '\u{ff20}'];
/// The dots that end a sentence in Chinese and Japanese.
const STOPS: [char; 2] = ['\u{3002}', '\u{ff61}'];

/// Breaks up whatever a mail program would turn into a link. The text stays readable. A space is inserted
///
/// - after the dots of a host that ends in two or more letters or begins with `www`: `evil. com/win`. No list of
///   top-level domains is needed, and new domains need no update;
/// - after the at sign of an e-mail address: `ada@ evil. com`;
/// - after the scheme of a URI: `https:// x`, `mailto: x`.
///
/// Other dots stay: `EU.shop.77`, `J.R.R.`, `12.50`.
pub(super) fn unlinked(text: &str) -> String {
    let mut unlinked = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|character| !is_of_host(character)).unwrap_or(rest.len());
        let (host, others) = rest.split_at(end);
        for sentence in sentences(host) {
            push_host(&mut unlinked, sentence);
        }
        let mut others = others.chars();
        if let Some(sign) = others.next() {
            let is_broken = is_link_sign(&unlinked, sign, others.as_str());
            unlinked.push(sign);
            unlinked.push_str(if is_broken { " " } else { "" });
        }
        rest = others.as_str();
    }
    unlinked
}

/// Whether a character may be part of a host name: an ASCII letter or digit, `-`, `_`, a dot, or a character
/// from `À` on, except white space and at signs. This includes invisible characters, which may be hidden in a
/// host name.
fn is_of_host(character: char) -> bool {
    let is_other = character >= 'À' && !character.is_whitespace() && !AT_SIGNS.contains(&character);
    character.is_ascii_alphanumeric() || "-_".contains(character) || is_dot(character) || is_other
}

fn is_dot(character: char) -> bool {
    DOTS.contains(&character)
}

/// Splits a text after each stop that text of a script without spaces follows: `買いました。` and `ありがとう`.
fn sentences(text: &str) -> Vec<&str> {
    let ends = text.match_indices(STOPS).map(|(at, stop)| at + stop.len());
    let is_followed = |end: &usize| text.get(*end..).is_some_and(|rest| rest.starts_with(is_dense));
    let mut ends: Vec<_> = ends.filter(is_followed).collect();
    ends.push(text.len());
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(&ends).filter_map(|(start, end)| text.get(start..*end)).collect()
}

fn push_host(unlinked: &mut String, host: &str) {
    if is_host(host) {
        let labels: Vec<_> = host.split_inclusive(is_dot).collect();
        unlinked.push_str(&labels.join(" "));
    } else {
        unlinked.push_str(host);
    }
}

/// Whether a mail program may recognise a text as a host, and turn it into a link.
fn is_host(host: &str) -> bool {
    let labels = host.split(is_dot).map(plain).filter(|label| !label.is_empty());
    let labels: Vec<_> = labels.collect();
    let Some((last, [first, inner @ ..])) = labels.split_last() else { return false };
    is_domain(last)
        || inner.iter().any(|label| label.contains(is_dense) && is_domain(label))
        || std::iter::once(first).chain(inner).any(|label| label.ends_with("www"))
}

/// Whether a mail program may take a label of a host for a top-level domain. Also accepts a domain directly
/// followed by text of a script without spaces, such as `com你好`.
fn is_domain(label: &str) -> bool {
    let beginning = label.split(is_dense).next().unwrap_or_default();
    [label, beginning].into_iter().any(|label| label.starts_with("xn--") || is_letters(label))
}

/// Whether a label has two or more characters, and neither digits, hyphens nor underscores.
fn is_letters(label: &str) -> bool {
    let is_other = |character: char| character.is_ascii_digit() || "-_".contains(character);
    label.chars().nth(1).is_some() && !label.contains(is_other)
}

/// Whether a character is a symbol, or belongs to a script that writes words without spaces, such as Chinese.
/// Such characters may directly follow a host name. Full-width ASCII does not count.
fn is_dense(character: char) -> bool {
    character >= '\u{e00}' && !('\u{ff01}'..='\u{ff5e}').contains(&character)
}

/// Prepares a label of a host for comparison: in lower case, without invisible characters, and without
/// hyphens and underscores at its ends.
fn plain(label: &str) -> String {
    let visible = label.chars().filter(|character| !is_invisible(*character));
    let text: String = visible.map(|character| character.to_ascii_lowercase()).collect();
    text.trim_matches(['-', '_']).to_owned()
}

/// Whether `sign` is a character by which a mail program recognises a link: the last character of `mailto:`
/// or `//`, or the `@` of an e-mail address. `before` and `after` are the texts around `sign`.
fn is_link_sign(before: &str, sign: char, after: &str) -> bool {
    let beside = |character: &char| character.is_whitespace() || !is_invisible(*character);
    let is_word = |side: Option<char>| side.is_some_and(|side| !side.is_whitespace());
    let last = before.chars().rev().find(beside);
    let ends = match sign {
        ':' => before.to_ascii_lowercase().ends_with("mailto"),
        '/' => last == Some('/'),
        _ => AT_SIGNS.contains(&sign) && is_word(last),
    };
    ends && is_word(after.chars().find(beside))
}
