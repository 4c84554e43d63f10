//! Breaks up the parts of an e-mail's texts that a mail program would turn into links.

use crate::buyer::visible::is_invisible;

/// The top-level domains of IANA, one per line, in Unicode rather than Punycode. Generated from the npm package `tlds`.
const DOMAINS: &str = include_str!("domains.txt");
/// IANA's special-use domain names that consist of one label, such as `local`. A host such as
/// `printer.local` can end in one of them.
const SPECIAL: [&str; 8] =
    ["alt", "example", "internal", "invalid", "local", "localhost", "onion", "test"];

/// The dot, and other characters that browsers treat as a dot in a host name.
const DOTS: [char; 6] = ['.', '\u{2024}', '\u{3002}', '\u{fe52}', '\u{ff0e}', '\u{ff61}'];
/// The at sign, and the characters that look the same.
const AT_SIGNS: [char; 3] = ['@', '\u{fe6b}', '\u{ff20}'];

/// Breaks up whatever a mail program would turn into a link. The text stays readable. A space is inserted
///
/// - after the dots of a host that ends in a known top-level domain or begins with `www`: `evil. com/win`;
/// - after the at sign of an e-mail address: `ada@ evil. com`;
/// - after the scheme of a URI: `https:// x`, `mailto: x`.
///
/// Other dots stay: `EU.shop.77`, `Dr.Müller`, `J.R.R.`, `12.50`.
pub(super) fn unlinked(text: &str) -> String {
    let mut unlinked = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|character| !is_of_host(character)).unwrap_or(rest.len());
        let (host, others) = rest.split_at(end);
        push_host(&mut unlinked, host);
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

/// Whether a label of a host is a top-level domain. Also accepts a domain directly followed by text of a
/// script without spaces, such as `com你好`.
fn is_domain(label: &str) -> bool {
    let beginning = label.split(is_dense).next().unwrap_or_default();
    [label, beginning].into_iter().any(|label| {
        label.starts_with("xn--")
            || SPECIAL.contains(&label)
            || DOMAINS.lines().any(|domain| domain == label)
    })
}

/// Whether a character is a symbol, or belongs to a script that writes words without spaces, such as Chinese.
/// Such characters may directly follow a host name.
fn is_dense(character: char) -> bool {
    character >= '\u{e00}'
}

/// Prepares a label of a host for comparison: in lower case, without invisible characters, and without
/// hyphens and underscores at its ends.
fn plain(label: &str) -> String {
    let visible = label.chars().filter(|character| !is_invisible(*character));
    let text: String = visible.map(lower).collect();
    text.trim_matches(['-', '_']).to_owned()
}

/// Converts a character to lower case, and a full-width character to ASCII. It knows only the scripts of
/// top-level domains: Unicode's full tables would add 14 KB to the Worker.
fn lower(character: char) -> char {
    let code = u32::from(character);
    let lower = match character {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(code - 0xfee0).unwrap_or(character),
        'À'..='Þ' | 'Α'..='Ω' | 'А'..='Я' => char::from_u32(code + 0x20).unwrap_or(character),
        _ => character,
    };
    lower.to_ascii_lowercase()
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
