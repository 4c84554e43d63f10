//! The fuzz targets: one for each of the four places where untrusted input enters. A target accepts any
//! bytes. It panics if the service or the client panics, or if an invariant does not hold.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a target that meets the unexpected should panic"
)]

pub mod address;
pub mod bytes;
pub mod headers;
pub mod page;
pub mod records;

use impact_pledge::buyer::timeline::MAX_OFFERINGS;
use impact_pledge::pledges::settlement::Month;
use impact_pledge::pledges::store::PriceListKey;
use support::memory::MemoryStore;
use support::service::{Answer, TestRequest, TestService, seed};

/// A function that runs one target on any bytes.
pub type Target = fn(&[u8]);

/// Every target by its name, which is also its folder in `tests/proofs/fuzz/corpus`.
pub const TARGETS: [(&str, Target); 4] = [
    ("address", address::run),
    ("bytes", bytes::run),
    ("headers", headers::run),
    ("records", records::run),
];

/// Returns the input as text. Bytes that are not UTF-8 become U+FFFD.
fn text(input: &[u8]) -> String {
    String::from_utf8_lossy(input).into_owned()
}

const SHOP: &str = "https://shop.example";
const VALID: &str = r#"{"reference":"r","recipient":{"email":"a@b"},"pledges":[{"impact":{"amount":1.5,"offeringId":"tree"}}]}"#;

/// The ID of a stored transaction of the unit `unit_dev`. [`EDIT_KEY`] opens its timeline.
const ID: &str = "ptran_abcdefghijklmnopqrstuvwxabcdefghijklmnopqy";
const EDIT_KEY: &str = "abcdefghijklmnopqrstuvwxyz234567";
const ACCESS: &str = r#"{"mode":"test","unit":"unit_dev","bytes":1000,"editKey":"84cb29b2c78b393c0d30a90d5a9f670267d02d9ec3743fc1800acff8b03bac15"}"#;
const RECORD: &str = r#"{"createdAt":"2026-01-31T12:00:00Z","reference":"r","isLive":false,"charge":{"amount":"1.00","currencyCode":"EUR","paidAt":null},"trigger":{"date":null,"phrase":null,"externalUrl":null},"pledges":[{"id":"p_1","impact":{"amount":1,"offeringId":"tree"},"details":[],"recipient":{"email":"a@b","firstName":null,"name":null}}]}"#;

fn service() -> TestService<MemoryStore> {
    service_with(RECORD.as_bytes(), ACCESS.as_bytes())
}

fn service_with(record: &[u8], metadata: &[u8]) -> TestService<MemoryStore> {
    let store = MemoryStore::default();
    seed(&store);
    store.keep(&format!("transaction:{ID}"), record, metadata);
    let mut service = TestService::new(store, SHOP);
    service.settings.log_percent = 100;
    service
}

/// Sends a request, and asserts what must hold for every answer. Returns the answer and the number of records
/// that were added.
fn send(service: &TestService<MemoryStore>, request: &TestRequest) -> (Answer, usize) {
    let before = service.store.names().len();
    service.store.take_reads();
    let answer = service.send(request);
    let printable = |value: &String| value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    assert!(answer.headers.values().all(printable), "{:?}", answer.headers);
    assert!(answer.log.is_some());
    let is_json = answer.headers.get("content-type").is_some_and(|it| it == "application/json");
    if is_json && answer.status >= 400 && request.method != "HEAD" {
        assert!(answer.json()["error"].is_string() && answer.text.len() <= 30_000);
    }
    let names = service.store.take_reads();
    let updates = names.iter().filter(|name| name.starts_with("updates:")).count();
    assert!(updates <= MAX_OFFERINGS && names.len() - updates <= 6, "{names:?}");
    assert!(names.iter().all(|name| is_name(name)), "{names:?}");
    (answer, service.store.names().len() - before)
}

/// Whether this is the name of a record that the service may read.
fn is_name(name: &str) -> bool {
    let is = |text: &str, length: usize, digits: &str| {
        text.len() == length && text.chars().all(|char| digits.contains(char))
    };
    match name.split_once(':') {
        Some(("key" | "idempotency", hash)) => is(hash, 64, "0123456789abcdef"),
        Some(("transaction" | "cancelled", id)) => id
            .strip_prefix("ptran_")
            .is_some_and(|id| is(id, 42, "abcdefghijklmnopqrstuvwxyz234567")),
        Some(("member", _)) => name.len() <= 512,
        Some(("profile", _)) => true, // of the unit that a transaction's metadata names
        Some(("updates", rest)) => match *rest.split(':').collect::<Vec<_>>() {
            ["test" | "live", hash, month] => {
                is(hash, 64, "0123456789abcdef") && Month::parse(month).is_some()
            }
            _ => false,
        },
        _ => PriceListKey::parse(name).is_some(),
    }
}
