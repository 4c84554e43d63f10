//! The service without its platform, over a store in memory: the rows that the Worker answers too,
//! and what only a test can do to it.

use crate::json_schema::OpenApi;
use crate::rows::{File, Names, Row};
use crate::{fixtures, rows};
use impact_pledge::api::MIN_PLEDGE_BYTES;
use impact_pledge::auth::{ApiKey, KeyRecord};
use impact_pledge::handle::{Settings, Variables};
use impact_pledge::http::{BodyError, Busy, MAX_BYTES_IN_FLIGHT};
use impact_pledge::scope::Mode;
use impact_pledge::store::{CredentialKey, Key as _};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ops::Range;
use support::memory::MemoryStore;
use support::service::{
    Answer, LIVE_UNIT, NOW_MS, ORIGIN, PATH, TEAM, TestRequest, TestService, UNIT, key_record,
    minimal, put_key, put_prices, repeatable, seed, seeded, unit,
};

// ---- Rows --------------------------------------------------------------------------------------

#[test]
fn every_row_is_answered_as_it_says() {
    let mut wrong = Vec::new();
    for (name, file) in ["http", "records"].into_iter().flat_map(fixtures::files::<File>) {
        let service = TestService::new(stored(&file), &file.allowed_origins);
        let mut names = Names::from([
            ("origin".to_owned(), ORIGIN.into()),
            ("run".to_owned(), "9b2f0c1e-53f7-4d6e-8a55-0d5b6b1e7c10".into()),
        ]);
        for row in &file.rows {
            let differences = differences(&service, row, &mut names);
            wrong.extend(differences.iter().map(|text| format!("{name}: {}: {text}", row.name)));
        }
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

/// The records of a file, or else the development data.
fn stored(file: &File) -> MemoryStore {
    let store = MemoryStore::default();
    for (name, record) in &file.records {
        store.keep(name, record.value.as_bytes(), record.metadata.to_string().as_bytes());
    }
    if file.records.is_empty() {
        seed(&store);
    }
    store
}

fn request_of(row: &Row, names: &Names) -> TestRequest {
    let mut headers = row.request.headers(names);
    let body = row.request.body(names).unwrap_or_default();
    if !row.request.chunked {
        headers.insert("content-length".to_owned(), body.len().to_string());
    }
    let path = rows::fill_text(&row.request.path, names);
    TestRequest { headers, body: Ok(body), ..TestRequest::new(&row.request.method, &path, "") }
}

fn differences(service: &TestService<MemoryStore>, row: &Row, names: &mut Names) -> Vec<String> {
    let answer = service.send(&request_of(row, names));
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

/// Checks the rules that every answer keeps.
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
    for (name, file) in ["http", "records"].into_iter().flat_map(fixtures::files::<File>) {
        let service = TestService::new(stored(&file), &file.allowed_origins);
        let mut names = Names::from([("run".to_owned(), "r".repeat(36).into())]);
        for row in &file.rows {
            let answer = service.send(&request_of(row, &names));
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
    let service = seeded();
    assert_eq!(service.create(UNIT, &minimal()).json()["createdAt"], "2026-01-31T12:00:00.123Z");
    service.clock.0.set(1_769_860_800_000);
    assert_eq!(service.create(UNIT, &minimal()).json()["createdAt"], "2026-01-31T12:00:00.000Z");
}

#[test]
fn every_id_and_edit_key_is_drawn_anew() {
    let service = seeded();
    let mut body = minimal();
    body["pledges"] = vec![minimal()["pledges"][0].clone(); 20].into();
    let mut drawn = BTreeSet::new();
    for _ in 0..50 {
        let answer = service.create(UNIT, &body).json();
        drawn.insert(answer["id"].to_string());
        drawn.insert(answer["timelineUrl"].as_str().unwrap().split_once('=').unwrap().1.to_owned());
        drawn.extend((0..20).map(|index| answer["pledges"][index]["id"].to_string()));
    }
    assert_eq!(drawn.len(), 50 * 22);
}

// ---- What is stored ----------------------------------------------------------------------------

#[test]
fn a_create_writes_one_record_and_a_repeatable_one_two() {
    let service = seeded();
    let before = service.store.names().len();
    let id = service.create(UNIT, &minimal()).json()["id"].as_str().unwrap().to_owned();
    assert_eq!(service.store.names().len(), before + 1);
    assert!(service.store.names().contains(&format!("transaction:{id}")));
    let request = TestRequest::new("POST", PATH, UNIT)
        .with_body(minimal().to_string().into_bytes())
        .with_header("idempotency-key", "a");
    service.send(&request);
    service.send(&request);
    assert_eq!(service.store.names().len(), before + 3);
}

#[test]
fn what_is_refused_writes_nothing() {
    let service = seeded();
    let before = service.store.names();
    service.create(UNIT, &json!({}));
    service.create("service_sk_test_never", &minimal());
    service.create(TEAM, &minimal());
    service.get(UNIT, "ptran_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    service.send(&TestRequest::new("POST", PATH, UNIT).with_header("idempotency-key", ""));
    assert_eq!(service.store.names(), before);
}

#[test]
fn get_answers_the_stored_bytes() {
    let service = seeded();
    let created = service.create(UNIT, &minimal()).json();
    let one = service.get(UNIT, created["id"].as_str().unwrap());
    let two = service.get(UNIT, created["id"].as_str().unwrap());
    assert_eq!(one.text, two.text);
    assert_eq!(one.json()["createdAt"], created["createdAt"]);
    assert_eq!(one.json()["timelineUrl"], created["timelineUrl"]);
    assert_eq!(one.json()["pledges"][0]["id"], created["pledges"][0]["id"]);
}

// ---- Keys over time ----------------------------------------------------------------------------

#[test]
fn a_changed_key_counts_at_the_latest_after_ten_seconds() {
    let service = seeded();
    assert_eq!(service.create(UNIT, &minimal()).status, 200);
    put_key(&*service.store, UNIT, &key_record(Mode::Live, unit("unit_dev")));
    assert_eq!(service.create(UNIT, &minimal()).json()["isLive"], false, "from the cache");
    service.clock.0.set(NOW_MS + 10_000);
    assert_eq!(service.create(UNIT, &minimal()).json()["isLive"], true);
}

#[test]
fn a_key_that_was_not_there_is_found_once_it_is() {
    let service = seeded();
    assert_eq!(service.create("service_sk_test_new", &minimal()).status, 401);
    let record = key_record(Mode::Test, unit("u"));
    put_key(&*service.store, "service_sk_test_new", &record);
    assert_eq!(service.create("service_sk_test_new", &minimal()).status, 200);
}

#[test]
fn a_changed_catalogue_counts_at_the_latest_after_ten_seconds() {
    let service = seeded();
    assert_eq!(service.create(UNIT, &minimal()).json()["charge"]["amount"], "1.50");
    let catalogue = br#"{"currencyCode":"EUR","unitPrices":{"tree":"1"}}"#;
    put_prices(&*service.store, Mode::Test, catalogue);
    service.clock.0.set(NOW_MS + 10_000);
    let charge = &service.create(UNIT, &minimal()).json()["charge"];
    assert_eq!(charge, &json!({ "amount": "3.00", "currencyCode": "EUR", "paidAt": null }));
}

/// Prices of test mode may be tried out; live mode charges what was set for it, and nothing else.
#[test]
fn each_mode_has_its_own_prices() {
    let service = TestService::new(MemoryStore::default(), "");
    for (key, mode) in [(UNIT, Mode::Test), (LIVE_UNIT, Mode::Live)] {
        put_key(&*service.store, key, &key_record(mode, unit("u")));
    }
    let charge = |key| service.isolate().create(key, &minimal()).json()["charge"]["amount"].clone();
    let prices = |price: &str| {
        json!({ "currencyCode": "USD", "unitPrices": { "tree": price } }).to_string().into_bytes()
    };
    put_prices(&*service.store, Mode::Test, &prices("2"));
    assert_eq!([UNIT, LIVE_UNIT].map(charge), ["6.00", "0.00"]);
    put_prices(&*service.store, Mode::Live, &prices("3"));
    assert_eq!([UNIT, LIVE_UNIT].map(charge), ["6.00", "9.00"]);
}

#[test]
fn without_a_catalogue_everything_costs_nothing() {
    let service = TestService::new(MemoryStore::default(), "");
    let record = key_record(Mode::Test, unit("u"));
    put_key(&*service.store, UNIT, &record);
    let charge = &service.create(UNIT, &minimal()).json()["charge"];
    assert_eq!(charge, &json!({ "amount": "0.00", "currencyCode": "USD", "paidAt": null }));
}

#[test]
fn many_keys_do_not_fill_memory_or_forget_who_is_who() {
    let service = seeded();
    for number in 0..3_000 {
        let (key, unit_id) = (format!("service_sk_test_{number}"), format!("unit_{number}"));
        let record = key_record(Mode::Test, unit(&unit_id));
        put_key(&*service.store, &key, &record);
        let id = service.create(&key, &minimal()).json()["id"].as_str().unwrap().to_owned();
        assert_eq!(service.get(&key, &id).status, 200);
        assert_eq!(service.get(UNIT, &id).status, 404);
    }
}

/// Most keys that an isolate remembers.
const MAX_KEYS: usize = 1_024;

fn numbered(number: usize) -> String {
    format!("service_sk_test_{number}")
}

fn remember(service: &TestService<MemoryStore>, numbers: Range<usize>) {
    for key in numbers.map(numbered) {
        put_key(&*service.store, &key, &key_record(Mode::Test, unit("u")));
        assert_eq!(service.get(&key, "none").status, 404);
    }
}

#[test]
fn a_full_memory_forgets_the_keys_that_are_old_and_no_other() {
    let service = seeded();
    remember(&service, 0..MAX_KEYS - 1);
    service.clock.0.set(NOW_MS + 1);
    remember(&service, MAX_KEYS - 1..MAX_KEYS);
    service.clock.0.set(NOW_MS + 10_000);
    remember(&service, MAX_KEYS..MAX_KEYS + 1);
    let reads = service.store.reads();
    assert_eq!(service.get(&numbered(MAX_KEYS - 1), "none").status, 404);
    assert_eq!(service.store.reads(), reads, "it was used a moment less than ten seconds ago");
    assert_eq!(service.get(&numbered(0), "none").status, 404);
    assert_eq!(service.store.reads(), reads + 1);
}

#[test]
fn every_key_in_memory_is_found_there() {
    let service = seeded();
    remember(&service, 0..MAX_KEYS);
    let reads = service.store.reads();
    for number in 0..MAX_KEYS {
        assert_eq!(service.get(&numbered(number), "none").status, 404);
    }
    assert_eq!(service.store.reads(), reads);
}

#[test]
fn a_memory_full_of_fresh_keys_begins_anew() {
    let service = seeded();
    remember(&service, 0..MAX_KEYS + 1);
    let reads = service.store.reads();
    for number in (0..MAX_KEYS).rev() {
        assert_eq!(service.get(&numbered(number), "none").status, 404);
    }
    assert!(service.store.reads() >= reads + MAX_KEYS, "{}", service.store.reads() - reads);
}

// ---- When the store fails ----------------------------------------------------------------------

#[track_caller]
fn unavailable(answer: &Answer, is_live: Option<bool>) {
    assert_eq!(answer.status, 503);
    assert_eq!(answer.headers["retry-after"], "1");
    assert_eq!(answer.json()["error"], "Service unavailable");
    assert_eq!(answer.json().get("isLive").and_then(Value::as_bool), is_live);
}

/// Says that a create without an `Idempotency-Key` may have been recorded, and invites no repeat.
#[track_caller]
fn may_be_recorded(answer: &Answer, is_live: bool) {
    assert_eq!((answer.status, &answer.json()["isLive"]), (503, &json!(is_live)));
    assert_eq!(answer.headers.get("retry-after"), None);
    let message = answer.json()["message"].to_string();
    assert!(message.contains("may have been recorded"), "{message}");
    assert!(message.contains("To be able to repeat safely, send an Idempotency-Key"), "{message}");
    assert!(!message.contains("Send the request again"), "{message}");
}

#[test]
fn a_store_that_fails_is_never_a_success() {
    let service = seeded();
    service.store.set_broken(true);
    unavailable(&service.create(UNIT, &minimal()), None);
    unavailable(&service.get(UNIT, "ptran_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), None);
}

/// Its IDs would not be those that the other keys of the unit derive.
#[test]
fn a_key_without_the_secret_reads_but_does_not_create() {
    let service = seeded();
    let id = service.create(UNIT, &minimal()).json()["id"].as_str().unwrap().to_owned();
    put_key(&*service.store, UNIT, &KeyRecord::new(Mode::Test, unit("unit_dev")));
    let before = service.store.names();
    let isolate = service.isolate();
    let plain = TestRequest::new("POST", PATH, UNIT).with_body(minimal().to_string().into_bytes());
    for request in [plain, repeatable(&minimal())] {
        let answer = isolate.send(&request);
        assert_eq!((answer.status, &answer.json()["isLive"]), (503, &json!(false)));
        assert_eq!(answer.headers.get("retry-after"), None, "only the operator can help");
        let message = answer.json()["message"].to_string();
        assert!(message.contains("nothing was recorded"), "{message}");
        let log = answer.log.unwrap();
        assert!(log.contains("npm run keys -- create"), "{log}");
    }
    assert_eq!(service.store.names(), before);
    assert_eq!(isolate.get(UNIT, &id).status, 200);
}

#[test]
fn a_store_that_fails_later_says_the_mode_of_the_key() {
    let service = seeded();
    let id = service.create(LIVE_UNIT, &minimal()).json()["id"].as_str().unwrap().to_owned();
    let url =
        service.create(LIVE_UNIT, &minimal()).json()["timelineUrl"].as_str().unwrap().to_owned();
    service.store.set_broken(true);
    may_be_recorded(&service.create(LIVE_UNIT, &minimal()), true);
    unavailable(&service.get(LIVE_UNIT, &id), Some(true));
    let page = service.send(&TestRequest::new("GET", url.strip_prefix(ORIGIN).unwrap(), ""));
    assert_eq!(page.status, 503);
    assert!(page.text.contains("<html"), "`{}`", page.text);
    service.store.set_broken(false);
    assert_eq!(service.get(LIVE_UNIT, &id).status, 200);
}

#[test]
fn a_request_that_breaks_off_is_told_so() {
    let service = seeded();
    let request =
        TestRequest::new("POST", PATH, UNIT).with_header("content-type", "application/json");
    let answer = service.send(&TestRequest { body: Err(BodyError::Broken), ..request });
    assert_eq!(answer.status, 400);
    assert_eq!(answer.json()["error"], "Invalid request");
}

#[test]
fn an_announced_length_is_enough_to_refuse_a_body() {
    let service = seeded();
    for (length, status) in [("1048577", 413), ("999999999999", 413), ("1048576", 200)] {
        let request = TestRequest::new("POST", PATH, UNIT)
            .with_body(minimal().to_string().into_bytes())
            .with_header("content-length", length);
        assert_eq!(service.send(&request).status, status, "`{length}`");
    }
}

/// Each pledge of a record repeats the recipient: few bytes could ask for gigabytes.
#[test]
fn a_record_that_would_be_too_large_is_refused() {
    let service = seeded();
    let pledge = &minimal()["pledges"][0];
    let mut request = minimal();
    for name in ["n".repeat(20_000), "\n".repeat(10_000)] {
        request["recipient"]["name"] = name.into();
        request["pledges"] = vec![pledge.clone(); 140].into();
        let created = service.create(LIVE_UNIT, &request);
        assert_eq!(created.status, 200);
        assert_eq!(service.get(LIVE_UNIT, created.json()["id"].as_str().unwrap()).status, 200);
        let before = service.store.names();
        request["pledges"] = vec![pledge.clone(); 200].into();
        let refused = service.create(LIVE_UNIT, &request);
        assert_eq!((refused.status, &refused.json()["isLive"]), (413, &json!(true)));
        assert_eq!(refused.json()["error"], "Content too large");
        assert_eq!(service.store.names(), before);
    }
}

// ---- Repeats that race each other --------------------------------------------------------------

/// A store that shows no replay: as if every repeat came before the first had ended.
fn racing() -> TestService<MemoryStore> {
    let service = seeded();
    service.store.set_hidden(Some("idempotency:"));
    service
}

fn other_payload() -> Value {
    let mut other = minimal();
    other["reference"] = "order-2".into();
    other
}

#[track_caller]
fn is_replay(answer: &Answer, first: &Answer) {
    assert_eq!((answer.status, &answer.text), (200, &first.text));
    assert_eq!(answer.headers.get("idempotent-replayed").map(String::as_str), Some("true"));
}

#[test]
fn racing_repeats_make_one_record() {
    let service = racing();
    let before = service.store.names().len();
    let first = service.send(&repeatable(&minimal()));
    let second = service.isolate().send(&repeatable(&minimal()));
    assert_eq!(first.json(), second.json());
    assert_eq!(service.store.names().len(), before + 2);
}

#[test]
fn racing_creates_of_two_payloads_make_two_records() {
    let service = racing();
    let first = service.send(&repeatable(&minimal())).json();
    let second = service.isolate().send(&repeatable(&other_payload())).json();
    assert_ne!(first["id"], second["id"]);
    for (created, reference) in [(&first, "order-1"), (&second, "order-2")] {
        let got = service.get(UNIT, created["id"].as_str().unwrap()).json();
        assert_eq!(got["reference"], reference);
    }
}

#[test]
fn an_isolate_knows_what_it_answered_while_the_store_does_not_show_it() {
    let service = racing();
    let first = service.send(&repeatable(&minimal()));
    let record = service.get(UNIT, first.json()["id"].as_str().unwrap()).text;
    service.clock.0.set(NOW_MS + 1_000);
    is_replay(&service.send(&repeatable(&minimal())), &first);
    assert_eq!(service.send(&repeatable(&other_payload())).status, 422);
    assert_eq!(service.get(UNIT, first.json()["id"].as_str().unwrap()).text, record);
}

#[test]
fn a_first_answer_does_not_change_with_time_prices_or_host() {
    let service = seeded();
    let first = service.send(&repeatable(&minimal()));
    let record = service.get(UNIT, first.json()["id"].as_str().unwrap()).text;
    let prices = br#"{"currencyCode":"EUR","unitPrices":{"tree":"7"}}"#;
    put_prices(&*service.store, Mode::Test, prices);
    const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
    for days in [0, 1, 2, 400] {
        let later = service.isolate();
        later.clock.0.set(NOW_MS + days * DAY_MS);
        let elsewhere = repeatable(&minimal()).with_header("host", "other.example");
        is_replay(&later.send(&elsewhere), &first);
        assert_eq!(later.get(UNIT, first.json()["id"].as_str().unwrap()).text, record);
    }
}

/// Two creates race each other in two isolates. Afterwards each gets the answer that it got before.
#[track_caller]
fn race(one: &TestRequest, other: &TestRequest) -> (TestService<MemoryStore>, Answer, Answer) {
    let service = racing();
    let (first, second) = (service.isolate().send(one), service.isolate().send(other));
    assert_eq!((first.status, second.status), (200, 200));
    assert_ne!(first.json()["id"], second.json()["id"]);
    service.store.set_hidden(None);
    is_replay(&service.isolate().send(one), &first);
    is_replay(&service.isolate().send(other), &second);
    (service, first, second)
}

#[test]
fn two_payloads_that_raced_are_each_answered_as_before() {
    let (service, ..) = race(&repeatable(&minimal()), &repeatable(&other_payload()));
    let mut third = minimal();
    third["reference"] = "order-3".into();
    assert_eq!(service.isolate().send(&repeatable(&third)).status, 422);
}

/// The same create by the test key of the team, for the same unit.
fn by_team(request: TestRequest) -> TestRequest {
    request
        .with_header("authorization", &format!("Bearer {TEAM}"))
        .with_header("x-service-unit-id", "unit_dev")
}

fn transactions(service: &TestService<MemoryStore>) -> Vec<String> {
    let names = service.store.names().into_iter();
    names.filter(|name| name.starts_with("transaction:")).collect()
}

#[test]
fn two_api_keys_of_a_unit_that_race_make_one_record() {
    let service = racing();
    let first = service.isolate().send(&repeatable(&minimal()));
    let second = service.isolate().send(&by_team(repeatable(&minimal())));
    assert_eq!((second.status, &second.text), (200, &first.text));
    assert_eq!(transactions(&service).len(), 1);
    service.store.set_hidden(None);
    is_replay(&service.isolate().send(&by_team(repeatable(&minimal()))), &first);
    assert_eq!(service.isolate().send(&by_team(repeatable(&other_payload()))).status, 422);
}

/// The 503 of a create that was broken off between its two records promises that a repeat records it
/// only once: also a repeat by the key that replaced the first one.
#[test]
fn a_repeat_by_the_key_that_replaced_the_first_one_makes_one_record() {
    let service = seeded();
    service.store.set_unconfirmed(Some("idempotency:"));
    unavailable(&service.send(&repeatable(&minimal())), Some(false));
    service.store.set_unconfirmed(None);
    let replay = service.store.names().into_iter().find(|name| name.starts_with("idempotency:"));
    service.store.remove(&replay.unwrap()); // which was not kept
    let recorded = transactions(&service);

    let rotated = "service_sk_test_rotated";
    put_key(&*service.store, rotated, &key_record(Mode::Test, unit("unit_dev")));
    service.store.remove(&CredentialKey(ApiKey::new(UNIT).hash()).name());
    let repeat = repeatable(&minimal()).with_header("authorization", &format!("Bearer {rotated}"));
    let answer = service.isolate().send(&repeat);
    assert_eq!(transactions(&service), recorded);
    assert_eq!([format!("transaction:{}", answer.json()["id"].as_str().unwrap())], *recorded);
    is_replay(&service.isolate().send(&repeat), &answer);
}

/// A store that loses transactions from sight while their replay record can be seen.
#[test]
fn a_replay_needs_no_transaction_in_sight() {
    let service = seeded();
    let first = service.send(&repeatable(&minimal()));
    let id = first.json()["id"].as_str().unwrap().to_owned();
    service.store.remove(&format!("transaction:{id}"));
    is_replay(&service.isolate().send(&repeatable(&minimal())), &first);
    is_replay(&service.isolate().send(&by_team(repeatable(&minimal()))), &first);
}

#[test]
fn recent_answers_are_bounded() {
    let service = racing();
    let mut large = minimal();
    large["pledges"][0]["detail"] = json!({ "description": "x".repeat(500_000) });
    for number in 0..40 {
        let request = repeatable(&large).with_header("idempotency-key", &number.to_string());
        assert_eq!(service.send(&request).status, 200);
    }
    assert!(
        service.caches.recent_answers.bytes() <= 4 * 1024 * 1024,
        "{}",
        service.caches.recent_answers.bytes()
    );
    for number in 1_000..2_000 {
        let request = repeatable(&minimal()).with_header("idempotency-key", &number.to_string());
        assert_eq!(service.send(&request).status, 200);
    }
    assert!(
        service.caches.recent_answers.count() <= 512,
        "{}",
        service.caches.recent_answers.count()
    );
}

// ---- A write that is not confirmed ---------------------------------------------------------------

#[test]
fn an_unconfirmed_write_says_how_to_repeat() {
    let service = seeded();
    service.store.set_unconfirmed(Some("transaction:"));
    may_be_recorded(&service.create(UNIT, &minimal()), false);
    for prefix in ["transaction:", "idempotency:"] {
        service.store.set_unconfirmed(Some(prefix));
        let request = repeatable(&minimal()).with_header("idempotency-key", prefix);
        let answer = service.send(&request);
        unavailable(&answer, Some(false));
        let message = answer.json()["message"].to_string();
        assert!(message.contains("Repeat the request with the same Idempotency-Key"), "{message}");
        service.store.set_unconfirmed(None);
        let before = transactions(&service);
        assert_eq!(service.isolate().send(&request).status, 200);
        assert_eq!(transactions(&service), before, "the same record once more");
    }
}

// ---- Bytes in flight -----------------------------------------------------------------------------

#[test]
fn a_body_that_finds_no_room_is_answered_at_once() {
    let service = seeded();
    let mut held = service.caches.in_flight.reservation();
    held.resize(MAX_BYTES_IN_FLIGHT).unwrap();
    held.resize(MAX_BYTES_IN_FLIGHT - 100).unwrap();
    assert_eq!(held.resize(MAX_BYTES_IN_FLIGHT + 1), Err(Busy));
    let before = service.store.names();
    let answer = service.create(LIVE_UNIT, &minimal());
    unavailable(&answer, Some(true));
    assert!(answer.json()["message"].to_string().contains("nothing was recorded"));
    assert_eq!(service.store.names(), before);
    drop(held);
    for _ in 0..1_000 {
        assert_eq!(service.create(LIVE_UNIT, &minimal()).status, 200, "what ends gives back");
    }
}

/// The least size of a pledge in a record, by which too many pledges are refused early.
#[test]
fn the_least_pledge_of_a_record_is_as_small_as_documented() {
    let service = seeded();
    let body = |count| {
        let pledge = json!({ "impact": { "amount": 1, "offeringId": "" } });
        json!({ "reference": "", "recipient": { "email": "a@b" }, "pledges": vec![pledge; count] })
    };
    let length = |count| {
        let created = service.create(UNIT, &body(count)).json();
        service.get(UNIT, created["id"].as_str().unwrap()).text.len()
    };
    let least = (length(1_001) - length(1)) / 1_000;
    assert!(least >= MIN_PLEDGE_BYTES, "{least}");
    assert!(least <= MIN_PLEDGE_BYTES + 10, "{least}: too many could be refused earlier");
}

// ---- The host of timeline addresses ----------------------------------------------------------------

#[track_caller]
fn timeline_origin(service: &TestService<MemoryStore>, host: &str) -> Result<String, (u16, Value)> {
    let request = TestRequest::new("POST", PATH, UNIT)
        .with_body(minimal().to_string().into_bytes())
        .with_header("host", host);
    let answer = service.send(&request);
    let json = answer.json();
    match json["timelineUrl"].as_str() {
        Some(url) => Ok(url.split("/timeline/").next().unwrap().to_owned()),
        None => Err((answer.status, json["error"].clone())),
    }
}

#[test]
fn a_timeline_address_begins_with_the_host_unless_that_is_none() {
    let service = seeded();
    for host in ["shop.example", "a.b-c.example:8443", "localhost:1", "127.0.0.1", "[::1]:80"] {
        assert_eq!(timeline_origin(&service, host), Ok(format!("https://{host}")));
    }
    let before = service.store.names();
    for host in [
        "good.example@evil.example",
        "user:pass@evil.example",
        "",
        "a b",
        "a..b",
        "evil.example:port",
        "evil.example:99999",
        "[::g]",
        "[::1",
        "\u{fc}.example",
        "%65vil.example",
        "evil.example\\good",
    ] {
        let refused = Err((400, json!("Invalid host")));
        assert_eq!(timeline_origin(&service, host), refused, "`{host}`");
    }
    assert_eq!(service.store.names(), before);
}

#[test]
fn the_public_origin_decides_if_it_is_set() {
    let mut service = seeded();
    for (text, origin) in [
        ("https://pledges.example", "https://pledges.example"),
        (" https://pledges.example/ ", "https://pledges.example"),
        ("http://127.0.0.1:8787", "http://127.0.0.1:8787"),
    ] {
        service.settings =
            Settings::parse(Variables { public_origin: text, ..Variables::default() });
        for host in ["any.example", "good.example@evil.example"] {
            assert_eq!(timeline_origin(&service, host).as_deref(), Ok(origin));
        }
    }
    for text in
        ["pledges.example", "https://", "https://a@b", "https://a/path", "ftp://a", "javascript:"]
    {
        service.settings =
            Settings::parse(Variables { public_origin: text, ..Variables::default() });
        let ours = Err((500, json!("Internal error")));
        assert_eq!(timeline_origin(&service, "any.example"), ours, "`{text}`");
    }
}

// ---- Percent-encoding and logs -----------------------------------------------------------------------

#[test]
fn an_edit_key_may_be_percent_encoded() {
    let service = seeded();
    let url = service.create(UNIT, &minimal()).json()["timelineUrl"].as_str().unwrap().to_owned();
    let (path, key) = url.strip_prefix(ORIGIN).unwrap().split_once("?edit_key=").unwrap();
    let encoded: String = key.bytes().map(|byte| format!("%{byte:02x}")).collect();
    for (name, key, status) in
        [("edit_key", &*encoded, 200), ("%65dit%5fkey", &encoded, 200), ("edit_key", "%zz", 404)]
    {
        let path = format!("{path}?{name}={key}");
        assert_eq!(service.send(&TestRequest::new("GET", &path, "")).status, status, "{path}");
    }
}
