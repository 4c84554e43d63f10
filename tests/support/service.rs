//! Gives each test a new service over a store in memory. The development data are available, too.

#![expect(clippy::panic, reason = "a body that is no JSON is shown")]

use crate::memory::MemoryStore;
use futures_executor::block_on;
use impact_pledge::buyer::delivery::Timer;
use impact_pledge::buyer::timeline::Timelines;
use impact_pledge::office::audit::rule as audit;
use impact_pledge::office::audit::rule::{AuditFilter, Author, Change};
use impact_pledge::office::shared::rows::port::Ledger;
use impact_pledge::pledges::auth::{ApiKey, KeyLevel, KeyRecord};
use impact_pledge::pledges::http::{Body, BodyError, Media, Request, Reservation, Response};
use impact_pledge::pledges::scope::{Mode, Scope};
use impact_pledge::pledges::secret::NamespaceSecret;
use impact_pledge::pledges::service::{
    Caches, Clock, Entropy, LedgerQueue, Message, Outbox, PutFuture, RequestLog, Service, Settings,
    Variables,
};
use impact_pledge::pledges::store::{
    CredentialKey, MemberKey, NoMetadata, OperatorStore, PriceListKey, ProfileKey, Store,
    TransactionKey, TransactionMetadata,
};
use impact_pledge::pledges::time::TimeZones;
use impact_pledge::pledges::types::{EditKey, TransactionId};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::mem::take;
use std::ops::Range;
use std::rc::Rc;
use std::sync::LazyLock;
use std::task::Poll;

pub const ORIGIN: &str = "https://pledge.example";
pub const PATH: &str = "/v2/pledge-transaction";
/// 2026-01-31T12:00:00.123Z
pub const NOW_MS: u64 = 1_769_860_800_123;

pub struct FixedClock(pub Cell<u64>);

impl Clock for FixedClock {
    fn now_ms(&self) -> u64 {
        self.0.get()
    }
}

impl TimeZones for FixedClock {
    fn utc_offset(&self, zone: &str, seconds: i64) -> Option<i32> {
        Zones.utc_offset(zone, seconds)
    }
}

/// Three time zones.
pub struct Zones;

/// Berlin's summer time of 2026, in seconds since 1970. In these tests, other years have no summer time.
const SUMMER: Range<i64> = 1_774_746_000..1_792_890_000;

impl TimeZones for Zones {
    fn utc_offset(&self, zone: &str, seconds: i64) -> Option<i32> {
        match zone {
            "Europe/Berlin" if SUMMER.contains(&seconds) => Some(7_200),
            "Europe/Berlin" => Some(3_600),
            "America/New_York" => Some(-18_000),
            "Pacific/Kiritimati" => Some(50_400),
            _ => None,
        }
    }
}

/// Moves the clock ahead instead of waiting, then lets all other futures run.
impl Timer for FixedClock {
    async fn pause(&self, milliseconds: u32) {
        self.0.set(self.0.get() + u64::from(milliseconds));
        yield_now().await;
    }
}

/// Lets all other futures run before it returns.
pub async fn yield_now() {
    let mut has_yielded = false;
    poll_fn(|context| {
        if has_yielded {
            return Poll::Ready(());
        }
        has_yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Bytes that look random, but are the same in each run.
#[derive(Default)]
pub struct CountedEntropy(Cell<u64>);

impl Entropy for CountedEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        self.0.set(self.0.get() + 1);
        let drawn = Sha256::digest(self.0.get().to_be_bytes());
        bytes.iter_mut().zip(drawn).for_each(|(byte, drawn)| *byte = drawn);
    }
}

/// Everything that the operator Ada needs to run commands at [`NOW_MS`].
pub struct TestOperator<E> {
    pub clock: FixedClock,
    pub entropy: E,
}

impl<E: Entropy> TestOperator<E> {
    pub fn with(entropy: E) -> Self {
        TestOperator { clock: FixedClock(Cell::new(NOW_MS)), entropy }
    }

    pub fn author(&self) -> Author<'_, FixedClock, E> {
        Author::new("ada@example.org", &self.clock, &self.entropy).unwrap()
    }
}

