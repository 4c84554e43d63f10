//! Tests the updates on a timeline: how the service reads them, and how the page shows a large number of updates
//! and hostile updates.

use crate::timeline::{HOSTILE, Updates, full, page_with_updates, skeleton, texts, with};
use fuzz_targets::page::check_page;
use impact_pledge::buyer::timeline::MAX_OFFERINGS;
use impact_pledge::pledges::quantities::Quantities;
use impact_pledge::pledges::scope::{Mode, Scope};
use impact_pledge::pledges::service::LIFETIME_MS;
use impact_pledge::pledges::settlement::Month;
use impact_pledge::pledges::store::{
    Key as _, MAX_UPDATES_BYTES, Summary, TransactionMetadata, UpdatesKey,
};
use impact_pledge::pledges::types::{EditKey, TransactionId};
use serde_json::{Value, json};
use support::memory::MemoryStore;
use support::service::{Answer, NOW_MS, TestRequest, TestService};

const NOTHING: &str = "There are no updates yet.";
const UNREAD: &str = "We cannot show the updates right now.";

fn update(id: usize, text: &str) -> Value {
    json!({ "id": format!("upd_{id}"), "stage": "done", "date": "2026-12-03", "texts": { "en": text } })
}

// ---- Reads ---------------------------------------------------------------------------------------

/// Returns a record with a pledge of each offering.
fn record(offerings: &[&str]) -> Value {
    let pledge = |offering: &&str| {
        let mut pledge = full()["pledges"][0].clone();
        pledge["impact"]["offeringId"] = json!(offering);
        pledge
    };
    with(&[("/pledges", offerings.iter().map(pledge).collect())])
}

fn id() -> TransactionId {
    TransactionId::from_bytes([1; 26])
}

/// Stores the transaction. Its metadata lists its offerings only if `has_quantities` is set.
fn store(service: &TestService<MemoryStore>, record: &Value, has_quantities: bool) {
    let scope = Scope { unit: "unit".to_owned(), mode: Mode::Live };
    let mut metadata = TransactionMetadata::new(scope, &EditKey::from_bytes([2; 20]));
    if has_quantities {
        let ids = record["pledges"].as_array().unwrap().iter();
        let pairs: Vec<_> = ids.map(|pledge| (&pledge["impact"]["offeringId"], 1)).collect();
        let mut pairs: Vec<_> = pairs.iter().map(|(id, one)| json!([id, one])).collect();
        pairs.sort_by_key(Value::to_string);
        pairs.dedup();
        let quantities: Quantities = serde_json::from_value(pairs.into()).unwrap();
        let created_at = record["createdAt"].as_str().map(str::to_owned);
        metadata.summary =
            Summary { created_at, quantities: Some(quantities), ..Summary::default() };
    }
    let metadata = serde_json::to_vec(&metadata).unwrap();
    service.store.keep(&format!("transaction:{}", id()), record.to_string().as_bytes(), &metadata);
}

fn service(record: &Value, has_quantities: bool) -> TestService<MemoryStore> {
    let service = TestService::new(MemoryStore::default(), "");
    store(&service, record, has_quantities);
    service
}

fn key(offering: &str) -> String {
    UpdatesKey::new(Mode::Live, offering, Month::parse("2026-11").unwrap()).name()
}

fn publish(service: &TestService<MemoryStore>, offering: &str, record: &[u8]) {
    service.store.keep(&key(offering), record, b"null");
}

fn publish_text(service: &TestService<MemoryStore>, offering: &str, text: &str) {
    publish(service, offering, json!({ "updates": [update(1, text)] }).to_string().as_bytes());
}

#[track_caller]
fn visit(service: &TestService<MemoryStore>) -> Answer {
    let key = EditKey::from_bytes([2; 20]);
    let address = format!("/timeline/{}?edit_key={key}", id());
    let answer = service.send(&TestRequest::new("GET", &address, ""));
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(service.caches.in_flight.bytes(), 0);
    check_page(&answer.text);
    answer
}

/// Returns the names of the records of updates that were read since the last call.
fn reads(service: &TestService<MemoryStore>) -> Vec<String> {
    let reads = service.store.take_reads().into_iter();
    reads.filter(|name| name.starts_with("updates:")).collect()
}

