//! The `Idempotency-Key` header.

use super::headers::trim;
use super::text;
use impact_pledge::idempotency::{IdempotencyKey, ReplayHash};
use impact_pledge::scope::{Mode, Scope};
use impact_pledge::secret::NamespaceSecret;
use regex_lite::Regex;
use std::sync::LazyLock;

/// Bare text, or a string of RFC 9651.
static HEADER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"^(?:([ !#-\[\]-~]+)|"((?:[ !#-\[\]-~]|\\["\\])+)")$"#).unwrap());

/// The text of a valid header, which the grammar says by itself.
pub fn key(header: &str) -> Option<String> {
    let found = HEADER.captures(trim(header))?;
    let quoted = |text: &str| text.replace("\\\"", "\"").replace("\\\\", "\\");
    let text = found.get(1).map(|bare| bare.as_str().to_owned());
    text.or_else(|| Some(quoted(found.get(2)?.as_str()))).filter(|text| text.len() <= 255)
}

pub fn run(input: &[u8]) {
    let header = text(input);
    let key = IdempotencyKey::parse(&header);
    assert_eq!(key, self::key(&header).and_then(IdempotencyKey::new));
    let Some(raw) = IdempotencyKey::new(header) else { return };
    let written = raw.to_header();
    assert!(written.bytes().all(|byte| matches!(byte, b' '..=b'~')) && written.len() <= 512);
    assert_eq!(IdempotencyKey::parse(&written).as_ref(), Some(&raw), "{written}");
    if let Some(key) = key {
        let scope = Scope { mode: Mode::Test, unit: "unit".to_owned() };
        let hash = |key| ReplayHash::new(&NamespaceSecret::new([7; 32]), &scope, key);
        assert_eq!(key == raw, hash(&key) == hash(&raw));
    }
}