pub fn test_operator() -> TestOperator<CountedEntropy> {
    TestOperator::with(CountedEntropy::default())
}

pub struct TestService<S> {
    pub store: Rc<S>,
    pub clock: FixedClock,
    pub entropy: CountedEntropy,
    pub timelines: Timelines,
    pub caches: Caches,
    pub settings: Settings,
    /// The queue of e-mails, if the test sets one.
    pub queue: Option<MemoryQueue>,
    /// The queue of the ledger, if the test sets one.
    pub ledger: Option<Rc<dyn LedgerQueue>>,
}

/// A queue in memory, which accepts or refuses messages.
#[derive(Default)]
pub struct MemoryQueue {
    pub messages: RefCell<Vec<Message>>,
    pub is_broken: Cell<bool>,
    /// Whether the queue lets other futures run before it accepts a message.
    pub is_slow: Cell<bool>,
}

impl Outbox for MemoryQueue {
    fn put<'m>(&'m self, message: &'m Message) -> PutFuture<'m> {
        Box::pin(async {
            if self.is_slow.get() {
                yield_now().await;
            }
            if !self.is_broken.get() {
                self.messages.borrow_mut().push(message.clone());
            }
            !self.is_broken.get()
        })
    }
}

/// The service's answer, read to its end.
pub struct Answer {
    pub status: u16,
    pub headers: BTreeMap<String, String>,
    pub text: String,
    pub log: Option<String>,
}

impl Answer {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: `{}`", self.text))
    }
}

impl<S: Store<Value = Vec<u8>>> TestService<S> {
    pub fn new(store: S, allowed_origins: &str) -> Self {
        TestService::over(&Rc::new(store), allowed_origins)
    }

    /// Returns another instance of the service, with the same store and empty caches.
    pub fn isolate(&self) -> Self {
        let isolate = TestService::over(&self.store, "");
        isolate.clock.0.set(self.clock.0.get());
        TestService { settings: self.settings.clone(), ..isolate }
    }

    pub fn over(store: &Rc<S>, allowed_origins: &str) -> Self {
        let store = Rc::clone(store);
        let (clock, entropy) = (FixedClock(Cell::new(NOW_MS)), CountedEntropy::default());
        TestService {
            store,
            clock,
            entropy,
            timelines: Timelines::default(),
            caches: Caches::default(),
            settings: Settings::parse(Variables { allowed_origins, ..Variables::default() }),
            queue: None,
            ledger: None,
        }
    }

    pub fn send(&self, request: &TestRequest) -> Answer {
        block_on(self.handle(request))
    }

    /// Sends a request while other futures run.
    pub async fn handle(&self, request: &TestRequest) -> Answer {
        let TestService { store, clock, entropy, timelines, caches, settings, queue, ledger } =
            self;
        let recipients = timelines;
        let store = &**store;
        let outbox = queue.as_ref().map(|queue| queue as &dyn Outbox);
        let (ledger, request_log) = (ledger.as_deref(), RequestLog::default());
        let service = Service {
            store,
            clock,
            entropy,
            recipients,
            caches,
            settings,
            outbox,
            ledger,
            request_log,
        };
        answer(service.handle(request).await)
    }

    pub fn create(&self, key: &str, body: &Value) -> Answer {
        self.send(&TestRequest::new("POST", PATH, key).with_body(body.to_string().into_bytes()))
    }

    pub fn get(&self, key: &str, id: &str) -> Answer {
        self.send(&TestRequest::new("GET", &format!("{PATH}/{id}"), key))
    }
}

