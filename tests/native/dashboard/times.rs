//! Tests the times on pages: in UTC, or in the time zone of the page's shop.

use super::members::{EVA, shops};
use super::transaction::test_dashboard;
use super::{OPERATOR, SUPPORT};
use impact_pledge::pledges::time::parse_ms;
use serde_json::json;
use support::service::{UNIT, minimal};

#[test]
fn a_transaction_has_the_time_of_its_shop_and_other_pages_have_utc() {
    let test_dashboard = test_dashboard();
    let id = test_dashboard.make(UNIT, &minimal());
    test_dashboard.reconcile();
    let page = || test_dashboard.get(SUPPORT, &format!("/transactions/{id}")).text;
    let created = |words: &str| {
        format!(
            "<dt>Created</dt><dd><time datetime=\"2026-01-31T12:00:00.123Z\">{words}</time></dd>"
        )
    };
    for (zone, words) in [
        (Some("Europe/Berlin"), "31 Jan 2026, 13:00 (Europe/Berlin)"),
        (Some("Mars/Base"), "31 Jan 2026, 12:00 UTC"),
        (None, "31 Jan 2026, 12:00 UTC"),
    ] {
        let profile = json!({ "name": "Nord", "timeZone": zone }).to_string();
        test_dashboard.store().keep("profile:unit_dev", profile.as_bytes(), b"null");
        assert!(page().contains(&created(words)), "{zone:?}: {}", page());
        let list = test_dashboard.get(OPERATOR, "/orders").text;
        assert!(list.contains(">31 Jan 2026, 12:00 UTC</time>"), "{list}");
    }
    test_dashboard.store().set_failing(Some("profile:"));
    let page = page();
    assert!(page.contains("31 Jan 2026, 12:00 UTC") || page.contains("Workers KV"), "{page}");
    let usage = test_dashboard.get(OPERATOR, "/payments").text;
    assert!(usage.contains("Month (UTC)"), "{usage}");
}

/// On the last Sunday of October, clocks in Berlin show the hour from 2:00 to 3:00 twice.
#[test]
fn a_time_that_local_clocks_show_twice_has_its_offset() {
    let test_dashboard = test_dashboard();
    let profile = json!({ "name": "Nord", "timeZone": "Europe/Berlin" }).to_string();
    test_dashboard.store().keep("profile:unit_dev", profile.as_bytes(), b"null");
    for (utc, words) in [
        ("2026-03-29T00:30:00.000Z", "29 Mar 2026, 01:30 (Europe/Berlin)"),
        ("2026-03-29T01:30:00.000Z", "29 Mar 2026, 03:30 (Europe/Berlin)"),
        ("2026-10-24T23:59:00.000Z", "25 Oct 2026, 01:59 (Europe/Berlin)"),
        ("2026-10-25T00:00:00.000Z", "25 Oct 2026, 02:00 UTC+02:00 (Europe/Berlin)"),
        ("2026-10-25T00:59:00.000Z", "25 Oct 2026, 02:59 UTC+02:00 (Europe/Berlin)"),
        ("2026-10-25T01:00:00.000Z", "25 Oct 2026, 02:00 UTC+01:00 (Europe/Berlin)"),
        ("2026-10-25T02:00:00.000Z", "25 Oct 2026, 03:00 (Europe/Berlin)"),
    ] {
        test_dashboard.service.clock.0.set(parse_ms(utc).unwrap());
        test_dashboard.clock.0.set(parse_ms(utc).unwrap());
        let id = test_dashboard.make(UNIT, &minimal());
        test_dashboard.reconcile();
        let page = test_dashboard.get(SUPPORT, &format!("/transactions/{id}")).text;
        let created = format!("<dt>Created</dt><dd><time datetime=\"{utc}\">{words}</time></dd>");
        assert!(page.contains(&created), "{utc}: {page}");
    }
}

/// Returns the texts of the tables on a page.
fn tables(page: &str) -> String {
    page.split("<table>").skip(1).filter_map(|rest| rest.split("</table>").next()).collect()
}

#[test]
fn a_list_of_one_unit_has_the_times_of_the_unit_and_names_the_zone_once() {
    let shops = shops();
    let dashboard = &shops.dashboard;
    let set = |unit: &str, zone: Option<&str>| {
        let profile = json!({ "name": "North", "timeZone": zone }).to_string();
        dashboard.store().keep(&format!("profile:{unit}"), profile.as_bytes(), b"null");
    };
    set("south", Some("Asia/Tokyo"));
    shops.make_again(); // the only result would be opened
    let transaction = format!("/transactions/{}", shops.ids[0]);
    let found =
        dashboard.post(EVA, "/find", &[("text", "order-of-north")]).headers["location"].clone();
    let pages = [
        (EVA, "/", "Created"),
        (EVA, "/orders", "Created"),
        (OPERATOR, "/orders?unit=north", "Created"),
        (EVA, &*found, "Created"),
        (EVA, "/units/north", "Created"),
        (EVA, "/units/north/people", "Added"),
        (EVA, "/audit", "Time"),
        (OPERATOR, "/audit?shop=north", "Time"),
    ];
    for (zone, name) in
        [(Some("Europe/Berlin"), " (Europe/Berlin)"), (Some("Mars/Base"), ""), (None, "")]
    {
        set("north", zone);
        for (person, path, heading) in pages {
            let page = tables(&dashboard.get(person, path).text);
            let is_local = !name.is_empty();
            assert!(page.contains(&format!(">{heading}{name}</th>")), "{path}: {page}");
            let hour =
                if path == "/units/north" { "1 Jan 2026, 01:00" } else { "31 Jan 2026, 13:00" };
            assert_eq!(page.contains(&format!(">{hour}</time>")), is_local, "{path}: {page}");
            assert_eq!(page.contains(" UTC</time>"), !is_local, "{path}: {page}");
        }
        let page = dashboard.get(EVA, &transaction).text;
        assert_eq!(page.contains("31 Jan 2026, 13:00 (Europe/Berlin)"), !name.is_empty(), "{page}");
    }
    for path in ["/orders", "/units"] {
        assert!(!tables(&dashboard.get(OPERATOR, path).text).contains("Berlin"), "of all units");
    }
    for path in ["/orders?unit=south", "/audit?shop=south", "/find?unit=south"] {
        let page = dashboard.get(EVA, path).text;
        assert!(!page.contains("Tokyo"), "the zone of another shop: {page}");
    }
}
