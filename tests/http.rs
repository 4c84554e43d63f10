//! The service without its platform, over a store in memory: the rows that the Worker answers too,
//! and what only a test can do to it.

#![expect(clippy::indexing_slicing, reason = "a test that meets the unexpected should panic")]
#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected should panic")]
#![expect(clippy::panic, reason = "a fixture that cannot be read should say which")]

#[path = "support/fixtures.rs"]
mod fixtures;
#[path = "support/openapi.rs"]
mod openapi;
#[path = "support/rows.rs"]
mod rows;

use futures_executor::block_on;
use impact_pledge::auth::{ApiKey, KeyLevel, KeyRecord, Mode, Scope};
use impact_pledge::handle::{
    Body, BodyError, Caches, Clock, Cors, Entropy, Request, Response, Service,
};
use impact_pledge::idempotency::{IdempotencyKey, ReplayHash};
use impact_pledge::store::{
    CatalogueKey, CredentialKey, Key, MemoryStore, ReplayKey, Store, StoreError, Stored,
};
use openapi::OpenApi;
use rows::{File, Names, Row};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

// ---- A service of its own for each test --------------------------------------------------------

const ORIGIN: &str = "https://pledge.example";
const PATH: &str = "/v2/pledge-transaction";
/// 2026-01-31T12:00:00.123Z
const NOW_MS: u64 = 1_769_860_800_123;

struct FixedClock(Cell<u64>);

impl Clock for FixedClock {
    fn now_ms(&self) -> u64 {
        self.0.get()
    }
}

/// Bytes that look random and are the same in each run.
#[derive(Default)]
struct CountedEntropy(Cell<u64>);

impl Entropy for CountedEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        self.0.set(self.0.get() + 1);
        let drawn = Sha256::digest(self.0.get().to_be_bytes());
        bytes.iter_mut().zip(drawn).for_each(|(byte, drawn)| *byte = drawn);
    }
}

struct Bench<S> {
    store: S,
    clock: FixedClock,
    entropy: CountedEntropy,
    caches: Caches,
    cors: Cors,
}

/// What the service answered, whole.
struct Answer {
    status: u16,
    headers: BTreeMap<String, String>,
    text: String,
    log: Option<String>,
}

impl Answer {
    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: `{}`", self.text))
    }
}

impl<S: Store<Value = Vec<u8>>> Bench<S> {
    fn new(store: S, allowed_origins: &str) -> Self {
        let (clock, entropy) = (FixedClock(Cell::new(NOW_MS)), CountedEntropy::default());
        Bench {
            store,
            clock,
            entropy,
            caches: Caches::default(),
            cors: Cors::parse(allowed_origins),
        }
    }

    fn send(&self, request: &TestRequest) -> Answer {
        let Bench { store, clock, entropy, caches, cors } = self;
        let service = Service { store, clock, entropy, caches, cors };
        answer(block_on(service.handle(request)))
    }

    fn create(&self, key: &str, body: &Value) -> Answer {
        self.send(&TestRequest::new("POST", PATH, key).with_body(body.to_string().into_bytes()))
    }

    fn get(&self, key: &str, id: &str) -> Answer {
        self.send(&TestRequest::new("GET", &format!("{PATH}/{id}"), key))
    }
}

fn answer(response: Response<Vec<u8>>) -> Answer {
    let mut headers = BTreeMap::new();
    let own = response.headers.iter().map(|(name, value)| (*name, &**value));
    for (name, value) in response.media.headers().iter().copied().chain(own) {
        assert_eq!(name, name.to_lowercase());
        assert_eq!(headers.insert(name.to_owned(), value.to_owned()), None, "`{name}` twice");
    }
    let bytes = match response.body {
        Body::Empty => vec![],
        Body::Bytes(bytes) | Body::Stored(bytes) => bytes,
    };
    let text = String::from_utf8(bytes).unwrap();
    Answer { status: response.status, headers, text, log: response.log }
}

struct TestRequest {
    method: String,
    path: String,
    headers: BTreeMap<String, String>,
    body: Result<Vec<u8>, BodyError>,
}

