//! Tests how many bytes of bodies and records an isolate may hold at once, in total and for each owner.

use impact_pledge::pledges::api::MAX_BODY_BYTES;
use impact_pledge::pledges::http::{
    BodyError, Busy, InFlight, MAX_BYTES_IN_FLIGHT, MAX_SMALL_BYTES, MIN_REQUEST_BYTES, Reservation,
};
use serde_json::Value;
use support::memory::MemoryStore;
use support::service::{
    Answer, LIVE_UNIT, ORIGIN, PATH, TestRequest, TestService, UNIT, minimal, repeatable, seeded,
};

const MIB: usize = 1024 * 1024;

/// Reserves this number of bytes, of a body or a record, for an owner.
fn read<'f>(in_flight: &'f InFlight, owner: &str, bytes: usize) -> Result<Reservation<'f>, Busy> {
    let mut reservation = in_flight.reservation(owner.to_owned());
    reservation.read(bytes, bytes).map(|()| reservation)
}

// ---- The rules -----------------------------------------------------------------------------------

#[test]
fn once_a_third_is_taken_an_owner_has_a_share() {
    let in_flight = InFlight::default();
    let first = read(&in_flight, "a", 8 * MIB).unwrap();
    assert_eq!(read(&in_flight, "a", 1).err(), Some(Busy));
    let mut other = read(&in_flight, "b", 6 * MIB).unwrap();
    assert_eq!(other.resize(6 * MIB + 1), Err(Busy));
    assert_eq!(read(&in_flight, "b", 1).err(), Some(Busy));
    // The largest create of a third owner still finds room.
    let third = read(&in_flight, "c", 6 * MIB).unwrap();
    drop((first, other, third));
    let _alone = read(&in_flight, "b", 8 * MIB).unwrap();
}

#[test]
fn a_request_counts_before_its_first_byte() {
    let in_flight = InFlight::default();
    let held: Vec<_> = (0..1_024).map(|_| read(&in_flight, "a", 0).unwrap()).collect();
    assert_eq!(in_flight.bytes(), held.len() * MIN_REQUEST_BYTES);
    assert_eq!(read(&in_flight, "a", 0).err(), Some(Busy));
    let _other = read(&in_flight, "b", 0).unwrap();
}

#[test]
fn large_requests_leave_room_for_small_ones_and_for_new_owners() {
    let in_flight = InFlight::default();
    let mut large: Vec<_> =
        ["a", "b", "c"].map(|owner| read(&in_flight, owner, 6 * MIB).unwrap()).into();
    // 18 MiB are held: an owner that holds bytes gets no more for large requests.
    large.extend(read(&in_flight, "d", MAX_SMALL_BYTES));
    assert_eq!(read(&in_flight, "d", MAX_SMALL_BYTES + 1).err(), Some(Busy));
    large.push(read(&in_flight, "e", 2 * MIB - MAX_SMALL_BYTES).unwrap());
    assert_eq!(read(&in_flight, "f", MAX_SMALL_BYTES + 1).err(), Some(Busy), "20 MiB are held");
    // A large body counts as large from its first piece.
    let mut begun = in_flight.reservation("f".to_owned());
    assert_eq!(begun.read(1, MAX_BODY_BYTES), Err(Busy));
    // Small requests get up to 22 MiB, and owners that hold nothing also the last 2 MiB.
    let small = || read(&in_flight, "d", MAX_SMALL_BYTES);
    let many: Vec<_> = std::iter::from_fn(|| small().ok()).collect();
    assert_eq!(in_flight.bytes(), 22 * MIB);
    let new: Vec<_> = (0..32)
        .map(|at| read(&in_flight, &format!("new {at}"), MAX_SMALL_BYTES).unwrap())
        .collect();
    assert_eq!(in_flight.bytes(), MAX_BYTES_IN_FLIGHT);
    assert_eq!(read(&in_flight, "one more", 0).err(), Some(Busy));
    drop((large, many, new));
    assert_eq!(in_flight.bytes(), 0);
}

/// A request with a small body may later need bytes for its record and its answer. The request counts as small
/// until it holds more than four times the maximum size of a small body.
#[test]
fn a_small_body_that_becomes_a_large_record_is_large() {
    let in_flight = InFlight::default();
    let _large: Vec<_> =
        ["a", "b", "c"].map(|owner| read(&in_flight, owner, 6 * MIB).unwrap()).into();
    let _new = read(&in_flight, "d", 2 * MIB).unwrap();
    let mut small = read(&in_flight, "e", MAX_SMALL_BYTES).unwrap();
    small.resize(4 * MAX_SMALL_BYTES).unwrap();
    assert_eq!(small.resize(4 * MAX_SMALL_BYTES + 1), Err(Busy));
}

