//! Tests lists of transactions.

use super::transaction::{assert_inert, main_of, order, test_dashboard};
use super::{ACCOUNTS, OPERATOR, SUPPORT, TestDashboard};
use impact_pledge::pledges::auth::ApiKey;
use serde_json::json;
use support::service::{Answer, LIVE_UNIT, NOW_MS, UNIT, minimal};

/// Returns a dashboard with `count` transactions of the live unit, one second apart, and their IDs, oldest first.
fn listed(count: u64) -> (TestDashboard, Vec<String>) {
    let test_dashboard = test_dashboard();
    let ids = (0..count).map(|number| {
        test_dashboard.service.clock.0.set(NOW_MS - (count - number) * 1_000);
        test_dashboard.make(LIVE_UNIT, &minimal())
    });
    let ids = ids.collect();
    test_dashboard.reconcile();
    (test_dashboard, ids)
}

/// Returns the IDs on a page, in order.
fn ids(page: &Answer) -> Vec<String> {
    assert_eq!(page.status, 200, "{}", page.text);
    assert_inert(&page.text);
    let parts = page.text.split("<a class=\"reference\" href=\"/transactions/").skip(1);
    parts.map(|rest| rest.split_once('"').unwrap().0.to_owned()).collect()
}

/// Returns the address of a link to another page of the list.
pub fn link(page: &Answer, name: &str) -> Option<String> {
    let (before, _) = page.text.split_once(&format!(">{name}</a>"))?;
    let (_, address) = before.rsplit_once("href=\"")?;
    Some(address.trim_end_matches('"').replace("&amp;", "&"))
}

#[test]
fn the_newest_orders_are_fifty_a_page_in_both_directions() {
    let (test_dashboard, mut all) = listed(120);
    all.reverse();
    let first = test_dashboard.get(SUPPORT, "/orders");
    assert_eq!((ids(&first), link(&first, "← Newer")), (all[..50].to_vec(), None));
    let older = link(&first, "Older →").unwrap();
    let second = test_dashboard.get(SUPPORT, &older);
    assert_eq!(ids(&second), all[50..100]);
    let third = test_dashboard.get(SUPPORT, &link(&second, "Older →").unwrap());
    assert_eq!((ids(&third), link(&third, "Older →")), (all[100..].to_vec(), None));
    test_dashboard.service.clock.0.set(NOW_MS);
    let new = test_dashboard.make(LIVE_UNIT, &minimal());
    test_dashboard.reconcile();
    assert_eq!(ids(&test_dashboard.get(SUPPORT, &older)), all[50..100], "a page can be shared");
    let back = test_dashboard.get(SUPPORT, &link(&third, "← Newer").unwrap());
    assert_eq!(ids(&back), all[50..100]);
    let back = test_dashboard.get(SUPPORT, &link(&back, "← Newer").unwrap());
    assert_eq!(ids(&back), all[..50]);
    assert_eq!(ids(&test_dashboard.get(SUPPORT, &link(&back, "← Newer").unwrap())), [new]);
    assert_eq!(link(&back, "Newest").unwrap(), "/orders");
    for page in [&first, &second] {
        assert!(page.text.contains("Complete up to") && !page.text.contains("ada@example.org"));
    }
}

#[test]
fn a_list_is_of_a_unit_a_key_a_mode_a_month_or_of_what_has_no_price() {
    let test_dashboard = test_dashboard();
    let (test, live) =
        (test_dashboard.make(UNIT, &minimal()), test_dashboard.make(LIVE_UNIT, &minimal()));
    let mut free = minimal();
    free["pledges"][0]["impact"]["offeringId"] = json!("new");
    let free = test_dashboard.make(LIVE_UNIT, &free);
    let other = test_dashboard.make("service_sk_test_dev_unit_two", &minimal());
    test_dashboard.reconcile();
    let key = ApiKey::new(LIVE_UNIT).hash().id();
    for (query, expected) in [
        ("", vec![&test, &live, &free, &other]),
        ("unit=unit_dev", vec![&test, &live, &free]),
        ("unit=unit_dev&mode=test", vec![&test]),
        (&format!("key={key}"), vec![&live, &free]),
        ("unpriced=yes", vec![&free]),
        ("month=2026-01&mode=live", vec![&live, &free]),
        ("month=2025-12", vec![]),
        ("since=2026-02-01T00:00:00Z", vec![]),
        ("unit=no-such-unit", vec![]),
    ] {
        let page = test_dashboard.get(OPERATOR, &format!("/orders?{query}"));
        let mut found = ids(&page);
        found.sort();
        let mut expected: Vec<_> = expected.into_iter().cloned().collect();
        expected.sort();
        assert_eq!(found, expected, "{query}");
        let marked = page.text.matches("Unpriced: 1").count();
        assert_eq!(marked, usize::from(expected.contains(&free)), "{query}");
    }
    let page = test_dashboard.get(OPERATOR, "/orders?unit=unit_dev");
    assert!(page.text.contains("name=\"unit\" value=\"unit_dev\""), "the filter is shown again");
    let unit = test_dashboard.get(OPERATOR, "/units/unit_dev").text;
    assert!(unit.contains("href=\"/orders?unit=unit_dev\""), "{unit}");
    for person in [OPERATOR, SUPPORT, ACCOUNTS] {
        let page = test_dashboard.get(person, "/orders").text;
        assert!(page.contains("href=\"/transactions/"), "{person}");
        assert!(test_dashboard.get(person, "/").text.contains("href=\"/orders\""));
    }
}