impl TestRequest {
    fn new(method: &str, path: &str, key: &str) -> Self {
        let authorization = ("authorization".to_owned(), format!("Bearer {key}"));
        TestRequest {
            method: method.to_owned(),
            path: path.to_owned(),
            headers: BTreeMap::from([authorization]),
            body: Ok(vec![]),
        }
    }

    fn with_body(self, body: Vec<u8>) -> Self {
        TestRequest { body: Ok(body), ..self.with_header("content-type", "application/json") }
    }

    fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(name.to_owned(), value.to_owned());
        self
    }

    fn of_row(row: &Row, names: &Names) -> Self {
        let mut headers = row.request.headers(names);
        let body = row.request.body(names).unwrap_or_default();
        if !row.request.chunked {
            headers.insert("content-length".to_owned(), body.len().to_string());
        }
        TestRequest {
            method: row.request.method.clone(),
            path: rows::fill_text(&row.request.path, names),
            headers,
            body: Ok(body),
        }
    }
}

impl Request for TestRequest {
    fn method(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.method)
    }

    fn url(&self) -> Cow<'_, str> {
        Cow::Owned(format!("{ORIGIN}{}", self.path))
    }

    fn header(&self, name: &str) -> Option<String> {
        // The platform trims values.
        Some(self.headers.get(name)?.trim().to_owned())
    }

    async fn body(&self, limit: usize) -> Result<Vec<u8>, BodyError> {
        let body = self.body.clone()?;
        if body.len() > limit { Err(BodyError::TooLarge) } else { Ok(body) }
    }
}

// ---- The development data ----------------------------------------------------------------------

const UNIT: &str = "service_sk_test_dev_unit";
const LIVE_UNIT: &str = "service_sk_live_dev_unit";
const TEAM: &str = "service_sk_test_dev_team";

fn unit(unit_id: &str) -> KeyLevel {
    KeyLevel::Unit { unit_id: unit_id.to_owned() }
}

fn team() -> KeyLevel {
    let unit_ids = vec!["unit_dev".to_owned(), "unit_dev_two".to_owned()];
    KeyLevel::Team { team_id: "team_dev".to_owned(), unit_ids }
}

fn seed(store: &impl Store) {
    let keys = [
        (UNIT, Mode::Test, unit("unit_dev")),
        (LIVE_UNIT, Mode::Live, unit("unit_dev")),
        ("service_sk_test_dev_unit_two", Mode::Test, unit("unit_dev_two")),
        (TEAM, Mode::Test, team()),
        ("service_sk_live_dev_team", Mode::Live, team()),
    ];
    for (key, mode, level) in keys {
        put_key(store, key, &KeyRecord { mode, level, label: String::new() });
    }
    let catalogue =
        json!({ "currencyCode": "USD", "unitPrices": { "tree": "0.50", "plastic-kg": "1.25" } });
    block_on(store.put(&CatalogueKey, catalogue.to_string().into_bytes(), &())).unwrap();
}

fn put_key(store: &impl Store, key: &str, record: &KeyRecord) {
    let hash = CredentialKey(ApiKey::new(key).hash());
    block_on(store.put(&hash, serde_json::to_vec(record).unwrap(), &())).unwrap();
}

fn seeded() -> Bench<MemoryStore> {
    let store = MemoryStore::default();
    seed(&store);
    Bench::new(store, "")
}

fn minimal() -> Value {
    json!({
        "reference": "order-1",
        "recipient": { "email": "ada@example.org" },
        "pledges": [{ "impact": { "amount": 3, "offeringId": "tree" } }]
    })
}

// ---- Rows --------------------------------------------------------------------------------------

