//! Tests the service without Cloudflare Workers, with a store in memory. The table of example requests is also
//! run against the real Worker. The other tests here need faults that cannot be caused in the real Worker.

mod create;
mod failures;
mod fixture_rows;
mod keys;
mod plain_http;
mod timeline_address;

use serde_json::{Value, json};
use support::memory::MemoryStore;
use support::service::{Answer, TestRequest, TestService};

#[track_caller]
fn unavailable(answer: &Answer, is_live: Option<bool>) {
    assert_eq!(answer.status, 503);
    assert_eq!(answer.headers["retry-after"], "1");
    assert_eq!(answer.json()["error"], "Service unavailable");
    assert_eq!(answer.json().get("isLive").and_then(Value::as_bool), is_live);
}

/// Asserts that a create request without an `Idempotency-Key` failed. The answer must say that the
/// transaction may have been recorded, and must not have a `Retry-After`.
#[track_caller]
fn may_be_recorded(answer: &Answer, is_live: bool) {
    assert_eq!((answer.status, &answer.json()["isLive"]), (503, &json!(is_live)));
    assert_eq!(answer.headers.get("retry-after"), None);
    let message = answer.json()["message"].to_string();
    assert!(message.contains("may have been recorded"), "{message}");
    assert!(message.contains("To be able to repeat safely, send an Idempotency-Key"), "{message}");
    assert!(!message.contains("Send the request again"), "{message}");
}

fn transactions(service: &TestService<MemoryStore>) -> Vec<String> {
    let names = service.store.names().into_iter();
    names.filter(|name| name.starts_with("transaction:")).collect()
}

/// Returns the problem that `/healthz` shows.
fn health(service: &TestService<MemoryStore>) -> Value {
    let reads = service.store.reads();
    let answer = service.send(&TestRequest::new("GET", "/healthz", ""));
    assert_eq!((answer.status, service.store.reads()), (200, reads));
    answer.json()["problem"].clone()
}
