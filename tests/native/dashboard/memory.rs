//! Tests how many bytes all requests of one person may hold in the dashboard's memory.

use super::{OPERATOR, SUPPORT, TestDashboard, dashboard, posted};
use impact_pledge::office::shared::page::identity::Identity;
use impact_pledge::pledges::http::{BodyError, Reservation};
use support::service::{Answer, LIVE_UNIT, TestRequest, minimal, seeded};

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;
/// The minimum number of bytes that a request for a page reserves.
const PAGE: usize = 512 * KIB;

#[track_caller]
fn is_busy(answer: &Answer, text: &str) {
    assert_eq!((answer.status, &*answer.headers["retry-after"]), (503, "1"));
    assert!(answer.text.contains(text), "{}", answer.text);
}

/// Reserves bytes, as if other requests of this person held them.
fn hold<'d>(dashboard: &'d TestDashboard, person: &str, bytes: usize) -> Reservation<'d> {
    let mut held = dashboard.in_flight.reservation(person.to_owned());
    held.resize(bytes).unwrap();
    held
}

#[test]
fn a_person_who_holds_a_share_stops_no_one_elses_page() {
    let dashboard = dashboard(seeded());
    let held = hold(&dashboard, SUPPORT, 8 * MIB);
    is_busy(&dashboard.get(SUPPORT, "/"), "Nothing was changed");
    let added = dashboard.post_new(OPERATOR, "/units", &[("unit", "new-unit")]);
    assert_eq!(added.status, 200);
    drop(held);
    for _ in 0..100 {
        assert_eq!(dashboard.get(SUPPORT, "/").status, 200);
        assert_eq!(dashboard.in_flight.bytes(), 0, "a page gives back what it held");
    }
}

#[test]
fn a_record_is_reserved_before_it_is_read() {
    let dashboard = dashboard(seeded());
    let created = dashboard.service.create(LIVE_UNIT, &minimal());
    let id = created.json()["id"].as_str().unwrap().to_owned();
    let path = format!("/transactions/{id}");
    let name = format!("transaction:{id}");
    let mut metadata = dashboard.store().metadata("transaction:").remove(0);
    metadata["bytes"] = (2 * MIB).into();
    let value = dashboard.store().value(&name).unwrap();
    dashboard.store().keep(&name, value.as_bytes(), metadata.to_string().as_bytes());

    let mut held = hold(&dashboard, SUPPORT, 6 * MIB - PAGE + 1);
    is_busy(&dashboard.get(SUPPORT, &path), "may have been saved");
    held.resize(6 * MIB - PAGE).unwrap();
    assert_eq!(dashboard.get(SUPPORT, &path).status, 200);
    // A record whose metadata has no size counts as the largest.
    metadata.as_object_mut().unwrap().remove("bytes");
    dashboard.store().keep(&name, value.as_bytes(), metadata.to_string().as_bytes());
    is_busy(&dashboard.get(SUPPORT, &path), "may have been saved");
}

#[test]
fn a_form_has_64_kib_and_one_of_prices_3_mib() {
    let dashboard = dashboard(seeded());
    let form = |path, bytes: usize| posted(path, &[("text", &"x".repeat(bytes - "text=".len()))]);
    for (path, limit) in [("/find", 64 * KIB), ("/units", 64 * KIB), ("/prices", 3 * MIB)] {
        let status = |bytes| dashboard.send(&form(path, bytes), Identity::Address(OPERATOR)).status;
        assert_eq!((status(limit) == 413, status(limit + 1)), (false, 413), "{path}");
    }
}

#[test]
fn a_form_that_does_not_come_changes_nothing() {
    let dashboard = dashboard(seeded());
    let before = dashboard.store().names();
    for error in [BodyError::Broken, BodyError::Slow, BodyError::Busy] {
        let request = TestRequest { body: Err(error), ..posted("/units", &[]) };
        let answer = dashboard.send(&request, Identity::Address(OPERATOR));
        assert_eq!(answer.status, if error == BodyError::Busy { 503 } else { 400 });
        assert!(answer.text.contains("Nothing was changed"), "{}", answer.text);
    }
    assert_eq!(dashboard.store().names(), before);
}