#[test]
fn each_offering_costs_one_read_in_ten_seconds_also_without_updates() {
    for has_quantities in [true, false] {
        let service = service(&record(&["tree", "kelp", "tree"]), has_quantities);
        publish_text(&service, "tree", "First");
        assert!(visit(&service).text.contains("First"));
        let mut read = reads(&service);
        read.sort();
        let mut both = [key("kelp"), key("tree")];
        both.sort();
        assert_eq!(read, both);
        publish_text(&service, "tree", "Second");
        service.clock.0.set(NOW_MS + LIFETIME_MS - 1);
        assert!(visit(&service).text.contains("First"));
        assert_eq!(reads(&service), [""; 0]);
        service.clock.0.set(NOW_MS + LIFETIME_MS);
        assert!(visit(&service).text.contains("Second"));
        assert_eq!(reads(&service).len(), 2);
    }
}

#[test]
fn a_wrong_edit_key_reads_no_updates() {
    let service = service(&record(&["tree"]), true);
    let key = EditKey::from_bytes([3; 20]);
    let address = format!("/timeline/{}?edit_key={key}", id());
    assert_eq!(service.send(&TestRequest::new("GET", &address, "")).status, 404);
    assert_eq!(reads(&service), [""; 0]);
}

/// A month begins at midnight UTC, even for shops in other time zones. Live and test mode have separate
/// updates.
#[test]
fn updates_are_those_of_the_month_and_the_mode() {
    let service = service(&record(&["tree"]), true);
    let other = |mode, month: &str| UpdatesKey::new(mode, "tree", Month::parse(month).unwrap());
    for key in [other(Mode::Test, "2026-11"), other(Mode::Live, "2026-10")] {
        let updates = json!({ "updates": [update(1, "Elsewhere")] }).to_string();
        service.store.keep(&key.name(), updates.as_bytes(), b"null");
    }
    let answer = visit(&service);
    assert!(answer.text.contains(NOTHING) && !answer.text.contains("Elsewhere"));
    assert_eq!(reads(&service), [key("tree")]);
}

#[test]
fn a_failed_read_shows_the_page_without_updates_and_is_not_kept() {
    for has_quantities in [true, false] {
        let service = service(&record(&["tree", "kelp"]), has_quantities);
        publish_text(&service, "tree", "Planted");
        service.store.set_failing(Some("updates:"));
        let answer = visit(&service);
        assert!(answer.text.contains(UNREAD) && !answer.text.contains(NOTHING));
        assert_eq!(texts(&answer.text, "h3").len(), 2);
        let log = answer.log.expect("it is logged");
        assert!(log.contains("updates: the store could not be read"), "{log}");
        service.store.set_failing(None);
        let answer = visit(&service);
        assert!(answer.text.contains("Planted") && !answer.text.contains(UNREAD));
        assert_eq!(answer.log, None);
    }
}

#[test]
fn a_damaged_record_is_logged_once_and_costs_only_its_offering() {
    let large = json!({ "updates": [update(1, &"x".repeat(1 << 20))] }).to_string();
    for damaged in [&b""[..], b"{}", b"\xff", b"[]", br#"{"updates":7}"#] {
        let service = service(&record(&["tree", "kelp"]), true);
        publish(&service, "tree", damaged);
        publish_text(&service, "kelp", "Grown");
        let answer = visit(&service);
        assert_eq!(answer.text.matches(UNREAD).count(), 1, "{damaged:?}");
        assert!(answer.text.contains("Grown"));
        let log = answer.log.expect("it is logged");
        assert!(log.contains("updates: the stored updates is damaged"), "{log}");
        assert!(log.len() < 500, "the log quotes a record");
        assert_eq!((visit(&service).log, reads(&service).len()), (None, 2));
    }
    let service = service(&record(&["tree"]), true);
    publish(&service, "tree", large.as_bytes());
    assert!(visit(&service).text.contains(NOTHING), "an invalid update is left out");
}

#[test]
fn the_first_twenty_offerings_are_read() {
    let offerings: Vec<_> = (0..60).rev().map(|index| format!("offering-{index:02}")).collect();
    let offerings: Vec<_> = offerings.iter().map(String::as_str).collect();
    for has_quantities in [true, false] {
        let service = service(&record(&offerings), has_quantities);
        for offering in &offerings {
            publish_text(&service, offering, &format!("about {offering}"));
        }
        let answer = visit(&service);
        let is_shown = |id: &&&str| answer.text.contains(&format!("about {id}<"));
        let shown: Vec<_> = offerings.iter().filter(is_shown).collect();
        assert_eq!(shown, offerings.iter().take(MAX_OFFERINGS).collect::<Vec<_>>());
        assert_eq!(reads(&service).len(), MAX_OFFERINGS);
        assert_eq!(texts(&answer.text, "h3").len(), 60);
    }
}

