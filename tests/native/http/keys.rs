//! Tests how long changed keys, teams and prices stay cached.

use impact_pledge::pledges::scope::Mode;
use serde_json::{Value, json};
use std::ops::Range;
use support::memory::MemoryStore;
use support::service::{
    LIVE_UNIT, NOW_MS, PATH, TEAM, TestRequest, TestService, UNIT, key_record, minimal, put_key,
    put_member, put_prices, seeded, unit,
};

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

/// If a request uses a team's key, the service caches for ten seconds that the unit belongs to the team. That a
/// unit is outside of the team is never cached: each request for such a unit reads a record.
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
