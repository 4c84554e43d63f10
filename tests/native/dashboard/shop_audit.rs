//! Tests the audit log as people of shops see it.

use super::members::{EVA, Shops, TEA, VIC, ZOE, shops};
use super::prices::assert_has;
use super::transaction::main_of;
use super::{OPERATOR, field};
use futures_executor::block_on;
use impact_pledge::office::audit::rule::{Author, Subject};
use support::service::unit;

/// Sends the form on a unit's page that adds a person to the unit.
fn add_person(shops: &Shops, by: &str, unit: &str, address: &str) {
    let path = format!("/units/{unit}/people");
    let page = shops.dashboard.get(by, &path).text;
    let operation = field(&page, "operation");
    let form = [("address", address), ("role", "viewer"), ("operation", &*operation)];
    assert_has(&shops.dashboard.post(by, &path, &form), 200, &[address]);
}

#[test]
fn a_shop_sees_its_own_changes_and_no_operator_and_no_other_shop() {
    let shops = shops();
    add_person(&shops, EVA, "north", "by-eva@north.example");
    add_person(&shops, OPERATOR, "north", "by-ada@north.example");
    add_person(&shops, ZOE, "south", "by-zoe@south.example");
    add_person(&shops, OPERATOR, "south", "also@south.example");
    for person in [EVA, VIC] {
        let page = shops.dashboard.get(person, "/audit");
        let eva = format!("<strong><bdi>{EVA}</bdi></strong> added a person of the unit ");
        let words = [
            "by-eva@north.example",
            "by-ada@north.example",
            &eva,
            "<strong><bdi>An operator</bdi></strong> created the unit ",
            "href=\"/units/north\"",
            "<a href=\"/audit\" aria-current=\"page\">Audit log</a>",
        ];
        assert_has(&page, 200, &words);
        for word in [OPERATOR, "south", ZOE, "chain-north", "Fulfilment", "Search older"] {
            assert!(!main_of(&page.text).contains(word), "{word}: {}", main_of(&page.text));
        }
    }
    let team = shops.dashboard.get(TEA, "/audit");
    assert_has(
        &team,
        200,
        &["of the team <a href=\"/teams/chain-north\">", "by-eva@north.example"],
    );
    assert!(!team.text.contains("south") && !team.text.contains(OPERATOR));
    assert_has(&shops.dashboard.get(OPERATOR, "/audit"), 200, &[OPERATOR, EVA, "south", "north"]);
}

#[test]
fn a_filter_of_another_shop_answers_as_one_of_no_shop() {
    let shops = shops();
    let main = |query: &str| {
        let page = shops.dashboard.get(EVA, &format!("/audit?{query}"));
        assert_eq!(page.status, 200, "{}", main_of(&page.text));
        main_of(&page.text).replace("south", "…").replace("nowhere", "…")
    };
    let (foreign, absent) = (main("shop=south"), main("shop=nowhere"));
    assert_eq!(foreign, absent);
    assert!(foreign.contains("No changes."), "{foreign}");
    assert!(main("shop=chain-north").contains("No changes."), "the team is not the person's");
    assert!(main("shop=north").contains("created the unit"));
    assert!(main("who=ada%40example.org").contains("No changes."), "no address of an operator");
    assert!(main("who=operator&what=units").contains("created the unit"));
    assert!(main("what=keys").contains("No changes."));
    assert!(main("to=2020-01-01").contains("No changes."));
    assert_eq!(shops.dashboard.get(EVA, "/audit?from=x").status, 422);
}

/// The page has the same bytes whether or not the other shop has entries in the audit log.
#[test]
fn the_changes_of_another_shop_leave_no_trace() {
    let shops = shops();
    let zoe = Author::new(ZOE, &shops.dashboard.clock, &shops.dashboard.entropy).unwrap();
    let zoe = zoe.with_shop(true);
    for _ in 0..300 {
        let subject = Subject::of(unit("south"), ["0123456789ab"]);
        block_on(zoe.record_subject(shops.dashboard.store(), "keys revoke", subject)).unwrap();
    }
    let pages = || {
        let pages = ["/audit", "/audit?shop=north", "/audit?who=an", "/audit?what=people"];
        pages.map(|path| {
            let page = shops.dashboard.get(EVA, path);
            assert_eq!(page.status, 200);
            page.text
        })
    };
    let with = pages();
    let store = shops.dashboard.store();
    for name in store.names().iter().filter(|name| name.starts_with("audit:")) {
        if store.value(name).unwrap().contains("south") {
            store.remove(name);
        }
    }
    assert_eq!(pages(), with);
}
