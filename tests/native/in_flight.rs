//! The bytes of bodies and records that an isolate holds at once, and who may hold how many.

use impact_pledge::api::MAX_BODY_BYTES;
use impact_pledge::http::{
    BodyError, Busy, InFlight, MAX_BYTES_IN_FLIGHT, MAX_SMALL_BYTES, Reservation,
};
use impact_pledge::scope::{Mode, Scope};
use serde_json::Value;
use support::memory::MemoryStore;
use support::service::{
    Answer, LIVE_UNIT, ORIGIN, PATH, TestRequest, TestService, UNIT, minimal, repeatable, seeded,
};

const MIB: usize = 1024 * 1024;

fn scope(unit: &str, mode: Mode) -> Scope {
    Scope { unit: unit.to_owned(), mode }
}

/// Reserves so many bytes of a body or record for a unit.
fn read<'f>(in_flight: &'f InFlight, unit: &str, bytes: usize) -> Result<Reservation<'f>, Busy> {
    let mut reservation = in_flight.reservation(&scope(unit, Mode::Test));
    reservation.read(bytes, bytes).map(|()| reservation)
}

// ---- The rules -----------------------------------------------------------------------------------

#[test]
fn once_half_is_taken_a_unit_has_a_share_in_each_mode() {
    let in_flight = InFlight::default();
    let first = read(&in_flight, "a", 12 * MIB).unwrap();
    assert_eq!(read(&in_flight, "a", 1).err(), Some(Busy));
    in_flight.reservation(&scope("a", Mode::Live)).read(1, 1).unwrap();
    let mut other = read(&in_flight, "b", 6 * MIB).unwrap();
    assert_eq!(read(&in_flight, "b", 1).err(), Some(Busy));
    assert_eq!(other.resize(6 * MIB + 1), Err(Busy));
    other.resize(6 * MIB - 1).unwrap();
    let _one_more = read(&in_flight, "b", 1).unwrap();
    let _third = read(&in_flight, "c", 1).unwrap();
    drop((first, other));
    let _alone = read(&in_flight, "b", 11 * MIB).unwrap();
}

#[test]
fn what_is_large_leaves_room_for_what_is_small() {
    let in_flight = InFlight::default();
    let large = ["a", "b", "c", "d"].map(|unit| read(&in_flight, unit, 5 * MIB).unwrap());
    assert_eq!(read(&in_flight, "e", MAX_SMALL_BYTES + 1).err(), Some(Busy));
    // A large body is so from its first piece on.
    let mut begun = in_flight.reservation(&scope("e", Mode::Test));
    assert_eq!(begun.read(1, MAX_BODY_BYTES), Err(Busy));
    let mut small: Vec<_> =
        (0..63).map(|_| read(&in_flight, "e", MAX_SMALL_BYTES).unwrap()).collect();
    // Its answer and record are what a small body became.
    small[0].resize(2 * MAX_SMALL_BYTES).unwrap();
    assert_eq!(in_flight.bytes(), MAX_BYTES_IN_FLIGHT);
    assert_eq!(read(&in_flight, "f", 1).err(), Some(Busy));
    drop((small, large));
    assert_eq!(in_flight.bytes(), 0);
}

// ---- The service -------------------------------------------------------------------------------

#[track_caller]
fn is_busy(answer: &Answer) {
    assert_eq!((answer.status, &*answer.headers["retry-after"]), (503, "1"));
}

/// A full isolate: each of four units of others holds a share.
fn fill(in_flight: &InFlight) -> Vec<Reservation<'_>> {
    let shares = ["a", "b", "c", "d"].map(|unit| {
        let mut reservation = in_flight.reservation(&scope(unit, Mode::Test));
        reservation.resize(6 * MIB).unwrap();
        reservation
    });
    shares.into()
}

