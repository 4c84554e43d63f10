//! The fuzz targets. A target takes any bytes as untrusted input. It panics where the service or the client panics, and
//! where the outcome differs from an oracle's.

#![expect(missing_docs, reason = "test helpers are read where they are used")]
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a target that meets the unexpected should panic"
)]

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

/// Takes any bytes.
pub type Target = fn(&[u8]);

/// Every target by its name, which its folder below `fuzz/corpus` has too.
pub const TARGETS: [(&str, Target); 9] = [
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
