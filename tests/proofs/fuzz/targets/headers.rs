//! Fuzzes the headers of a create request. Each line of the input is one header.

use crate::{SHOP, VALID, send, service, text};
use impact_pledge::pledges::idempotency::IdempotencyKey;
use support::service::{PATH, TestRequest};

const NAMES: [&str; 6] = [
    "authorization",
    "x-service-unit-id",
    "content-type",
    "content-encoding",
    "idempotency-key",
    "origin",
];

/// Runs the target. An empty line means that the header is absent.
pub fn run(input: &[u8]) {
    let lines = text(input);
    let mut sent = TestRequest::new("POST", PATH, "").with_body(VALID.as_bytes().to_vec());
    sent.headers = NAMES
        .into_iter()
        .zip(lines.split('\n'))
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let header = |name: &str| sent.headers.get(name).map_or("", |value| value);
    let (answer, added) = send(&service(), &sent);
    let key = sent.headers.get("idempotency-key").map(|value| IdempotencyKey::parse(value.trim()));
    match answer.status {
        200 => {
            let mode = if answer.json()["isLive"] == true { "live" } else { "test" };
            assert!(header("authorization").contains(&format!("service_sk_{mode}_dev_")));
            assert!(header("content-type").to_lowercase().contains("application/json"));
            assert_eq!(added, 1 + usize::from(key.is_some_and(|key| key.is_some())));
        }
        status => assert!(matches!(status, 400 | 401 | 415) && added == 0, "{status}"),
    }
    let is_allowed = header("origin").trim() == SHOP;
    assert_eq!(answer.headers.contains_key("access-control-allow-origin"), is_allowed);
    round_trip(header("idempotency-key"));
}

/// Writes a valid idempotency key to a header, reads it back, and asserts that it is unchanged.
fn round_trip(key: &str) {
    let Some(key) = IdempotencyKey::new(key.to_owned()) else { return };
    let written = key.to_header();
    assert!(written.bytes().all(|byte| matches!(byte, b' '..=b'~')) && written.len() <= 512);
    assert_eq!(IdempotencyKey::parse(&written), Some(key), "{written}");
}