#[test]
fn a_place_that_was_tampered_with_is_refused() {
    let (test_dashboard, all) = listed(1);
    let id = &all[0];
    for (query, status) in [
        ("older=x", 422),
        ("newer=1-ptran_", 422),
        ("older=%3Cscript%3E", 422),
        ("older=-1-ptran_x", 422),
        (&*format!("older=99999999999999999999-{id}"), 422),
        (&format!("older=18446744073709551615-{id}"), 200),
        (&format!("newer=0-{id}"), 200),
        (&format!("older=0-{id}"), 200),
        ("month=2026-13", 422),
        ("mode=dead", 422),
        ("since=yesterday", 422),
        ("unit=a%20b", 422),
        ("month=0000-01", 422),
        ("key=%3Cscript%3E&month=1970-01", 200),
    ] {
        let page = test_dashboard.get(SUPPORT, &format!("/orders?{query}"));
        assert_eq!(page.status, status, "{query}: {}", page.text);
        assert_inert(&page.text);
        assert!(!page.text.contains("<script"), "{query}");
    }
}

#[test]
fn a_list_shows_references_and_pledges() {
    let test_dashboard = test_dashboard();
    let id = test_dashboard.make(UNIT, &order());
    let damaged = test_dashboard.make(UNIT, &minimal());
    test_dashboard.reconcile();
    test_dashboard.store().edit(&format!("transaction:{damaged}"), |_| "damaged".to_owned());
    let unread = "Number of these records: ";
    for person in [OPERATOR, SUPPORT, ACCOUNTS] {
        test_dashboard.store().take_reads();
        let page = test_dashboard.get(person, "/orders").text;
        assert_inert(&page);
        for text in ["order-7 &lt;script", "3 × <bdi>tree</bdi>, 1,000.3 × <bdi>reef"] {
            assert!(page.contains(text), "{person}: {text}: {page}");
        }
        assert!(page.contains(&format!("{unread}1.")), "{person}");
        assert_eq!(test_dashboard.store().take_reads().len(), 2);
        assert!(page.contains(&id) && page.contains(&damaged) && !page.contains("canary"));
    }
    test_dashboard.store().set_failing(Some("transaction:"));
    let page = test_dashboard.get(SUPPORT, "/orders");
    assert_eq!(page.status, 200);
    assert!(page.text.contains(&format!("{unread}2.")) && page.text.contains(&id));
}

/// Lists of several units call each by its name. Names that two of these units share, and missing names, are IDs.
#[test]
fn lists_of_all_units_show_the_names_of_the_units() {
    let test_dashboard = test_dashboard();
    for key in [UNIT, "service_sk_test_dev_unit_two"] {
        test_dashboard.make(key, &order());
    }
    let link = |unit: &str, name: &str| {
        let title = if unit == name { String::new() } else { format!(" title=\"{unit}\"") };
        format!("<a href=\"/units/{unit}\"{title}><bdi>{name}</bdi></a>")
    };
    for (names, shown) in [
        (["Northwind", "<b>Süd"], ["Northwind", "&lt;b&gt;Süd"]),
        (["Northwind", ""], ["Northwind", "unit_dev_two"]),
        (["Northwind", "Northwind"], ["unit_dev", "unit_dev_two"]),
    ] {
        test_dashboard.name_units(&[("unit_dev", names[0]), ("unit_dev_two", names[1])]);
        let page = test_dashboard.get(OPERATOR, "/orders").text;
        for (unit, name) in ["unit_dev", "unit_dev_two"].into_iter().zip(shown) {
            assert!(page.contains(&link(unit, name)), "{name}: {}", main_of(&page));
        }
        let of_unit = test_dashboard.get(OPERATOR, "/orders?unit=unit_dev").text;
        assert!(!main_of(&of_unit).contains("Northwind"), "the unit stands above the list");
    }
}