/// The cache has a maximum size in bytes, and drops updates that no longer fit. So an isolate can show any
/// number of offerings.
#[test]
fn the_cache_of_updates_is_bounded_by_bytes() {
    let service = service(&record(&["offering-00"]), true);
    let mut long = update(1, &"x".repeat(400));
    for tag in ["da", "de", "es", "fr", "it"] {
        long["texts"][tag] = long["texts"]["en"].clone();
    }
    let updates = json!({ "updates": vec![long; 24] }).to_string();
    assert!(updates.len() <= MAX_UPDATES_BYTES && 80 * updates.len() > 4 * 1024 * 1024);
    for index in 0..80 {
        let offering = format!("offering-{index:02}");
        store(&service, &record(&[&offering]), true);
        publish(&service, &offering, updates.as_bytes());
        visit(&service);
    }
    service.store.take_reads();
    store(&service, &record(&["offering-79"]), true);
    visit(&service);
    assert_eq!(reads(&service), [""; 0], "the newest is cached");
    store(&service, &record(&["offering-00"]), true);
    visit(&service);
    assert_eq!(reads(&service), [key("offering-00")], "the oldest is not");
}

// ---- Pages ---------------------------------------------------------------------------------------

/// Returns an update with every member. Each of its texts is `text`.
fn hostile_update(text: &str) -> Value {
    json!({
        "id": "upd_1", "stage": "done", "date": "2026-12-03",
        "place": { "name": text, "latitude": 1.5, "longitude": 2.5 }, "partner": text,
        "quantity": 3, "picture": { "url": "https://img.example/a'b&c", "text": text },
        "report": "https://r.example/?a='&b=1", "texts": { "en": text },
    })
}

#[test]
fn hostile_updates_are_text() {
    let page = |text: &str| {
        let updates =
            Updates::from([("tree-offering".to_owned(), Some(vec![hostile_update(text)]))]);
        page_with_updates(&full(), None, &updates)
    };
    let tame = skeleton(&page("tame"));
    assert!(tame.iter().any(|tag| tag == "<dl>"), "{tame:?}");
    let is_refused = |text: &str| text.contains('\u{202e}');
    for hostile in HOSTILE {
        let html = page(hostile);
        check_page(&html);
        assert!(!html.contains("<script") && !html.contains("onerror=alert(1)>"), "{hostile}");
        match is_refused(hostile) {
            true => assert!(html.contains("no updates yet"), "{hostile}"),
            false => assert_eq!(skeleton(&html), tame, "{hostile}"),
        }
    }
}

#[test]
fn a_page_with_more_than_three_offerings_does_not_repeat_that_there_are_no_updates() {
    let names = ["a", "b", "c", "d"];
    for (offerings, said) in [(&names[..3], 2), (&names[..], 0)] {
        let of = |id: &&str| (*id == "b").then(|| update(1, "Planted.")).into_iter().collect();
        let updates = offerings.iter().map(|id| ((*id).to_owned(), Some(of(id)))).collect();
        let html = page_with_updates(&record(offerings), None, &updates);
        let count = |text: &str| html.matches(text).count();
        assert_eq!((count(NOTHING), count("Planted.")), (said, 1), "{offerings:?}");
        assert_eq!(count("These updates cover all pledges"), 1, "{offerings:?}");
    }
}

#[test]
fn forty_pledges_with_twelve_updates_make_a_small_page() {
    let names: Vec<_> = (0..40).map(|index| ["tree", "kelp", "plastic-kg"][index % 3]).collect();
    let list = || Some((0..12).map(|index| update(index, &"All is well. ".repeat(8))).collect());
    let updates = ["tree", "kelp", "plastic-kg"].map(|id| (id.to_owned(), list()));
    let html = page_with_updates(&record(&names), None, &Updates::from(updates));
    check_page(&html);
    assert_eq!(texts(&html, "h3").len(), 3, "pledges of an offering say the same");
    assert_eq!(texts(&html, "h4").len(), 3, "once for each offering");
    assert_eq!(html.matches("<p class=\"stage\">").count(), 36);
    assert!(html.len() < 80_000, "{} bytes", html.len());
}

/// Tries the largest valid updates, with as many pledges as a record can hold.
#[test]
fn the_largest_updates_are_bounded() {
    let offerings: Vec<_> = (0..2_000).map(|index| format!("o-{}", index % 40)).collect();
    let offerings: Vec<_> = offerings.iter().map(String::as_str).collect();
    let list = || Some(vec![hostile_update(&"&".repeat(200)); 24]);
    let updates = (0..20).map(|index| (format!("o-{index}"), list())).collect();
    let html = page_with_updates(&record(&offerings), None, &updates);
    check_page(&html);
    assert!(html.len() < 2_000_000, "{} bytes", html.len());
}
