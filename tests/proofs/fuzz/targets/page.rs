//! Fuzzes the recipient's page. Everything that a shop sends must appear there as text, or as an http or
//! https address.

const TAGS: &str = "html head meta title link style body header p strong main h1 bdi ol li time h2 ul div h3 b img a span \
                    footer svg circle path section h4 details summary textarea dl dt dd form button";
const EMPTY: &str = "meta link img";
const ATTRIBUTES: &str = "lang charset name content rel href class viewBox width height aria-hidden cx cy r d role dir src \
                          alt loading decoding datetime rows readonly aria-label method action";

/// Parses a page tag by tag, and accepts only tags that the service writes.
pub fn check_page(html: &str) {
    let mut open = Vec::new();
    let mut rest = html.strip_prefix("<!DOCTYPE html>").unwrap();
    while let Some((text, tag)) = rest.split_once('<') {
        assert!(!text.contains('>') || open.last() == Some(&"style"), "a bracket in `{text}`");
        let (tag, after) = tag.split_once('>').unwrap();
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None => {
                let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
                assert!(TAGS.split(' ').any(|known| known == name), "<{name}>");
                check_attributes(name, attributes);
                if !EMPTY.split(' ').any(|empty| empty == name) {
                    open.push(name);
                }
            }
        }
        rest = after;
    }
    assert!(open.is_empty() && rest.is_empty(), "{open:?} {rest}");
}

fn check_attributes(tag: &str, mut rest: &str) {
    while !rest.is_empty() {
        let (name, value) = rest.split_once("=\"").unwrap();
        let (value, after) = value.split_once('"').unwrap();
        assert!(ATTRIBUTES.split(' ').any(|known| known == name), "{name}");
        let lower = value.to_ascii_lowercase();
        let is_web = lower.starts_with("https://") || lower.starts_with("http://");
        let is_address = matches!((tag, name), ("a", "href") | ("img", "src"));
        assert!(!is_address || is_web || value.is_empty(), "{value}");
        rest = after.strip_prefix(' ').unwrap_or(after);
        assert!(rest.len() < after.len() || after.is_empty(), "{after}");
    }
}