pub fn answer(response: Response<Vec<u8>>) -> Answer {
    let mut headers = BTreeMap::new();
    let own = response.headers.iter().map(|(name, value)| (*name, &**value));
    for (name, value) in response.media.headers().iter().copied().chain(own) {
        assert_eq!(name, name.to_lowercase());
        assert_eq!(headers.insert(name.to_owned(), value.to_owned()), None, "`{name}` twice");
    }
    let bytes = match response.body {
        Body::Empty => vec![],
        Body::Bytes(bytes) | Body::Stored(bytes) => bytes,
        Body::Spliced(bytes, splice) => splice.apply(bytes),
    };
    let text = match response.media {
        Media::Picture => String::from_utf8_lossy(&bytes).into_owned(),
        _ => String::from_utf8(bytes).unwrap(),
    };
    Answer { status: response.status, headers, text, log: response.log }
}

pub struct TestRequest {
    pub method: String,
    /// The scheme and host of the address. A `host` header replaces the host.
    pub origin: String,
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: Result<Vec<u8>, BodyError>,
    /// For each network, the number of refused keys that it may still send before its rate limit is reached.
    pub limit: Option<Rc<RefCell<BTreeMap<String, usize>>>>,
}

/// The ID that every test request has.
pub const REQUEST_ID: &str = "8c2f9d3b1a2b4c5d-FRA";

impl TestRequest {
    pub fn new(method: &str, path: &str, key: &str) -> Self {
        let authorization = ("authorization".to_owned(), format!("Bearer {key}"));
        TestRequest {
            method: method.to_owned(),
            origin: ORIGIN.to_owned(),
            path: path.to_owned(),
            headers: BTreeMap::from([authorization]),
            body: Ok(vec![]),
            limit: None,
        }
    }

    pub fn at(self, origin: &str) -> Self {
        TestRequest { origin: origin.to_owned(), ..self }
    }

    pub fn with_body(self, body: Vec<u8>) -> Self {
        TestRequest { body: Ok(body), ..self.with_header("content-type", "application/json") }
    }

    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(name.to_owned(), value.to_owned());
        self
    }
}

