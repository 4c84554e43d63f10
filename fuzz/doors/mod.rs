//! What is true of each door whatever comes through it. An input is bytes; a door panics where its service or client
//! does, and where the outcome is not the one that an oracle gives.

#[path = "../../tests/support/contract.rs"]
mod contract;
#[expect(dead_code, reason = "other tests use the rest")]
#[path = "../../tests/support/memory.rs"]
mod memory;
#[path = "../../tests/support/money.rs"]
mod money;

pub mod address;
pub mod answer;
pub mod charge;
pub mod headers;
pub mod idempotency;
pub mod json;
pub mod records;
pub mod request;
pub mod service;
pub mod timeline;

/// A door: takes any bytes.
pub type Door = fn(&[u8]);

/// Every door by the name of its target and of its folder below `fuzz/corpus`.
pub const DOORS: [(&str, Door); 9] = [
    ("address", address::run),
    ("answer", answer::run),
    ("charge", charge::run),
    ("headers", headers::run),
    ("idempotency", idempotency::run),
    ("json", json::run),
    ("records", records::run),
    ("request", request::run),
    ("timeline", timeline::run),
];

/// The input as text; bytes that are not UTF-8 become U+FFFD.
fn text(input: &[u8]) -> String {
    String::from_utf8_lossy(input).into_owned()
}
