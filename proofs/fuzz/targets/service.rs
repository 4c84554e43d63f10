//! A new service for each input, over records in memory. It counts the calls to its store.

use futures_executor::block_on;
use impact_pledge::auth::ApiKey;
use impact_pledge::handle::{Caches, Clock, Entropy, Journal, Service, Settings, Variables};
use impact_pledge::http::{Body, BodyError, Request, Reservation};
use impact_pledge::store::{CredentialKey, Key, Store, StoreError, Stored};
use serde_json::Value;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use support::memory::MemoryStore;

pub const ORIGIN: &str = "https://pledge.example";
pub const PATH: &str = "/v2/pledge-transaction";
pub const SHOP: &str = "https://shop.example";
pub const UNIT: &str = "service_sk_test_unit";
pub const LIVE: &str = "service_sk_live_unit";
pub const OTHER: &str = "service_sk_test_other";
pub const TEAM: &str = "service_sk_live_team";
/// The key records of all of these, and the catalogue.
const RECORDS: [(&str, &str); 4] = [
    (
        UNIT,
        r#"{"mode":"test","level":"unit","unitId":"unit","secret":"0707070707070707070707070707070707070707070707070707070707070707"}"#,
    ),
    (
        LIVE,
        r#"{"mode":"live","level":"unit","unitId":"unit","secret":"0707070707070707070707070707070707070707070707070707070707070707"}"#,
    ),
    (
        OTHER,
        r#"{"mode":"test","level":"unit","unitId":"other","secret":"0707070707070707070707070707070707070707070707070707070707070707"}"#,
    ),
    (
        TEAM,
        r#"{"mode":"live","level":"team","teamId":"team","unitIds":["unit","other"],"secret":"0707070707070707070707070707070707070707070707070707070707070707"}"#,
    ),
];
const CATALOGUE: &str = r#"{"currencyCode":"EUR","unitPrices":{"tree":"0.50","t":"1.005"}}"#;
pub const VALID: &str = r#"{"reference":"r","recipient":{"email":"a@b"},"pledges":[{"impact":{"amount":1.5,"offeringId":"tree"}}]}"#;

/// The record of [`FuzzService::with_record`], of [`UNIT`].
pub const ID: &str = "ptran_abcdefghijklmnopqrstuvwxabcdefghijklmnopqy";
pub const EDIT_KEY: &str = "abcdefghijklmnopqrstuvwxyz234567";
pub const ACCESS: &str = r#"{"mode":"test","unit":"unit","editKey":"84cb29b2c78b393c0d30a90d5a9f670267d02d9ec3743fc1800acff8b03bac15"}"#;
pub const RECORD: &str = r#"{"createdAt":"2026-01-31T12:00:00Z","reference":"r","isLive":false,"charge":{"amount":"1.00","currencyCode":"EUR","paidAt":null},"trigger":{"date":null,"phrase":null,"externalUrl":null},"pledges":[{"id":"p_1","impact":{"amount":1,"offeringId":"tree"},"details":[],"recipient":{"email":"a@b","firstName":null,"name":null}}]}"#;

/// A store in memory, which has the limits of Workers KV and counts writes.
#[derive(Default)]
pub struct Records {
    store: MemoryStore,
    pub writes: Cell<usize>,
}

impl Records {
    /// Keeps any bytes, as an operator or an earlier release may have.
    pub fn keep(&self, name: &str, value: &[u8], metadata: &[u8]) {
        self.store.keep(name, value, metadata);
    }
}

impl Store for Records {
    type Value = Vec<u8>;

    async fn get<K: Key>(
        &self,
        key: &K,
    ) -> Result<Option<Stored<Vec<u8>, K::Metadata>>, StoreError> {
        self.store.get(key).await
    }

    async fn put<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
    ) -> Result<(), StoreError> {
        self.writes.set(self.writes.get() + 1);
        let length = serde_json::to_vec(metadata).unwrap().len();
        assert!(length <= 1_024 && key.name().len() <= 512, "Workers KV refuses it");
        self.store.put(key, value, metadata).await
    }
}

struct Noon;

impl Clock for Noon {
    fn now_ms(&self) -> u64 {
        1_769_860_800_000
    }
}

/// Counts instead of drawing at random, so that an input always has the same outcome.
#[derive(Default)]
struct Counter(Cell<u8>);

impl Entropy for Counter {
    fn fill(&self, bytes: &mut [u8]) {
        self.0.set(self.0.get().wrapping_add(1));
        bytes.fill(self.0.get());
    }
}

pub struct FuzzService {
    pub records: Records,
    entropy: Counter,
    caches: Caches,
    settings: Settings,
}