#[test]
fn a_body_that_finds_no_room_is_answered_at_once() {
    let service = seeded();
    let held = fill(&service.caches.in_flight);
    let before = service.store.names();
    let answer = service.create(LIVE_UNIT, &minimal());
    is_busy(&answer);
    assert_eq!(answer.json()["isLive"], true);
    assert!(answer.json()["message"].to_string().contains("nothing was recorded"));
    assert_eq!(service.store.names(), before);
    drop(held);
    for _ in 0..1_000 {
        assert_eq!(service.create(LIVE_UNIT, &minimal()).status, 200);
        assert_eq!(service.caches.in_flight.bytes(), 0, "what ends gives back");
    }
}

fn page(service: &TestService<MemoryStore>, created: &Answer) -> Answer {
    let url = created.json()["timelineUrl"].as_str().unwrap().to_owned();
    service.send(&TestRequest::new("GET", url.strip_prefix(ORIGIN).unwrap(), ""))
}

/// The profile is read first, so that nothing of the record is held while it is awaited.
#[test]
fn a_page_whose_record_finds_no_room_is_a_page_that_says_so() {
    let service = seeded();
    let created = service.create(UNIT, &minimal());
    service.store.take_reads();
    let held = fill(&service.caches.in_flight);
    let busy = page(&service, &created);
    is_busy(&busy);
    assert!(busy.text.contains("<html"), "`{}`", busy.text);
    let reads = service.store.take_reads();
    assert!(reads[1].starts_with("profile:"), "{reads:?}");
    drop(held);
    assert_eq!(page(&service, &created).status, 200);
    assert_eq!(service.caches.in_flight.bytes(), 0);
}

/// How many bytes a record has is known before it is read; one that does not say it may have all.
#[test]
fn a_page_reserves_what_its_record_has() {
    let service = seeded();
    let created = service.create(UNIT, &minimal());
    let name = format!("transaction:{}", created.json()["id"].as_str().unwrap());
    let value = service.store.value(&name).unwrap();
    let mut metadata = service.store.metadata("transaction:").remove(0);
    assert_eq!(metadata["bytes"], value.len());
    let mut held = service.caches.in_flight.reservation(&scope("unit_dev", Mode::Test));
    held.resize(12 * MIB - value.len()).unwrap();
    assert_eq!(page(&service, &created).status, 200);
    metadata.as_object_mut().unwrap().remove("bytes");
    service.store.keep(&name, value.as_bytes(), metadata.to_string().as_bytes());
    is_busy(&page(&service, &created));
    drop(held);
    assert_eq!(page(&service, &created).status, 200);
}

/// Two payloads raced under one idempotency key: the one whose replay record was replaced is answered
/// from its transaction.
#[test]
fn a_repeat_whose_record_finds_no_room_is_to_come_again() {
    let service = seeded();
    let first = service.send(&repeatable(&minimal()));
    let replay = service.store.names().into_iter().find(|name| name.starts_with("idempotency:"));
    service.store.edit(&replay.unwrap(), |text| {
        let mut other: Value = serde_json::from_str(text).unwrap();
        other["id"] = "ptran_of_another_payload".into();
        other.to_string()
    });
    let isolate = service.isolate();
    let mut held = isolate.caches.in_flight.reservation(&scope("unit_dev", Mode::Test));
    let record = service.get(UNIT, first.json()["id"].as_str().unwrap()).text;
    held.resize(12 * MIB - record.len() + 1).unwrap();
    is_busy(&isolate.send(&repeatable(&minimal())));
    held.resize(12 * MIB - record.len()).unwrap();
    assert_eq!(isolate.send(&repeatable(&minimal())).text, first.text);
}

#[test]
fn a_body_that_comes_too_slowly_is_408() {
    let service = seeded();
    let slow = TestRequest {
        body: Err(BodyError::Slow),
        ..TestRequest::new("POST", PATH, UNIT).with_body(vec![])
    };
    let answer = service.send(&slow);
    assert_eq!((answer.status, &answer.json()["error"]), (408, &"Request timeout".into()));
    assert!(answer.json()["message"].to_string().contains("nothing was recorded"));
}