#[test]
fn every_row_is_answered_as_it_says() {
    let mut wrong = Vec::new();
    for (name, file) in fixtures::files::<File>("http") {
        let store = MemoryStore::default();
        seed(&store);
        let bench = Bench::new(store, &file.allowed_origins);
        let mut names = Names::from([
            ("origin".to_owned(), ORIGIN.into()),
            ("run".to_owned(), "9b2f0c1e-53f7-4d6e-8a55-0d5b6b1e7c10".into()),
        ]);
        for row in &file.rows {
            let differences = judge(&bench, row, &mut names);
            wrong.extend(differences.iter().map(|text| format!("{name}: {}: {text}", row.name)));
        }
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

fn judge(bench: &Bench<MemoryStore>, row: &Row, names: &mut Names) -> Vec<String> {
    let answer = bench.send(&TestRequest::of_row(row, names));
    if answer.status != row.response.status {
        return vec![format!("status {}, `{:.300}`", answer.status, answer.text)];
    }
    rows::capture(row, &answer.text, names);
    let mut wrong = always(&answer, row.request.method == "HEAD");
    for (name, expected) in &row.response.headers {
        let seen = answer.headers.get(name).map_or(Value::Null, |value| value.as_str().into());
        wrong.extend(rows::differences(&rows::fill(expected, names), &seen, name));
    }
    if let Some(expected) = &row.response.json {
        wrong.extend(rows::differences(&rows::fill(expected, names), &answer.json(), "body"));
    }
    if let Some(expected) = &row.response.text {
        let seen = answer.text.as_str().into();
        wrong.extend(rows::differences(&rows::fill(expected, names), &seen, "body"));
    }
    wrong
}

/// What holds for every answer.
fn always(answer: &Answer, is_head: bool) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut must = |name: &str, value: &str| {
        if answer.headers.get(name).map(|seen| &**seen) != Some(value) {
            wrong.push(format!("`{name}` must be `{value}`"));
        }
    };
    must("cache-control", "no-store");
    if answer.status != 204 {
        must("x-content-type-options", "nosniff");
    }
    if answer.text.starts_with('{') {
        must("content-type", "application/json");
    }
    if is_head && !answer.text.is_empty() {
        wrong.push("HEAD has a body".to_owned());
    }
    wrong
}

/// Each answer of an operation of openapi.yaml is one that it has, and as it says.
#[test]
fn every_row_is_answered_as_openapi_says() {
    let document = OpenApi::read();
    let mut answered = BTreeSet::new();
    for (name, file) in fixtures::files::<File>("http") {
        let store = MemoryStore::default();
        seed(&store);
        let bench = Bench::new(store, &file.allowed_origins);
        let mut names = Names::from([("run".to_owned(), "r".repeat(36).into())]);
        for row in &file.rows {
            let answer = bench.send(&TestRequest::of_row(row, &names));
            rows::capture(row, &answer.text, &mut names);
            let Some((method, path)) = operation(row) else { continue };
            let Some(schema) = document.answer(method, path, answer.status) else {
                panic!("{name}: {}: {method} {path} has no {}", row.name, answer.status);
            };
            assert!(
                document.accepts(schema, &answer.json()),
                "{name}: {}: {}",
                row.name,
                answer.text
            );
            answered.insert((method, answer.status));
        }
    }
    let statuses = [200, 400, 401, 413, 415, 422].map(|status| ("post", status));
    let mut expected = BTreeSet::from(statuses);
    expected.extend([200, 401, 404].map(|status| ("get", status)));
    assert_eq!(answered, expected);
}

/// The operation of openapi.yaml that a row is for.
fn operation(row: &Row) -> Option<(&'static str, &'static str)> {
    let path = row.request.path.split('?').next()?;
    match (&*row.request.method, path.strip_prefix(PATH)?.strip_prefix('/')) {
        ("POST", None) if path == PATH => Some(("post", PATH)),
        ("GET", Some(id)) if !id.is_empty() && !id.contains('/') => {
            Some(("get", "/v2/pledge-transaction/{id}"))
        }
        _ => None,
    }
}

#[test]
fn rows_are_many_and_each_is_one_of_a_kind() {
    let files = fixtures::files::<File>("http");
    assert!(files.iter().all(|(_, file)| !file.about.is_empty() && !file.rows.is_empty()));
    for (name, file) in &files {
        let names: BTreeSet<_> = file.rows.iter().map(|row| &row.name).collect();
        assert_eq!(names.len(), file.rows.len(), "`{name}` has a row twice");
    }
    let statuses: BTreeSet<_> =
        files.iter().flat_map(|(_, file)| &file.rows).map(|row| row.response.status).collect();
    assert_eq!(statuses, BTreeSet::from([200, 204, 400, 401, 404, 405, 413, 415, 422]));
}

// ---- Time and chance ---------------------------------------------------------------------------

#[test]
fn a_record_says_when_it_was_made() {
    let bench = seeded();
    assert_eq!(bench.create(UNIT, &minimal()).json()["createdAt"], "2026-01-31T12:00:00.123Z");
    bench.clock.0.set(1_769_860_800_000);
    assert_eq!(bench.create(UNIT, &minimal()).json()["createdAt"], "2026-01-31T12:00:00.000Z");
}

#[test]
fn every_id_and_edit_key_is_drawn_anew() {
    let bench = seeded();
    let mut body = minimal();
    body["pledges"] = vec![minimal()["pledges"][0].clone(); 20].into();
    let mut drawn = BTreeSet::new();
    for _ in 0..50 {
        let answer = bench.create(UNIT, &body).json();
        drawn.insert(answer["id"].to_string());
        drawn.insert(answer["timelineUrl"].as_str().unwrap().split_once('=').unwrap().1.to_owned());
        drawn.extend((0..20).map(|index| answer["pledges"][index]["id"].to_string()));
    }
    assert_eq!(drawn.len(), 50 * 22);
}

// ---- What is stored ----------------------------------------------------------------------------

#[test]
fn a_create_writes_one_record_and_a_repeatable_one_two() {
    let bench = seeded();
    let before = bench.store.names().len();
    let id = bench.create(UNIT, &minimal()).json()["id"].as_str().unwrap().to_owned();
    assert_eq!(bench.store.names().len(), before + 1);
    assert!(bench.store.names().contains(&format!("transaction:{id}")));
    let request = TestRequest::new("POST", PATH, UNIT)
        .with_body(minimal().to_string().into_bytes())
        .with_header("idempotency-key", "a");
    bench.send(&request);
    bench.send(&request);
    assert_eq!(bench.store.names().len(), before + 3);
}

#[test]
fn what_is_refused_writes_nothing() {
    let bench = seeded();
    let before = bench.store.names();
    bench.create(UNIT, &json!({}));
    bench.create("service_sk_test_never", &minimal());
    bench.create(TEAM, &minimal());
    bench.get(UNIT, "ptran_aaaaaaaaaaaaaaaaaaaaaaaa");
    bench.send(&TestRequest::new("POST", PATH, UNIT).with_header("idempotency-key", ""));
    assert_eq!(bench.store.names(), before);
}

#[test]
fn get_answers_the_stored_bytes() {
    let bench = seeded();
    let created = bench.create(UNIT, &minimal()).json();
    let one = bench.get(UNIT, created["id"].as_str().unwrap());
    let two = bench.get(UNIT, created["id"].as_str().unwrap());
    assert_eq!(one.text, two.text);
    assert_eq!(one.json()["createdAt"], created["createdAt"]);
    assert_eq!(one.json()["timelineUrl"], created["timelineUrl"]);
    assert_eq!(one.json()["pledges"][0]["id"], created["pledges"][0]["id"]);
}

// ---- Keys over time ----------------------------------------------------------------------------

#[test]
fn a_changed_key_counts_at_the_latest_after_ten_seconds() {
    let bench = seeded();
    assert_eq!(bench.create(UNIT, &minimal()).status, 200);
    let label = String::new();
    put_key(&bench.store, UNIT, &KeyRecord { mode: Mode::Live, level: unit("unit_dev"), label });
    assert_eq!(bench.create(UNIT, &minimal()).json()["isLive"], false, "from the cache");
    bench.clock.0.set(NOW_MS + 10_000);
    assert_eq!(bench.create(UNIT, &minimal()).json()["isLive"], true);
}

#[test]
fn a_key_that_was_not_there_is_found_once_it_is() {
    let bench = seeded();
    assert_eq!(bench.create("service_sk_test_new", &minimal()).status, 401);
    let record = KeyRecord { mode: Mode::Test, level: unit("u"), label: String::new() };
    put_key(&bench.store, "service_sk_test_new", &record);
    assert_eq!(bench.create("service_sk_test_new", &minimal()).status, 200);
}

#[test]
fn a_changed_catalogue_counts_at_the_latest_after_ten_seconds() {
    let bench = seeded();
    assert_eq!(bench.create(UNIT, &minimal()).json()["charge"]["amount"], "1.50");
    let catalogue = br#"{"currencyCode":"EUR","unitPrices":{"tree":"1"}}"#;
    block_on(bench.store.put(&CatalogueKey, catalogue.to_vec(), &())).unwrap();
    bench.clock.0.set(NOW_MS + 10_000);
    let charge = &bench.create(UNIT, &minimal()).json()["charge"];
    assert_eq!(charge, &json!({ "amount": "3.00", "currencyCode": "EUR", "paidAt": null }));
}

#[test]
fn without_a_catalogue_everything_costs_nothing() {
    let bench = Bench::new(MemoryStore::default(), "");
    let record = KeyRecord { mode: Mode::Test, level: unit("u"), label: String::new() };
    put_key(&bench.store, UNIT, &record);
    let charge = &bench.create(UNIT, &minimal()).json()["charge"];
    assert_eq!(charge, &json!({ "amount": "0.00", "currencyCode": "USD", "paidAt": null }));
}

#[test]
fn many_keys_do_not_fill_memory_or_forget_who_is_who() {
    let bench = seeded();
    for number in 0..3_000 {
        let (key, unit_id) = (format!("service_sk_test_{number}"), format!("unit_{number}"));
        let record = KeyRecord { mode: Mode::Test, level: unit(&unit_id), label: String::new() };
        put_key(&bench.store, &key, &record);
        let id = bench.create(&key, &minimal()).json()["id"].as_str().unwrap().to_owned();
        assert_eq!(bench.get(&key, &id).status, 200);
        assert_eq!(bench.get(UNIT, &id).status, 404);
    }
}

// ---- When the store fails ----------------------------------------------------------------------

#[track_caller]
fn unavailable(answer: &Answer, is_live: Option<bool>) {
    assert_eq!(answer.status, 503);
    assert_eq!(answer.headers["retry-after"], "1");
    assert_eq!(answer.json()["error"], "Service unavailable");
    assert_eq!(answer.json().get("isLive").and_then(Value::as_bool), is_live);
}

#[test]
fn a_store_that_fails_is_never_a_success() {
    let bench = seeded();
    bench.store.set_broken(true);
    unavailable(&bench.create(UNIT, &minimal()), None);
    unavailable(&bench.get(UNIT, "ptran_aaaaaaaaaaaaaaaaaaaaaaaa"), None);
}

#[test]
fn a_store_that_fails_later_says_the_mode_of_the_key() {
    let bench = seeded();
    let id = bench.create(LIVE_UNIT, &minimal()).json()["id"].as_str().unwrap().to_owned();
    let url =
        bench.create(LIVE_UNIT, &minimal()).json()["timelineUrl"].as_str().unwrap().to_owned();
    bench.store.set_broken(true);
    unavailable(&bench.create(LIVE_UNIT, &minimal()), Some(true));
    unavailable(&bench.get(LIVE_UNIT, &id), Some(true));
    let page = bench.send(&TestRequest::new("GET", url.strip_prefix(ORIGIN).unwrap(), ""));
    assert_eq!(page.status, 503);
    assert!(page.text.contains("<html"), "`{}`", page.text);
    bench.store.set_broken(false);
    assert_eq!(bench.get(LIVE_UNIT, &id).status, 200);
}

#[test]
fn a_request_that_breaks_off_is_told_so() {
    let bench = seeded();
    let request =
        TestRequest::new("POST", PATH, UNIT).with_header("content-type", "application/json");
    let answer = bench.send(&TestRequest { body: Err(BodyError::Broken), ..request });
    assert_eq!(answer.status, 400);
    assert_eq!(answer.json()["error"], "Invalid request");
}

#[test]
fn an_announced_length_is_enough_to_refuse_a_body() {
    let bench = seeded();
    for (length, status) in [("2097153", 413), ("999999999999", 413), ("2097152", 200)] {
        let request = TestRequest::new("POST", PATH, UNIT)
            .with_body(minimal().to_string().into_bytes())
            .with_header("content-length", length);
        assert_eq!(bench.send(&request).status, status, "`{length}`");
    }
}

/// Each pledge of a record repeats the recipient: few bytes could ask for gigabytes.
#[test]
fn a_record_that_would_be_too_large_is_refused() {
    let bench = seeded();
    let pledge = &minimal()["pledges"][0];
    let mut request = minimal();
    for name in ["n".repeat(20_000), "\n".repeat(10_000)] {
        request["recipient"]["name"] = name.into();
        request["pledges"] = vec![pledge.clone(); 700].into();
        let created = bench.create(LIVE_UNIT, &request);
        assert_eq!(created.status, 200);
        assert_eq!(bench.get(LIVE_UNIT, created.json()["id"].as_str().unwrap()).status, 200);
        let before = bench.store.names();
        request["pledges"] = vec![pledge.clone(); 1_000].into();
        let refused = bench.create(LIVE_UNIT, &request);
        assert_eq!((refused.status, &refused.json()["isLive"]), (413, &json!(true)));
        assert_eq!(refused.json()["error"], "Content too large");
        assert_eq!(bench.store.names(), before);
    }
}

#[test]
fn a_record_that_does_not_read_is_our_mistake() {
    let bench = seeded();
    let hash = CredentialKey(ApiKey::new("service_sk_test_odd").hash());
    block_on(bench.store.put(&hash, b"the secret record".to_vec(), &())).unwrap();
    let answer = bench.create("service_sk_test_odd", &minimal());
    assert_eq!((answer.status, &answer.json()["error"]), (500, &json!("Internal error")));
    assert!(!answer.text.contains("secret"));
    block_on(bench.store.put(&CatalogueKey, b"{}".to_vec(), &())).unwrap();
    let answer = bench.create(UNIT, &minimal());
    assert_eq!((answer.status, &answer.json()["isLive"]), (500, &json!(false)));
}

/// A record of any kind, as another program or a broken disk might leave it.
struct RawKey(String);

impl Key for RawKey {
    type Metadata = Value;
    fn name(&self) -> String {
        self.0.clone()
    }
}

/// serde_json quotes what it does not expect: a stored value is none of the log's business.
#[test]
fn the_log_says_which_record_is_damaged_and_quotes_nothing_of_it() {
    let timeline = "/timeline/ptran_aaaaaaaaaaaaaaaaaaaaaaaa?edit_key=k";
    let hash = |key| CredentialKey(ApiKey::new(key).hash()).name();
    let scope = Scope { unit: "unit_dev".to_owned(), mode: Mode::Test };
    let repeat = ReplayKey(ReplayHash::new(&scope, &IdempotencyKey::parse("order-1").unwrap()));
    let transaction = || "transaction:ptran_aaaaaaaaaaaaaaaaaaaaaaaa".to_owned();
    let edit_key = base16ct::lower::encode_string(&Sha256::digest("k"));
    let access = json!({ "mode": "test", "unit": "unit_dev", "editKey": edit_key });
    let create = || repeatable(&minimal());
    for (kind, name, metadata, damaged, request) in [
        ("key", hash(UNIT), Value::Null, KEYS, create()),
        ("catalogue", CatalogueKey.name(), Value::Null, CATALOGUES, create()),
        ("repeat", repeat.name(), Value::Null, REPLAYS, create()),
        ("transaction", transaction(), access, TRANSACTIONS, TestRequest::new("GET", timeline, "")),
    ] {
        for value in BROKEN.iter().chain(damaged) {
            let bench = seeded();
            let key = RawKey(name.clone());
            block_on(bench.store.put(&key, value.as_bytes().to_vec(), &metadata)).unwrap();
            logs_without_quoting(&bench.send(&request), kind, value);
        }
    }
    for metadata in BROKEN_METADATA {
        let bench = seeded();
        let metadata: Value = serde_json::from_str(metadata).unwrap();
        block_on(bench.store.put(&RawKey(transaction()), vec![], &metadata)).unwrap();
        for request in [
            TestRequest::new("GET", timeline, ""),
            TestRequest::new("GET", &format!("{PATH}/ptran_aaaaaaaaaaaaaaaaaaaaaaaa"), UNIT),
        ] {
            logs_without_quoting(&bench.send(&request), "metadata", &metadata.to_string());
        }
    }
}

#[track_caller]
fn logs_without_quoting(answer: &Answer, kind: &str, stored: &str) {
    let log = answer.log.as_deref().unwrap_or_default();
    assert_eq!(answer.status, 500, "`{stored}`: {log}");
    assert!(log.starts_with(&format!("the stored {kind} is damaged: ")), "`{stored}`: {log}");
    assert!(log.contains(" at line 1 column "), "`{stored}`: {log}");
    assert!(!log.contains("canary") && !answer.text.contains("canary"), "`{stored}`: {log}");
}

const BROKEN: &[&str] =
    &["", "canary", "\"canary\"", "{\"canary\"", "{\"canary\":", "[\"canary\"]", "{}"];
const KEYS: &[&str] = &[
    r#"{"mode":"canary","level":"unit","unitId":"u"}"#,
    r#"{"mode":"test","level":"canary","unitId":"u"}"#,
    r#"{"mode":"test","level":"unit","unitId":"a canary"}"#,
    r#"{"mode":"test","level":"unit","unitId":"u","label":["canary"]}"#,
    r#"{"mode":"test","level":"team","teamId":"t","unitIds":"canary"}"#,
    r#"{"mode":"test","mode":"canary","level":"unit","unitId":"u"}"#,
];
const CATALOGUES: &[&str] = &[
    r#"{"currencyCode":"canary","unitPrices":{}}"#,
    r#"{"currencyCode":"USD","unitPrices":"canary"}"#,
    r#"{"currencyCode":"USD","unitPrices":{"canary":"canary"}}"#,
    r#"{"currencyCode":"USD","unitPrices":{"canary":"1","canary":"2"}}"#,
];
const REPLAYS: &[&str] =
    &[r#"{"id":["canary"],"fingerprint":"canary"}"#, r#"{"id":"canary","id":"canary"}"#];
const TRANSACTIONS: &[&str] = &[
    r#"{"createdAt":["canary"]}"#,
    r#"{"isLive":"canary"}"#,
    r#"{"charge":{"amount":["canary"]}}"#,
    r#"{"charge":{"amount":"canary","currencyCode":"canary"}}"#,
    r#"{"pledges":[{"impact":{"amount":"canary"}}]}"#,
    r#"{"notifications":{"canary":"canary"}}"#,
];
const BROKEN_METADATA: &[&str] = &[
    "null",
    "\"canary\"",
    "{}",
    r#"["test","canary","00"]"#,
    r#"{"mode":"canary","unit":"u","editKey":"00"}"#,
    r#"{"mode":"test","unit":["canary"],"editKey":"canary"}"#,
];

// ---- Repeats that race each other --------------------------------------------------------------

/// A store that never shows a replay: as if every repeat came before the first had ended.
struct Racing(MemoryStore);

impl Store for Racing {
    type Value = Vec<u8>;

    async fn get<K: Key>(
        &self,
        key: &K,
    ) -> Result<Option<Stored<Vec<u8>, K::Metadata>>, StoreError> {
        if key.name().starts_with("idempotency:") {
            return Ok(None);
        }
        self.0.get(key).await
    }

    async fn put<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
    ) -> Result<(), StoreError> {
        self.0.put(key, value, metadata).await
    }
}

fn repeatable(body: &Value) -> TestRequest {
    TestRequest::new("POST", PATH, UNIT)
        .with_body(body.to_string().into_bytes())
        .with_header("idempotency-key", "order-1")
}

#[test]
fn racing_repeats_make_one_record() {
    let bench = Bench::new(Racing(MemoryStore::default()), "");
    seed(&bench.store);
    let before = bench.store.0.names().len();
    let first = bench.send(&repeatable(&minimal()));
    let second = bench.send(&repeatable(&minimal()));
    assert_eq!(first.json(), second.json());
    assert_eq!(bench.store.0.names().len(), before + 2);
}

#[test]
fn racing_creates_of_two_payloads_make_two_records() {
    let bench = Bench::new(Racing(MemoryStore::default()), "");
    seed(&bench.store);
    let mut other = minimal();
    other["reference"] = "order-2".into();
    let first = bench.send(&repeatable(&minimal())).json();
    let second = bench.send(&repeatable(&other)).json();
    assert_ne!(first["id"], second["id"]);
    for (created, reference) in [(&first, "order-1"), (&second, "order-2")] {
        let got = bench.get(UNIT, created["id"].as_str().unwrap()).json();
        assert_eq!(got["reference"], reference);
    }
}
