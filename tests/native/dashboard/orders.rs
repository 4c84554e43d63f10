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
    let parts = page
        .text
        .split("<th scope=\"row\" data-label=\"Transaction\"><a href=\"/transactions/")
        .skip(1);
    parts.map(|rest| rest.split_once('"').unwrap().0.to_owned()).collect()
}

/// Returns the address of a link to another page of the list.
pub fn link(page: &Answer, name: &str) -> Option<String> {
    let (before, _) = page.text.split_once(&format!(">{name}</a>"))?;
    let (_, address) = before.rsplit_once("href=\"")?;
    Some(address.trim_end_matches('"').replace("&amp;", "&"))
}

#[test]
fn the_newest_orders_are_25_a_page_in_both_directions() {
    let (test_dashboard, mut all) = listed(60);
    all.reverse();
    let first = test_dashboard.get(SUPPORT, "/orders");
    assert_eq!((ids(&first), link(&first, "← Newer")), (all[..25].to_vec(), None));
    let older = link(&first, "Older →").unwrap();
    let second = test_dashboard.get(SUPPORT, &older);
    assert_eq!(ids(&second), all[25..50]);
    let third = test_dashboard.get(SUPPORT, &link(&second, "Older →").unwrap());
    assert_eq!((ids(&third), link(&third, "Older →")), (all[50..].to_vec(), None));
    test_dashboard.service.clock.0.set(NOW_MS);
    let new = test_dashboard.make(LIVE_UNIT, &minimal());
    test_dashboard.reconcile();
    assert_eq!(ids(&test_dashboard.get(SUPPORT, &older)), all[25..50], "a page can be shared");
    let back = test_dashboard.get(SUPPORT, &link(&third, "← Newer").unwrap());
    assert_eq!(ids(&back), all[25..50]);
    let back = test_dashboard.get(SUPPORT, &link(&back, "← Newer").unwrap());
    assert_eq!(ids(&back), all[..25]);
    assert_eq!(ids(&test_dashboard.get(SUPPORT, &link(&back, "← Newer").unwrap())), [new]);
    assert_eq!(link(&back, "Newest").unwrap(), "/orders");
    let hundred = test_dashboard.get(SUPPORT, &link(&first, "100 rows").unwrap());
    assert_eq!(ids(&hundred).len(), 61);
    let fifty = test_dashboard.get(SUPPORT, "/orders?rows=50&mode=live");
    assert_eq!(ids(&fifty).len(), 50);
    assert!(link(&fifty, "Older →").unwrap().contains("mode=live&rows=50"), "the size is kept");
    assert_eq!(ids(&test_dashboard.get(SUPPORT, "/orders?rows=9999")).len(), 25);
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
        ("state=unpriced", vec![&free]),
        ("month=2026-01&mode=live", vec![&live, &free]),
        ("month=2025-12", vec![]),
        ("from=2026-01-31&to=2026-01-31&mode=test", vec![&test, &other]),
        ("from=2026-02-01", vec![]),
        ("to=2026-01-30", vec![]),
        ("state=unpriced&key=nothing", vec![]),
        ("state=unpaid&mode=live", vec![&live, &free]),
        ("state=paid", vec![]),
        ("unit=unit_dev&least=0.01", vec![&test, &live]),
        ("unit=unit_dev&most=0", vec![&free]),
        ("from=2026-01-01&to=2026-01-31&most=0", vec![&free]),
        ("month=2026-01&most=0", vec![&free]),
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
        ("state=lost", 422),
        ("from=2026-02-30", 422),
        ("from=2026-02-02&to=2026-02-01", 422),
        ("to=tomorrow", 422),
        ("least=1.005", 422),
        ("least=-1&unit=unit_dev", 422),
        ("most=%3Cscript%3E&unit=unit_dev", 422),
        ("least=2&most=1&unit=unit_dev", 422),
        ("least=1e999999999&unit=unit_dev", 422),
        ("q=forged", 422),
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
        for text in ["order-7 &lt;script", "3 × tree, 1,000.3 × reef"] {
            assert!(page.contains(text), "{person}: {text}: {page}");
        }
        assert!(page.contains(&format!("{unread}1.")), "{person}");
        // The records and the unit names; and whether an e-mail without a delivery result is known to have failed.
        let reads = if person == ACCOUNTS { 2 } else { 4 };
        assert_eq!(test_dashboard.store().take_reads().len(), reads, "{person}");
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

/// A list of all units by charge reads every transaction between its dates, so they must be near each other.
#[test]
fn all_units_are_filtered_by_charge_for_at_most_31_days() {
    let (test_dashboard, all) = listed(1);
    for (query, is_shown) in [
        ("least=1", false),
        ("least=1&from=2026-01-01&to=2026-02-01", false),
        ("most=9&from=2026-01-02&to=2026-02-01", true),
        ("most=9&month=2026-01", true),
        ("most=9&unit=unit_dev", true),
        ("most=9&state=unpaid", false),
    ] {
        let page = test_dashboard.get(SUPPORT, &format!("/orders?{query}"));
        match is_shown {
            true => assert_eq!(ids(&page), all, "{query}"),
            false => {
                assert_eq!(page.status, 422, "{query}");
                assert!(
                    page.text.contains("at most 31 days apart")
                        && page.text.contains("href=\"#from\"")
                );
            }
        }
    }
}

/// The form keeps the order number out of the address: only the person who searched can open it.
#[test]
fn a_list_is_filtered_by_an_order_number_that_its_address_does_not_show() {
    let test_dashboard = test_dashboard();
    let made = |key: &str, reference: &str| {
        let mut order = minimal();
        order["reference"] = json!(reference);
        test_dashboard.make(key, &order)
    };
    let mut wanted = [
        made(UNIT, "#1053"),
        made(LIVE_UNIT, "1053"),
        made("service_sk_test_dev_unit_two", " 1053"),
    ];
    made(UNIT, "1054");
    test_dashboard.reconcile();
    let filter = |person, fields: &[(&str, &str)]| test_dashboard.post(person, "/orders", fields);
    let sent = filter(SUPPORT, &[("number", "# 1053"), ("mode", ""), ("from", "2026-01-01")]);
    assert_eq!(sent.status, 303, "{}", main_of(&sent.text));
    let address = &sent.headers["location"];
    assert!(
        address.starts_with("/orders?from=2026-01-01&q=") && !address.contains("1053"),
        "{address}"
    );
    let page = test_dashboard.get(SUPPORT, address);
    let mut found = ids(&page);
    found.sort();
    wanted.sort();
    assert_eq!(found, wanted);
    assert!(
        page.text.contains("with the order number")
            && page.text.contains("name=\"number\" value=\"# 1053\"")
    );
    let other = test_dashboard.get(OPERATOR, address);
    assert_eq!(other.status, 422, "another person");
    assert!(!other.text.contains("1053"), "{}", main_of(&other.text));
    let plain =
        filter(SUPPORT, &[("number", ""), ("state", "paid"), ("unit", "unit_dev"), ("rows", "50")]);
    assert_eq!(plain.headers["location"], "/orders?unit=unit_dev&state=paid&rows=50");
    for wrong in [[("from", "x"), ("number", "1")], [("from", ""), ("number", &*"9".repeat(2_000))]]
    {
        let refused = filter(SUPPORT, &wrong);
        assert_eq!(refused.status, 422);
        assert_inert(&refused.text);
    }
}

/// Who may not see a recipient's page sees neither buyers nor what became of their e-mails.
#[test]
fn a_list_shows_failed_notifications_and_masked_buyers_to_those_who_may_see_them() {
    let test_dashboard = test_dashboard();
    let [failed, sent, unsent, resent, dismissed, plain] =
        [0; 6].map(|_| test_dashboard.make(LIVE_UNIT, &order()));
    let quiet = test_dashboard.make(LIVE_UNIT, &minimal());
    test_dashboard.reconcile();
    let store = test_dashboard.store();
    let marker = |id: &str, state: &str, round: u32| {
        let marker = json!({ "state": state, "round": round, "attempts": 3, "at": "2026-01-31T12:00:00Z",
            "reason": "E_X" });
        store.keep(&format!("notification:{id}"), marker.to_string().as_bytes(), b"null");
    };
    for id in [&failed, &unsent, &resent] {
        store.keep(&format!("mail-failed:2026-01-31:{id}"), b"", b"null");
    }
    marker(&failed, "failed", 1);
    marker(&sent, "sent", 1);
    marker(&resent, "sent", 2);
    marker(&dismissed, "failed", 1); // a dismissal removes it from the list of failures
    let mut wanted = vec![failed.clone(), unsent.clone()];
    wanted.sort();
    for person in [OPERATOR, SUPPORT] {
        let all = test_dashboard.get(person, "/orders").text;
        let row = |id: &str| all.split("<tr>").find(|row| row.contains(id)).unwrap_or_default();
        for id in [&failed, &sent, &unsent, &resent, &dismissed, &plain, &quiet] {
            assert_eq!(row(id).contains(">Failed</span>"), wanted.contains(id), "{}", row(id));
        }
        assert!(row(&failed).contains("c…@e…") && !all.contains("canary@"));
        let mut found = ids(&test_dashboard.get(person, "/orders?state=failed"));
        found.sort();
        assert_eq!(found, wanted, "{person}");
        let elsewhere = test_dashboard.get(person, "/orders?state=failed&unit=unit_dev_two");
        assert_eq!(ids(&elsewhere), [""; 0]);
    }
    let page = test_dashboard.get(ACCOUNTS, "/orders").text;
    assert!(!page.contains(">Failed</span>") && !page.contains("c…@e…") && !page.contains("Buyer"));
    assert_eq!(test_dashboard.get(ACCOUNTS, "/orders?state=failed").status, 403);
    assert_eq!(test_dashboard.get(ACCOUNTS, "/orders.csv?state=failed").status, 403);
}

#[test]
fn a_file_has_what_the_list_shows_and_starts_no_formula() {
    let test_dashboard = test_dashboard();
    let mut hostile = order();
    hostile["reference"] = json!("=cmd|' /C calc'!A0");
    let id = test_dashboard.make(LIVE_UNIT, &hostile);
    let other = test_dashboard.make(UNIT, &minimal());
    test_dashboard.name_units(&[("unit_dev", "North, wind")]);
    let file = |person, query: &str| test_dashboard.get(person, &format!("/orders.csv{query}"));
    let whole = file(SUPPORT, "");
    assert_eq!(whole.headers["content-type"], "text/csv; charset=utf-8");
    let head = "\u{feff}id,reference,pledged,buyer,created,unit,name,mode,net_amount,charge,credited,currency,state\r\n";
    assert!(whole.text.starts_with(head), "{}", whole.text);
    assert!(whole.text.contains(&id) && whole.text.contains(&other));
    assert!(whole.text.contains(",'=cmd") || whole.text.contains("\"'=cmd"), "{}", whole.text);
    assert!(whole.text.contains("\"North, wind\",live,1.50,1.50,,USD,"), "{}", whole.text);
    assert!(whole.text.contains(",test,") && whole.text.contains(",Test"), "{}", whole.text);
    let live = file(SUPPORT, "?mode=live").text;
    assert!(live.contains(&id) && !live.contains(&other) && live.contains("c…@e…"));
    let accounts = file(ACCOUNTS, "?mode=live").text;
    assert!(!accounts.contains("c…@e…") && !accounts.contains("buyer"), "{accounts}");
    assert_eq!(file(SUPPORT, "?from=x").status, 422);
    test_dashboard.store().set_failing(Some("transaction:"));
    let refused = file(SUPPORT, "");
    assert_eq!(refused.status, 422);
    assert!(refused.text.contains("the file would not be complete"), "{}", main_of(&refused.text));
}
