//! Tests that the copy of a removed row is a tombstone, which counts as no record wherever copies are read.

use futures_executor::block_on;
use impact_pledge::office::audit::rule::Author;
use impact_pledge::office::prices::rule as prices;
use impact_pledge::office::shops::rule::{teams, units};
use impact_pledge::office::system::rule::publish::{Republished, republish};
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::store::{ConnectionKey, Key, MemberKey, PriceListKey, present};
use serde_json::{Value, json};
use std::cell::Cell;
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::{
    CountedEntropy, FixedClock, NOW_MS, PATH, TEAM, TestRequest, TestService, UNIT, minimal, seeded,
};

const MINUTE: u64 = 60_000;
const MEMBER: &str = "member:team_dev:unit_dev";
const LIST: &str = "catalogue:test:unit_dev";
const PROFILE: &str = "profile:unit_dev";
const NAMES: [&str; 3] = [MEMBER, LIST, PROFILE];
const TOMBSTONE: &str =
    r#"{"removed":true,"change":"","by":"ada","at":"2026-01-31T12:00:00.000Z"}"#;

/// A service whose unit is in a team, has a price list of its own and a profile, and the office that removes them.
struct Place {
    service: TestService<MemoryStore>,
    ledger: SqliteLedger,
    clock: FixedClock,
    entropy: CountedEntropy,
}

impl Place {
    fn new() -> Self {
        let service = seeded();
        let list = br#"{"currencyCode":"EUR","unitPrices":{"tree":"2"}}"#;
        service.store.keep(LIST, list, b"null");
        service.store.keep(PROFILE, br#"{"name":"Nordwald"}"#, b"null");
        service.store.keep(
            MEMBER,
            br#"{"by":"ada","created":"2026-01-01T00:00:00.000Z"}"#,
            b"null",
        );
        let ledger = SqliteLedger::default();
        ledger.reconcile(&*service.store, NOW_MS);
        let (clock, entropy) = (FixedClock(Cell::new(NOW_MS)), CountedEntropy::default());
        Place { service, ledger, clock, entropy }
    }

    fn author(&self) -> Author<'_, FixedClock, CountedEntropy> {
        Author::new("bob@example.org", &self.clock, &self.entropy).unwrap()
    }

    fn remove_all(&self) {
        let (store, ledger, author) = (&*self.service.store, &self.ledger, self.author());
        let own = ["unit_dev".to_owned()];
        block_on(teams::remove(store, ledger, &author, "team_dev", &own)).unwrap();
        let of = (Mode::Test, "unit_dev");
        block_on(prices::remove(store, ledger, &author, of, None)).unwrap();
        block_on(units::remove(store, ledger, &author, "unit_dev")).unwrap();
    }

    /// Returns what a caller, a buyer and an operator get of the three records: status of the team's create, charge of the
    /// unit's create, title of the timeline, units of the team, units with a price list, name of the unit.
    fn seen(&self) -> [String; 6] {
        let (isolate, store) = (self.service.isolate(), &*self.service.store);
        let body = minimal().to_string().into_bytes();
        let by_team = TestRequest::new("POST", PATH, TEAM).with_body(body);
        let by_team = isolate.send(&by_team.with_header("x-service-unit-id", "unit_dev")).status;
        let created = isolate.create(UNIT, &minimal()).json();
        let page = created["timelineUrl"].as_str().unwrap();
        let path = page.split_once("/timeline/").map(|(_, rest)| format!("/timeline/{rest}"));
        let page = isolate.send(&TestRequest::new("GET", &path.unwrap(), "")).text;
        let team = block_on(teams::get(store, "team_dev")).unwrap().units;
        let (lists, _) = block_on(prices::units(store, Mode::Test, 9)).unwrap();
        let unit = block_on(units::get(store, "unit_dev")).unwrap();
        [
            by_team.to_string(),
            format!("{} {}", created["charge"]["amount"], created["charge"]["currencyCode"]),
            if page.contains("Nordwald") { "Nordwald" } else { "no profile" }.to_owned(),
            team.contains(&"unit_dev".to_owned()).to_string(),
            lists.len().to_string(),
            unit.is_some().to_string(),
        ]
    }
}

#[test]
fn a_removed_record_is_a_tombstone_that_nobody_takes_for_a_record() {
    let place = Place::new();
    let with = place.seen();
    assert_eq!(
        with.each_ref().map(|text| &**text),
        ["200", "\"6.00\" \"EUR\"", "Nordwald", "true", "1", "true"]
    );
    place.remove_all();
    for name in NAMES {
        let value: Value = serde_json::from_str(&place.service.store.value(name).unwrap()).unwrap();
        assert_eq!((&value["removed"], &value["by"]), (&json!(true), &json!("bob@example.org")));
        let metadata = place.service.store.metadata(name).remove(0);
        assert_eq!(metadata, json!({ "removed": true, "change": value["change"] }));
    }
    let without = place.seen();
    assert_eq!(
        without.each_ref().map(|text| &**text),
        ["401", "\"1.50\" \"USD\"", "no profile", "false", "0", "false"]
    );
    assert!(
        block_on(units::list(&*place.service.store, 99))
            .unwrap()
            .0
            .iter()
            .all(|row| row.profile.is_none())
    );
}

/// KV may not show a write for a while, or show the copy of before a removal again.
#[test]
fn a_tombstone_that_is_missing_or_was_replaced_is_written_again() {
    let place = Place::new();
    place.remove_all();
    let store = &*place.service.store;
    let tombstones = NAMES.map(|name| store.value(name).unwrap());
    store.remove(MEMBER);
    store.keep(LIST, br#"{"currencyCode":"EUR","unitPrices":{"tree":"2"}}"#, b"null");
    let run = || block_on(republish(store, &place.ledger, &place.clock, 10)).unwrap();
    place.clock.0.set(NOW_MS + 6 * MINUTE);
    assert_eq!(run(), Republished { confirmed: 2, written: 2, unknown: 0 });
    assert_eq!(NAMES.map(|name| store.value(name).unwrap()), tombstones);
    assert_eq!(run(), Republished { confirmed: 2, written: 0, unknown: 0 });
    assert_eq!(run(), Republished::default());
}

#[test]
fn only_the_copy_of_a_row_can_be_a_tombstone() {
    let value = || TOMBSTONE.as_bytes().to_vec();
    assert_eq!(present::<MemberKey<'_>>(value()), None);
    assert_eq!(present::<ConnectionKey>(value()), None);
    assert_eq!(present::<PriceListKey<'_>>(value()), None);
    struct Other;
    impl Key for Other {
        type Metadata = impact_pledge::pledges::store::NoMetadata;
        const KIND: &'static str = "other";
        const PREFIX: &'static str = "other:";
        fn suffix(&self) -> std::borrow::Cow<'_, str> {
            "".into()
        }
    }
    assert_eq!(present::<Other>(value()), Some(value()));
    for other in ["", "{}", r#"{"removed":false,"by":""}"#, r#"{"by":"ada","removed":true}"#] {
        assert!(present::<MemberKey<'_>>(other.as_bytes().to_vec()).is_some(), "{other}");
    }
}