impl Request for TestRequest {
    fn method(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.method)
    }

    fn url(&self) -> Cow<'_, str> {
        // As the platform writes it: the host is the one that the request names.
        let (scheme, host) = self.origin.split_once("://").unwrap();
        let host = self.headers.get("host").map_or(host, String::as_str);
        Cow::Owned(format!("{scheme}://{host}{}", self.path))
    }

    fn header(&self, name: &str) -> Option<String> {
        // The platform trims values.
        Some(self.headers.get(name)?.trim().to_owned())
    }

    fn id(&self) -> String {
        REQUEST_ID.to_owned()
    }

    async fn body(
        &self,
        limit: usize,
        reservation: &mut Reservation<'_>,
    ) -> Result<Vec<u8>, BodyError> {
        let body = self.body.clone()?;
        reservation.read(body.len(), body.len())?;
        if body.len() > limit { Err(BodyError::TooLarge) } else { Ok(body) }
    }

    async fn is_over_limit(&self, network: &str) -> bool {
        let Some(limit) = &self.limit else { return false };
        let mut left = limit.borrow_mut();
        let left = left.entry(network.to_owned()).or_insert(3);
        let is_over = *left == 0;
        *left = left.saturating_sub(1);
        is_over
    }

    /// Waits until all other futures have run.
    async fn pause(&self, _: u32) {
        let mut is_waiting = true;
        poll_fn(|context| {
            context.waker().wake_by_ref();
            if take(&mut is_waiting) { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
    }
}

// ---- The development data ----------------------------------------------------------------------

pub const UNIT: &str = "service_sk_test_dev_unit";
pub const LIVE_UNIT: &str = "service_sk_live_dev_unit";
pub const TEAM: &str = "service_sk_test_dev_team";

pub fn unit(unit: &str) -> KeyLevel {
    KeyLevel::Unit(unit.to_owned())
}

pub fn team() -> KeyLevel {
    KeyLevel::Team("team_dev".to_owned())
}

/// The secret of the namespace. The record of every API key contains a copy of it.
pub static SECRET: LazyLock<NamespaceSecret> = LazyLock::new(|| NamespaceSecret::new([7; 32]));

/// Returns the record of a key that can create transactions.
pub fn key_record(mode: Mode, level: KeyLevel) -> KeyRecord {
    KeyRecord { secret: Some(SECRET.clone()), ..KeyRecord::new(mode, level) }
}

pub fn seed(store: &impl Store) {
    let profile = json!({ "name": "Small Hours Coffee", "accent": "#8a4b2a" });
    let profile = profile.to_string().into_bytes();
    block_on(store.put(&ProfileKey("unit_dev"), profile, &NoMetadata)).unwrap();
    let keys = [
        (UNIT, Mode::Test, unit("unit_dev")),
        (LIVE_UNIT, Mode::Live, unit("unit_dev")),
        ("service_sk_test_dev_unit_two", Mode::Test, unit("unit_dev_two")),
        (TEAM, Mode::Test, team()),
        ("service_sk_live_dev_team", Mode::Live, team()),
    ];
    for (key, mode, level) in keys {
        put_key(store, key, &key_record(mode, level));
    }
    for unit in ["unit_dev", "unit_dev_two"] {
        put_member(store, "team_dev", unit);
    }
    let price_list =
        json!({ "currencyCode": "USD", "unitPrices": { "tree": "0.50", "plastic-kg": "1.25" } });
    for mode in [Mode::Test, Mode::Live] {
        put_prices(store, mode, price_list.to_string().as_bytes());
    }
}

pub fn put_prices(store: &impl Store, mode: Mode, price_list: &[u8]) {
    block_on(store.put(&PriceListKey::of_mode(mode), price_list.to_vec(), &NoMetadata)).unwrap();
}

pub fn put_member(store: &impl Store, team: &str, unit: &str) {
    block_on(store.put(&MemberKey { team, unit }, b"{}".to_vec(), &NoMetadata)).unwrap();
}

pub fn put_key(store: &impl Store, key: &str, record: &KeyRecord) {
    let hash = CredentialKey(ApiKey::new(key).hash());
    block_on(store.put(&hash, serde_json::to_vec(record).unwrap(), &NoMetadata)).unwrap();
}

/// Stores a record as a live transaction of the unit `unit`. Returns its ID and edit key.
pub fn put_transaction(
    store: &impl Store<Value = Vec<u8>>,
    record: &[u8],
) -> (TransactionId, EditKey) {
    let (id, edit_key) = (TransactionId::from_bytes([1; 26]), EditKey::from_bytes([2; 20]));
    let scope = Scope { unit: "unit".to_owned(), mode: Mode::Live };
    let metadata = TransactionMetadata::new(scope, &edit_key);
    block_on(store.put(&TransactionKey(&id), record.to_vec(), &metadata)).unwrap();
    (id, edit_key)
}

pub fn seeded() -> TestService<MemoryStore> {
    let store = MemoryStore::default();
    seed(&store);
    TestService::new(store, "")
}

pub fn minimal() -> Value {
    json!({
        "reference": "order-1",
        "recipient": { "email": "ada@example.org" },
        "pledges": [{ "impact": { "amount": 3, "offeringId": "tree" } }]
    })
}

/// Returns a create request of the test unit with an idempotency key.
pub fn repeatable(body: &Value) -> TestRequest {
    TestRequest::new("POST", PATH, UNIT)
        .with_body(body.to_string().into_bytes())
        .with_header("idempotency-key", "order-1")
}

/// Returns all changes in the audit log, newest first.
pub fn changes(store: &impl OperatorStore, ledger: &dyn Ledger) -> Vec<Change> {
    let all = AuditFilter::default();
    block_on(audit::page(store, ledger, &all, None, 10_000)).unwrap().changes
}