/// One owner must leave enough room for another owner's largest create request. This must hold after any
/// sequence of requests, even if the first owner uses both live and test keys.
#[test]
fn no_two_owners_lock_out_a_third() {
    let mut random = 1_u64;
    let mut next = |below: usize| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(random >> 33).unwrap() % below
    };
    for _ in 0..200 {
        let in_flight = InFlight::default();
        let mut held = Vec::new();
        for _ in 0..500 {
            let owner = ["live team a", "test team a"][next(2)];
            let bytes = [1, 100, 4_097, MAX_SMALL_BYTES, MIB, 6 * MIB][next(6)];
            match next(3) {
                0 if !held.is_empty() => drop(held.swap_remove(next(held.len()))),
                _ => held.extend(read(&in_flight, owner, bytes)),
            }
        }
        assert!(in_flight.bytes() <= 14 * MIB, "{}", in_flight.bytes());
        assert!(read(&in_flight, "live unit b", 6 * MIB).is_ok());
    }
}

// ---- The service -------------------------------------------------------------------------------

#[track_caller]
fn is_busy(answer: &Answer) {
    assert_eq!((answer.status, &*answer.headers["retry-after"]), (503, "1"));
}

/// Reserves all bytes that the requests of an isolate may hold.
fn fill(in_flight: &InFlight) -> Vec<Reservation<'_>> {
    let small = |at| read(in_flight, &format!("small {at}"), MAX_SMALL_BYTES).unwrap();
    let large = ["a", "b", "c"].map(|owner| read(in_flight, owner, 6 * MIB).unwrap());
    large.into_iter().chain((0..96).map(small)).collect()
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

/// If an isolate has no room for a record, the service reads neither the record's value nor other records.
#[test]
fn a_page_without_room_for_its_record_says_so() {
    let service = seeded();
    let created = service.create(UNIT, &minimal());
    service.store.take_reads();
    let held = fill(&service.caches.in_flight);
    let busy = page(&service, &created);
    is_busy(&busy);
    assert!(busy.text.contains("<html"), "`{}`", busy.text);
    assert_eq!(service.store.take_reads().len(), 1);
    drop(held);
    assert_eq!(page(&service, &created).status, 200);
    assert_eq!(service.caches.in_flight.bytes(), 0);
}

/// The metadata states a record's size before the record is read.
#[test]
fn a_page_reserves_the_size_of_its_record() {
    let service = seeded();
    let created = service.create(UNIT, &minimal());
    let name = format!("transaction:{}", created.json()["id"].as_str().unwrap());
    let value = service.store.value(&name).unwrap();
    let mut metadata = service.store.metadata("transaction:").remove(0);
    assert_eq!(metadata["bytes"], value.len());
    let mut held = service.caches.in_flight.reservation("test page unit_dev".to_owned());
    held.resize(8 * MIB - value.len().max(MIN_REQUEST_BYTES)).unwrap();
    assert_eq!(page(&service, &created).status, 200);
    metadata["bytes"] = (3 * MIB).into();
    service.store.keep(&name, value.as_bytes(), metadata.to_string().as_bytes());
    is_busy(&page(&service, &created));
    drop(held);
    assert_eq!(page(&service, &created).status, 200);
}

/// Tests a retry after two payloads were sent with one idempotency key. The second payload has overwritten the
/// replay record of the first. A retry of the first payload is then answered from the stored transaction.
#[test]
fn a_retry_without_room_for_its_record_is_asked_to_retry_later() {
    let service = seeded();
    let first = service.send(&repeatable(&minimal()));
    let replay = service.store.names().into_iter().find(|name| name.starts_with("idempotency:"));
    service.store.edit(&replay.unwrap(), |text| {
        let mut other: Value = serde_json::from_str(text).unwrap();
        other["id"] = "ptran_of_another_payload".into();
        other.to_string()
    });
    let isolate = service.isolate();
    let mut held = isolate.caches.in_flight.reservation("test unit unit_dev".to_owned());
    let record = service.get(UNIT, first.json()["id"].as_str().unwrap()).text;
    held.resize(8 * MIB - record.len().max(MIN_REQUEST_BYTES) + 1).unwrap();
    is_busy(&isolate.send(&repeatable(&minimal())));
    held.resize(8 * MIB - record.len().max(MIN_REQUEST_BYTES)).unwrap();
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
