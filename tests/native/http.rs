//! Tests the service without its platform, over a store in memory. The rows of requests are those with which the Worker
//! is tested, too. Other tests cause faults that only a test can cause.

use crate::json_schema::OpenApi;
use crate::rows::{File, Names, Row};
use crate::{fixtures, rows};
use impact_pledge::api::MIN_PLEDGE_BYTES;
use impact_pledge::auth::{ApiKey, KeyRecord};
use impact_pledge::http::BodyError;
use impact_pledge::scope::Mode;
use impact_pledge::service::{Settings, Variables};
use impact_pledge::store::{CredentialKey, Key as _};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ops::Range;
use support::memory::MemoryStore;
use support::service::{
    Answer, LIVE_UNIT, NOW_MS, ORIGIN, PATH, TEAM, TestRequest, TestService, UNIT, key_record,
    minimal, put_key, put_member, put_prices, repeatable, seed, seeded, unit,
};

// ---- Rows --------------------------------------------------------------------------------------

/// If openapi.yaml has the operation, the answer must also be valid by openapi.yaml.
#[test]
fn every_row_has_its_answer_which_openapi_allows() {
    let document = OpenApi::read();
    let (mut wrong, mut answered) = (Vec::new(), BTreeSet::new());
    for (file_name, file) in ["http", "records"].into_iter().flat_map(fixtures::files::<File>) {
        let service = TestService::new(stored(&file), &file.allowed_origins);
        let origin = if file.origin.is_empty() { ORIGIN } else { &file.origin };
        let mut names = Names::from([
            ("origin".to_owned(), origin.into()),
            ("run".to_owned(), "9b2f0c1e-53f7-4d6e-8a55-0d5b6b1e7c10".into()),
        ]);
        for row in &file.rows {
            let answer = service.send(&request_of(row, &names).at(origin));
            let mut found = differences(&answer, row, &mut names);
            if let Some((method, path)) = operation(row) {
                let schema = document.answer(method, path, answer.status);
                if !schema.is_some_and(|schema| document.accepts(schema, &answer.json())) {
                    found.push(format!("openapi.yaml has no such {}", answer.status));
                }
                answered.insert((method, answer.status));
            }
            wrong.extend(found.iter().map(|text| format!("{file_name}: {}: {text}", row.name)));
        }
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    let mut expected: BTreeSet<_> = [200, 401, 403, 404].map(|status| ("get", status)).into();
    expected.extend([200, 400, 401, 403, 413, 415, 422, 503].map(|status| ("post", status)));
    assert_eq!(answered, expected);
}

/// Returns the records of a file, or the development data if it has none.
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

fn differences(answer: &Answer, row: &Row, names: &mut Names) -> Vec<String> {
    if answer.status != row.response.status {
        return vec![format!("status {}, `{:.300}`", answer.status, answer.text)];
    }
    rows::capture(row, &answer.text, names);
    let mut wrong = always(answer, row.request.method == "HEAD");
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

/// Returns how an answer breaks the rules that every answer must follow.
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

/// Returns the operation of openapi.yaml that a row calls.
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
    assert_eq!(statuses, BTreeSet::from([200, 204, 400, 401, 403, 404, 405, 413, 415, 422]));
}

// ---- Time and chance ---------------------------------------------------------------------------

#[test]
fn every_id_and_edit_key_is_new() {
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
fn a_create_writes_one_record_two_with_an_idempotency_key_and_none_if_refused() {
    let service = seeded();
    let before = service.store.names();
    service.create(UNIT, &json!({}));
    service.create("service_sk_test_never", &minimal());
    service.create(TEAM, &minimal());
    service.get(UNIT, "ptran_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    service.send(&TestRequest::new("POST", PATH, UNIT).with_header("idempotency-key", ""));
    let body = |body| TestRequest { body, ..repeatable(&minimal()) };
    assert_eq!(service.send(&body(Err(BodyError::Broken))).status, 400);
    assert_eq!(service.store.names(), before);
    let id = service.create(UNIT, &minimal()).json()["id"].as_str().unwrap().to_owned();
    assert_eq!(service.store.names().len(), before.len() + 1);
    assert!(service.store.names().contains(&format!("transaction:{id}")));
    service.send(&repeatable(&minimal()));
    service.send(&repeatable(&minimal()));
    assert_eq!(service.store.names().len(), before.len() + 3);
}

// ---- Keys over time ----------------------------------------------------------------------------

#[test]
fn a_changed_key_or_price_list_counts_at_the_latest_after_ten_seconds() {
    let service = seeded();
    let made = |key| {
        let answer = service.create(key, &minimal()).json();
        [&answer["isLive"], &answer["charge"]["amount"], &answer["createdAt"]].map(Value::clone)
    };
    assert_eq!(made("service_sk_test_new"), [json!(null), json!(null), json!(null)]);
    put_key(&*service.store, "service_sk_test_new", &key_record(Mode::Test, unit("u")));
    let before = [json!(false), json!("1.50"), json!("2026-01-31T12:00:00.123Z")];
    assert_eq!([made("service_sk_test_new"), made(UNIT)], [before.clone(), before.clone()]);
    put_key(&*service.store, UNIT, &key_record(Mode::Live, unit("unit_dev")));
    for mode in [Mode::Test, Mode::Live] {
        put_prices(&*service.store, mode, br#"{"currencyCode":"EUR","unitPrices":{"tree":"1"}}"#);
    }
    assert_eq!(made(UNIT), before, "from the cache");
    service.clock.0.set(NOW_MS + 10_000);
    assert_eq!(made(UNIT), [json!(true), json!("3.00"), json!("2026-01-31T12:00:10.123Z")]);
}

/// With a team's key, the service reads the record of the key's unit once in ten seconds. If requests name other units,
/// each of them causes a read, and nothing is cached.
#[test]
fn a_unit_counts_as_one_of_its_team_for_ten_seconds_and_any_other_never() {
    let service = seeded();
    let status = |unit: &str| {
        let get = TestRequest::new("GET", &format!("{PATH}/none"), TEAM);
        service.send(&get.with_header("x-service-unit-id", unit)).status
    };
    assert_eq!(status("unit_dev"), 404);
    service.store.take_reads();
    assert_eq!((status("unit_dev"), service.store.take_reads()), (404, vec![]));
    for (unit, reads) in [
        ("unit_new", 1),
        ("unit_new", 1),
        ("unit_dev_two:x", 1), // a unit's ID may have colons, a team's may not
        (&*"u".repeat(128), 1),
        (&*"u".repeat(129), 0), // it is not a valid ID
        ("unit dev", 0),
        ("\u{e9}", 0),
    ] {
        assert_eq!((status(unit), service.store.take_reads().len()), (401, reads), "{unit}");
    }
    put_member(&*service.store, "team_dev", "unit_new");
    service.store.remove("member:team_dev:unit_dev");
    assert_eq!((status("unit_new"), status("unit_dev")), (404, 404));
    service.clock.0.set(NOW_MS + 10_000);
    assert_eq!((status("unit_new"), status("unit_dev")), (404, 401));
    service.store.set_failing(Some("member:"));
    assert_eq!(status("unit_dev"), 503);
}

/// Test prices never apply to live keys: each mode has its own price list.
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
    assert_eq!([UNIT, LIVE_UNIT].map(charge), ["0.00", "0.00"]);
    put_prices(&*service.store, Mode::Test, &prices("2"));
    assert_eq!([UNIT, LIVE_UNIT].map(charge), ["6.00", "0.00"]);
    put_prices(&*service.store, Mode::Live, &prices("3"));
    assert_eq!([UNIT, LIVE_UNIT].map(charge), ["6.00", "9.00"]);
}

/// The maximum number of keys that an isolate remembers.
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
fn every_key_in_memory_is_found_there_until_a_memory_full_of_fresh_keys_begins_anew() {
    let service = seeded();
    let reads_of_all = || {
        let before = service.store.reads();
        for number in (0..MAX_KEYS).rev() {
            assert_eq!(service.get(&numbered(number), "none").status, 404);
        }
        service.store.reads() - before
    };
    remember(&service, 0..MAX_KEYS);
    assert_eq!(reads_of_all(), 0);
    remember(&service, MAX_KEYS..MAX_KEYS + 1);
    assert!(reads_of_all() >= MAX_KEYS);
}

// ---- When the store fails ----------------------------------------------------------------------

#[track_caller]
fn unavailable(answer: &Answer, is_live: Option<bool>) {
    assert_eq!(answer.status, 503);
    assert_eq!(answer.headers["retry-after"], "1");
    assert_eq!(answer.json()["error"], "Service unavailable");
    assert_eq!(answer.json().get("isLive").and_then(Value::as_bool), is_live);
}

/// Asserts that an answer says that a create request without an `Idempotency-Key` may have been recorded, and has no
/// `Retry-After`.
#[track_caller]
fn may_be_recorded(answer: &Answer, is_live: bool) {
    assert_eq!((answer.status, &answer.json()["isLive"]), (503, &json!(is_live)));
    assert_eq!(answer.headers.get("retry-after"), None);
    let message = answer.json()["message"].to_string();
    assert!(message.contains("may have been recorded"), "{message}");
    assert!(message.contains("To be able to repeat safely, send an Idempotency-Key"), "{message}");
    assert!(!message.contains("Send the request again"), "{message}");
}

/// A key without the namespace's secret would derive other IDs than the unit's other keys.
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
    unavailable(&service.isolate().create(UNIT, &minimal()), None);
    unavailable(&service.isolate().get(UNIT, &id), None);
    service.store.set_broken(false);
    assert_eq!(service.get(LIVE_UNIT, &id).status, 200);
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

/// Each pledge of a record repeats the recipient, so that a small request could cause gigabytes of records.
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

/// A service whose store shows no replay record, as if every retry arrived before the first create request had ended.
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

/// Any number of create requests from other units does not affect a create request whose replay record is not visible
/// yet.
#[test]
fn a_charge_does_not_change_for_what_another_unit_creates() {
    let service = racing();
    let live = repeatable(&minimal()).with_header("authorization", &format!("Bearer {LIVE_UNIT}"));
    let first = service.send(&live);
    put_prices(&*service.store, Mode::Live, br#"{"currencyCode":"USD","unitPrices":{"tree":"9"}}"#);
    let mut large = minimal();
    large["pledges"][0]["detail"] = json!({ "name": "n".repeat(900_000) });
    for number in 0..5 {
        let other = repeatable(&large).with_header("idempotency-key", &format!("other-{number}"));
        assert_eq!(service.send(&other).status, 200);
    }
    service.clock.0.set(NOW_MS + 60_000);
    is_replay(&service.send(&live), &first);
}

/// Create requests that race in two isolates each have their own terms.
#[test]
fn of_two_replay_records_the_later_one_decides_in_each_isolate() {
    let here = racing();
    let first = here.send(&repeatable(&minimal()));
    let name =
        here.store.names().into_iter().find(|name| name.starts_with("idempotency:")).unwrap();
    let stale = here.store.value(&name).unwrap();
    let there = here.isolate();
    there.clock.0.set(NOW_MS + 1_000);
    let last = there.send(&repeatable(&minimal()));
    assert_ne!(first.text, last.text);
    here.store.set_hidden(None);
    for isolate in [&here, &there, &here.isolate()] {
        is_replay(&isolate.send(&repeatable(&minimal())), &last);
    }
    here.store.keep(&name, stale.as_bytes(), b"null");
    is_replay(&there.send(&repeatable(&minimal())), &last);
}

fn transactions(service: &TestService<MemoryStore>) -> Vec<String> {
    let names = service.store.names().into_iter();
    names.filter(|name| name.starts_with("transaction:")).collect()
}

/// If a create request stops between its two writes, its 503 promises that a retry does not record it twice. The promise
/// also holds for a retry with the API key that replaced the first one.
#[test]
fn a_repeat_by_the_key_that_replaced_the_first_one_makes_one_record() {
    let service = seeded();
    service.store.set_unconfirmed(Some("idempotency:"));
    unavailable(&service.send(&repeatable(&minimal())), Some(false));
    service.store.set_unconfirmed(None);
    let replay = service.store.names().into_iter().find(|name| name.starts_with("idempotency:"));
    service.store.remove(&replay.unwrap()); // the replay record was lost
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

// ---- Sizes ---------------------------------------------------------------------------------------

/// The smallest pledge of a record is at most 10 bytes longer than the size by which the service refuses too many
/// pledges.
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
        "",
        "a b",
        "a..b",
        "evil.example:99999",
        "[::g]",
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
        assert_eq!(health(&service), Value::Null);
    }
    for text in
        ["pledges.example", "https://", "https://a@b", "https://a/path", "ftp://a", "javascript:"]
    {
        service.settings =
            Settings::parse(Variables { public_origin: text, ..Variables::default() });
        assert_no_create(&service, "must be an origin");
    }
    assert!(health(&seeded()).as_str().unwrap().contains("is not set"));
}

#[test]
fn production_records_nothing_without_an_https_origin_of_its_own() {
    let with = |public_origin, environment| {
        let variables = Variables { public_origin, environment, ..Variables::default() };
        TestService { settings: Settings::parse(variables), ..seeded() }
    };
    for (public_origin, environment, origin) in [
        ("https://pledges.example", " production ", "https://pledges.example"),
        ("http://pledges.example", "staging", "http://pledges.example"),
        ("", "staging", "https://any.example"),
        ("", "development", "https://any.example"),
        ("", "", "https://any.example"),
    ] {
        let service = with(public_origin, environment);
        assert_eq!(timeline_origin(&service, "any.example").as_deref(), Ok(origin));
    }
    for (public_origin, problem) in [
        ("", "must be set"),
        (" ", "must be set"),
        ("http://pledges.example", "must begin with `https://`"),
        ("http://localhost:8787", "must begin with `https://`"),
        ("pledges.example", "must be an origin"),
    ] {
        assert_no_create(&with(public_origin, "production"), problem);
    }
}

/// Asserts that a create request to any host gets 503 and writes nothing, and that the log and `/healthz` state the
/// problem.
#[track_caller]
fn assert_no_create(service: &TestService<MemoryStore>, problem: &str) {
    let names = service.store.names();
    let answer = service.create(UNIT, &minimal());
    assert_eq!((answer.status, &answer.json()["error"]), (503, &json!("Service unavailable")));
    assert_eq!(answer.headers.get("retry-after"), None, "another attempt is of no use");
    assert!(answer.log.unwrap().contains(problem), "the log has no `{problem}`");
    assert!(health(service).as_str().unwrap().contains(problem), "{}", health(service));
    assert_eq!(service.store.names(), names);
}

#[test]
fn health_shows_all_problems_with_the_settings() {
    let mut service = seeded();
    for (allowed_origins, shown) in [
        ("", None),
        ("https://shop.example, http://localhost:3000/ ,", None),
        ("https://shop.example, https://*.shop.example", Some("`https://*.shop.example`")),
        (
            "https://shop.example https://b.example",
            Some("`https://shop.example https://b.example`"),
        ),
    ] {
        let public_origin = "https://pledges.example";
        let variables = Variables { allowed_origins, public_origin, ..Variables::default() };
        service.settings = Settings::parse(variables);
        let seen = health(&service);
        assert_eq!(seen.is_null(), shown.is_none(), "{seen}");
        assert!(shown.is_none_or(|entry| seen.to_string().contains(entry)), "{seen}");
    }
    let has_queue = true;
    let variables = Variables { allowed_origins: "*", has_queue, ..Variables::default() };
    service.settings = Settings::parse(variables);
    for name in ["`PUBLIC_ORIGIN`", "`MAIL_FROM`", "`ALLOWED_ORIGINS`"] {
        assert!(health(&service).as_str().unwrap().contains(name), "{name}");
    }
}

// ---- Plain HTTP ----------------------------------------------------------------------------------

const HERE: [&str; 6] = [
    "http://127.0.0.1:8787",
    "http://127.8.9.10",
    "http://localhost:3000",
    "http://LOCALHOST",
    "http://shop.localhost",
    "http://[::1]:8787",
];
const ELSEWHERE: [&str; 9] = [
    "http://pledges.example",
    "http://pledges.example:8787",
    "http://127.0.0.1.pledges.example",
    "http://localhost.pledges.example",
    "http://localhost@pledges.example",
    "http://notlocalhost",
    "http://10.0.0.1",
    "http://[::2]",
    "http://",
];

#[test]
fn a_live_key_by_plain_http_is_refused_by_its_prefix_and_by_its_record() {
    let service = seeded();
    put_key(&*service.store, "a_live_key", &key_record(Mode::Live, unit("unit_dev")));
    put_key(&*service.store, "service_sk_live_is_test", &key_record(Mode::Test, unit("unit_dev")));
    let id = service.create(LIVE_UNIT, &minimal()).json()["id"].as_str().unwrap().to_owned();
    let names = service.store.names();
    for (key, reads) in [
        (LIVE_UNIT, 0),
        ("service_sk_live_unknown", 0),
        ("service_sk_live_is_test", 0),
        ("a_live_key", 1),
    ] {
        for origin in ELSEWHERE {
            let isolate = service.isolate();
            let before = service.store.reads();
            for request in [create_by(key), get_by(key, &id)] {
                let answer = isolate.send(&request.at(origin));
                assert_eq!(
                    (answer.status, &answer.json()["isLive"]),
                    (403, &json!(true)),
                    "{origin}"
                );
                assert!(answer.json()["message"].as_str().unwrap().contains("Replace the key"));
            }
            let most = if reads == 0 { 0 } else { 2 }; // the key, and the transaction of the get
            assert!(service.store.reads() - before <= most, "{key}");
        }
    }
    assert_eq!(service.store.names(), names);
}

#[test]
fn plain_http_is_for_test_keys_this_machine_and_whoever_allows_it() {
    let mut service = seeded();
    for origin in HERE.into_iter().chain(["https://pledges.example"]) {
        assert_eq!(service.send(&create_by(LIVE_UNIT).at(origin)).status, 200, "{origin}");
    }
    let open = |service: &TestService<_>, key| {
        service.send(&create_by(key).at("http://pledges.example")).status
    };
    assert_eq!(open(&service, UNIT), 200);
    for (allow_plain_http, environment, status) in [
        ("true", "", 200),
        (" true ", "development", 200),
        ("true", "production", 403),
        ("", "development", 403),
        ("yes", "", 403),
        ("false", "", 403),
    ] {
        let public_origin = "https://pledges.example";
        let variables =
            Variables { allow_plain_http, environment, public_origin, ..Variables::default() };
        service.settings = Settings::parse(variables);
        assert_eq!(open(&service, LIVE_UNIT), status, "`{allow_plain_http}`, `{environment}`");
    }
}

#[test]
fn every_answer_by_https_asks_for_https_from_then_on() {
    let service = seeded();
    let url = service.create(UNIT, &minimal()).json()["timelineUrl"].as_str().unwrap().to_owned();
    let page = url.strip_prefix(ORIGIN).unwrap();
    let requests = || {
        let by = |method, path| TestRequest::new(method, path, "");
        let strange = by("GET", "/healthz").with_header("host", "a@b");
        [create_by(UNIT), create_by("none"), by("GET", page), by("GET", "/timeline/x"), strange]
            .into_iter()
            .chain([
                by("OPTIONS", PATH),
                by("GET", "/none"),
                by("PUT", PATH),
                by("HEAD", "/healthz"),
            ])
    };
    let policies = |origin| -> BTreeSet<Option<String>> {
        let answers = requests().map(|request| service.send(&request.at(origin)));
        answers.map(|answer| answer.headers.get("strict-transport-security").cloned()).collect()
    };
    let year = Some("max-age=31536000".to_owned());
    assert_eq!(policies("https://pledges.example"), [year].into());
    for origin in ["http://pledges.example", "http://127.0.0.1:8787"] {
        assert_eq!(policies(origin), [None].into(), "{origin}");
    }
    let local = service.send(&create_by(UNIT).at("https://localhost:8787"));
    assert_eq!(local.headers.get("strict-transport-security"), None);
}

fn create_by(key: &str) -> TestRequest {
    TestRequest::new("POST", PATH, key).with_body(minimal().to_string().into_bytes())
}

fn get_by(key: &str, id: &str) -> TestRequest {
    TestRequest::new("GET", &format!("{PATH}/{id}"), key)
}

#[test]
fn a_setting_that_keeps_e_mails_from_being_sent_shows_where_the_queue_is_bound() {
    let (from, to) = ("pledges@shop.example", "ada@shop.example");
    for (has_queue, mail_from, has_mail_service, mail_test_to, problem) in [
        (false, "", false, "", None),
        (false, "nobody", false, "nobody", None),
        (true, from, true, "", None),
        (true, " pledges@shop.example ", true, to, None),
        (true, "", true, "", Some("`MAIL_FROM`")),
        (true, "Shop <pledges@shop.example>", true, "", Some("`MAIL_FROM`")),
        (true, "pledges@shop.example, a@b.example", true, "", Some("`MAIL_FROM`")),
        (true, from, false, "", Some("`RESEND_API_KEY`")),
        (true, from, true, "ada", Some("`MAIL_TEST_TO`")),
    ] {
        let mut service = seeded();
        service.settings = Settings::parse(Variables {
            public_origin: "https://pledges.example",
            has_queue,
            mail_from,
            has_mail_service,
            mail_test_to,
            ..Variables::default()
        });
        let shown = health(&service);
        let is_right = problem.map_or(shown.is_null(), |word| shown.to_string().contains(word));
        assert!(is_right, "`{mail_from}` and `{mail_test_to}`: {shown}");
    }
}

/// Returns the problem that `/healthz` shows.
fn health(service: &TestService<MemoryStore>) -> Value {
    let reads = service.store.reads();
    let answer = service.send(&TestRequest::new("GET", "/healthz", ""));
    assert_eq!((answer.status, service.store.reads()), (200, reads));
    answer.json()["problem"].clone()
}

// ---- Percent-encoding ----------------------------------------------------------------------------

#[test]
fn of_all_texts_behind_a_percent_only_the_missing_character_opens_a_record() {
    let service = seeded();
    let url = service.create(UNIT, &minimal()).json()["timelineUrl"].as_str().unwrap().to_owned();
    let (page, key) = url.strip_prefix(ORIGIN).unwrap().split_once("?edit_key=").unwrap();
    let (begin, last) = key.split_at(key.len() - 1);
    let is_open = |query: &str| {
        let request = TestRequest::new("GET", &format!("{page}?{query}"), "");
        service.send(&request).status == 200
    };
    let opens: Vec<String> = (0..128_u8)
        .flat_map(|high| (0..128_u8).map(move |low| format!("%{}{}", high as char, low as char)))
        .filter(|code| is_open(&format!("edit_key={begin}{code}")))
        .collect();
    assert_eq!(opens, [format!("%{:x}", last.as_bytes()[0])]);
    let encoded: String = key.bytes().map(|byte| format!("%{byte:02X}")).collect();
    assert!(is_open(&format!("%65dit%5fkey={encoded}")));
}
