//! The headers of a create, a line each.

use super::idempotency;
use super::service::{FuzzService, LIVE, OTHER, SHOP, Sent, TEAM, UNIT, VALID};
use super::text;
use regex_lite::Regex;
use std::sync::LazyLock;

const NAMES: [&str; 7] = [
    "authorization",
    "x-service-unit-id",
    "content-type",
    "content-encoding",
    "idempotency-key",
    "origin",
    "cf-ray",
];

static BEARER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("^[ \t]*(?i:bearer) +([!-~]+)[ \t]*$").unwrap());
static JSON: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("^[ \t]*(?i:application/json)[ \t]*(;|$)").unwrap());

/// A line that is empty is a header that is absent.
pub fn run(input: &[u8]) {
    let lines = text(input);
    let values = lines.split('\n').map(str::to_owned);
    let headers = NAMES.into_iter().zip(values).filter(|(_, value)| !value.is_empty());
    let sent = Sent { headers: headers.collect(), ..Sent::create("", VALID.as_bytes()) };
    let answer = FuzzService::seeded().send(&sent);
    let (status, is_live) = expected(&sent);
    assert_eq!(answer.status, status);
    if status != 200 || is_live.is_some() {
        assert_eq!(answer.json()["isLive"].as_bool(), is_live);
    }
    let is_allowed = header(&sent, "origin") == Some(SHOP);
    assert_eq!(answer.headers.contains_key("access-control-allow-origin"), is_allowed);
}

fn header<'s>(sent: &'s Sent, name: &str) -> Option<&'s str> {
    sent.headers.iter().find(|(header, _)| *header == name).map(|(_, value)| &**value)
}

/// HTTP's white space is these two; JavaScript's and Rust's is more.
pub fn trim(value: &str) -> &str {
    value.trim_matches([' ', '\t'])
}

/// The contract's order: who asks, for which unit, under which key, with what body.
fn expected(sent: &Sent) -> (u16, Option<bool>) {
    let token = header(sent, "authorization").and_then(|value| BEARER.captures(value));
    let is_live = match token.as_ref().and_then(|token| token.get(1)).map(|token| token.as_str()) {
        Some(UNIT | OTHER) => false,
        Some(LIVE) => true,
        Some(TEAM) => match header(sent, "x-service-unit-id").map(trim) {
            Some("unit" | "other") => true,
            _ => return (401, Some(true)),
        },
        _ => return (401, None),
    };
    if header(sent, "idempotency-key").is_some_and(|value| idempotency::key(value).is_none()) {
        return (400, Some(is_live));
    }
    let is_json = header(sent, "content-type").is_some_and(|value| JSON.is_match(value));
    let encoding = trim(header(sent, "content-encoding").unwrap_or("identity"));
    let is_plain = encoding.eq_ignore_ascii_case("identity");
    (if is_json && is_plain { 200 } else { 415 }, Some(is_live))
}
