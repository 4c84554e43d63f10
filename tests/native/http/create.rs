//! Tests what a create request writes, and create requests that are handled at the same time.

use super::{transactions, unavailable};
use impact_pledge::pledges::auth::ApiKey;
use impact_pledge::pledges::http::BodyError;
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::store::{CredentialKey, Key as _};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use support::memory::MemoryStore;
use support::service::{
    Answer, LIVE_UNIT, NOW_MS, PATH, TEAM, TestRequest, TestService, UNIT, key_record, minimal,
    put_key, put_prices, repeatable, seeded, unit,
};

// ---- Time and chance --------------------------------------------------------------------------

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

// ---- What is stored ---------------------------------------------------------------------------

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

// ---- Repeats that race each other -------------------------------------------------------------

/// Returns a service whose store hides replay records. Each retry then runs as if the first create request had
/// not ended yet.
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

/// A retry gets the charge of the first request, even if the first request's replay record is not visible yet.
/// Neither new prices nor other units' transactions change this charge.
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

/// Two isolates handle the same create request at once. They write different replay records, because their
/// clocks differ. Retries in any isolate then get the later answer.
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

/// A create request stops between its two writes and gets a 503, which promises that a retry is safe. The
/// promise also holds for a retry with a new API key that has replaced the first key.
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