/// A request; names of headers in lower case.
#[derive(Clone, Default)]
pub struct Sent {
    pub method: String,
    pub url: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

impl Sent {
    pub fn new(method: &str, path: &str, key: &str) -> Self {
        let headers = vec![("authorization", format!("Bearer {key}"))];
        Sent { method: method.to_owned(), url: format!("{ORIGIN}{path}"), headers, body: vec![] }
    }

    pub fn create(key: &str, body: &[u8]) -> Self {
        let sent = Sent::new("POST", PATH, key).with("content-type", "application/json");
        Sent { body: body.to_vec(), ..sent }
    }

    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

impl Request for Sent {
    fn method(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.method)
    }

    fn url(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.url)
    }

    fn header(&self, name: &'static str) -> Option<String> {
        self.headers.iter().find(|(header, _)| *header == name).map(|(_, value)| value.clone())
    }

    async fn body(
        &self,
        limit: usize,
        reservation: &mut Reservation<'_>,
    ) -> Result<Vec<u8>, BodyError> {
        reservation.resize(self.body.len())?;
        if self.body.len() > limit { Err(BodyError::TooLarge) } else { Ok(self.body.clone()) }
    }

    async fn is_over_limit(&self, _: &str) -> bool {
        false
    }
}

pub struct Answer {
    pub status: u16,
    pub headers: BTreeMap<&'static str, String>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the body should be JSON")
    }
}

impl FuzzService {
    pub fn seeded() -> Self {
        let records = Records::default();
        for (key, record) in RECORDS {
            let name = CredentialKey(ApiKey::new(key).hash()).name();
            records.keep(&name, record.as_bytes(), b"null");
        }
        for mode in ["test", "live"] {
            records.keep(&format!("catalogue:{mode}"), CATALOGUE.as_bytes(), b"null");
        }
        let (entropy, caches) = (Counter::default(), Caches::default());
        FuzzService {
            records,
            entropy,
            caches,
            settings: Settings::parse(Variables { allowed_origins: SHOP, ..Variables::default() }),
        }
    }

    /// With the record of [`ID`], which [`EDIT_KEY`] opens.
    pub fn with_record(value: &[u8], metadata: &[u8]) -> Self {
        let service = FuzzService::seeded();
        service.records.keep(&format!("transaction:{ID}"), value, metadata);
        service
    }

    /// Empties the caches, as a new isolate would begin.
    pub fn forget(&mut self) {
        self.caches = Caches::default();
    }

    /// Sends a request, and asserts the rules that all answers keep.
    pub fn send(&self, sent: &Sent) -> Answer {
        let FuzzService { records, entropy, caches, settings } = self;
        let writes = records.writes.get();
        let journal = Journal::default();
        let service = Service { store: records, clock: &Noon, entropy, caches, settings, journal };
        let response = block_on(service.handle(sent));
        let body = match response.body {
            Body::Empty => vec![],
            Body::Bytes(bytes) | Body::Stored(bytes) => bytes,
        };
        let headers = response.media.headers().iter().copied();
        let own = response.headers.iter().map(|(name, value)| (*name, &**value));
        let headers = headers.chain(own).map(|(name, value)| (name, value.to_owned())).collect();
        let answer = Answer { status: response.status, headers, body };
        answer.check(sent, response.log.is_some());
        let names = records.store.take_reads();
        assert!(names.len() <= 5 && records.writes.get() - writes <= 2, "{names:?}");
        names.iter().for_each(|name| assert!(is_name(name), "`{name}`"));
        answer
    }
}

impl Answer {
    fn check(&self, sent: &Sent, is_logged: bool) {
        let printable = |value: &String| value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        assert!(self.headers.values().all(printable), "{:?}", self.headers);
        let may_be_unpriced = sent.method == "POST" && self.status == 200;
        assert!(is_logged == (self.status >= 400) || (is_logged && may_be_unpriced));
        if self.headers.get("content-type").is_some_and(|media| media == "application/json")
            && self.status != 200
            && sent.method != "HEAD"
        {
            let body = self.json();
            assert!(body["error"].is_string() && self.body.len() <= 30_000, "{body}");
        }
    }
}

/// Whether it is the name of a record that the service may ask for.
fn is_name(name: &str) -> bool {
    let is = |text: &str, length: usize, digits: &str| {
        text.len() == length && text.chars().all(|char| digits.contains(char))
    };
    match name.split_once(':') {
        Some(("key" | "idempotency", hash)) => is(hash, 64, "0123456789abcdef"),
        Some(("transaction", id)) => id
            .strip_prefix("ptran_")
            .is_some_and(|id| is(id, 42, "abcdefghijklmnopqrstuvwxyz234567")),
        Some(("profile", _)) => true, // of the unit that a transaction's metadata names
        _ => ["catalogue:test", "catalogue:live"].contains(&name),
    }
}
