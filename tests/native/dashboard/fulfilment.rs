//! Tests the dashboard's page that shows what was pledged in a month, and what was done for the pledges.

use super::prices::assert_has;
use super::transaction::main_of;
use super::usage::rows;
use super::{ACCOUNTS, OPERATOR, SUPPORT, TestDashboard, dashboard, field};
use impact_pledge::pledges::scope::Mode;
use serde_json::json;
use support::service::{Answer, LIVE_UNIT, key_record, minimal, put_key, seeded, unit};

const PAGE: &str = "/fulfilment?mode=live&month=2026-01";

/// Returns a dashboard with pledges of 12 trees in January, and of 3 trees in December.
fn pledged() -> TestDashboard {
    let dashboard = dashboard(seeded());
    let now_ms = dashboard.clock.0.get();
    for (amount, days) in [(12, 0), (3, 40)] {
        dashboard.service.clock.0.set(now_ms - days * 86_400_000);
        let mut order = minimal();
        order["pledges"] = json!([{ "impact": { "amount": amount, "offeringId": "tree" } }]);
        dashboard.service.create(LIVE_UNIT, &order);
    }
    dashboard.service.clock.0.set(now_ms);
    dashboard.reconcile();
    dashboard
}

/// Fills in and sends the form that records a fulfilment. `changed` replaces some of the usual values.
fn record(dashboard: &TestDashboard, changed: &[(&str, &str)]) -> Answer {
    let page = dashboard.get(OPERATOR, PAGE);
    let hidden = ["mode", "month", "operation"].map(|name| (name, field(&page.text, name)));
    let section = page.text.split_once("id=\"record\"").unwrap().1;
    let operation = field(section, "operation");
    let mut fields: Vec<(&str, &str)> =
        hidden.iter().filter(|(name, _)| *name != "operation").map(|(n, v)| (*n, &**v)).collect();
    fields.push(("operation", &operation));
    let given =
        [("offering", "tree"), ("quantity", "5"), ("done-on", "2026-01-20"), ("place", "Kenya")];
    let kept = given.iter().filter(|(name, _)| changed.iter().all(|(other, _)| other != name));
    fields.extend(kept.chain(changed));
    dashboard.post(OPERATOR, "/fulfilment", &fields)
}

#[test]
fn what_was_done_is_recorded_shown_and_removed() {
    let dashboard = pledged();
    let page = dashboard.get(OPERATOR, PAGE);
    assert_eq!(rows(&page)[0], ["tree", "1", "12", "", "", "12", "", "0", ""]);
    assert_has(
        &page,
        200,
        &[
            "Earlier months with something to be done, or without an update",
            "Dec 2025",
            "tree (12 to be done)",
        ],
    );

    let page =
        record(&dashboard, &[("partner", "<Reforest>"), ("report", "https://example.org/r")]);
    assert_has(&page, 200, &["was recorded as done", "&lt;Reforest&gt;", "20 Jan 2026", "Kenya"]);
    assert_has(&page, 200, &["href=\"https://example.org/r\" rel=\"noreferrer\""]);
    assert_eq!(rows(&page)[0], ["tree", "1", "12", "", "5", "7", "", "0", ""]);

    let id = field(&page.text, "fulfilment");
    let fields = [("fulfilment", &*id), ("mode", "live"), ("month", "2026-01")];
    let asked = dashboard.post(OPERATOR, "/fulfilment/remove", &fields);
    assert_has(&asked, 200, &["Nothing was changed yet", "Jan 2026"]);
    let removed = dashboard.confirm(OPERATOR, &asked);
    assert_has(&removed, 200, &["was removed", "Nothing is recorded as done"]);
    let again = dashboard.confirm(OPERATOR, &asked);
    assert_has(&again, 200, &["The form was sent twice"]);
    let late = dashboard.post(OPERATOR, "/fulfilment/remove", &fields);
    assert_has(&late, 422, &["ada@example.org already removed", "at 31 Jan 2026, 12:00 UTC"]);
}

#[test]
fn more_than_is_open_needs_a_confirmation_which_keeps_what_was_typed() {
    let dashboard = pledged();
    let asked = record(&dashboard, &[("quantity", "20")]);
    assert_has(&asked, 200, &["Only 12 of tree is left to do", "value=\"20\"", "value=\"Kenya\""]);
    let page = dashboard.get(OPERATOR, PAGE);
    let nothing = ["tree", "1", "12", "", "", "12", "", "0", ""];
    assert_eq!(rows(&page)[0], nothing, "nothing was recorded");
    let confirmed = field(&asked.text, "confirmed");
    let other = record(&dashboard, &[("quantity", "200"), ("confirmed", &confirmed)]);
    assert_has(&other, 422, &["have changed since", "would record 200"]);
    let page = dashboard.confirm(OPERATOR, &asked);
    assert_eq!(rows(&page)[0], ["tree", "1", "12", "", "20", "0", "8", "0", ""]);
}

#[test]
fn a_refused_form_says_why_and_keeps_what_was_typed() {
    let dashboard = pledged();
    for (name, value, expected) in [
        ("quantity", "many", "must be a number above 0"),
        ("done-on", "2027-01-01", "is in the future"),
        ("report", "http://example.org", "begins with https://"),
    ] {
        let page = record(&dashboard, &[(name, value)]);
        assert_has(&page, 422, &[expected, &format!("value=\"{value}\""), "role=\"alert\""]);
    }
    let incomplete = dashboard.post(OPERATOR, "/fulfilment", &[("quantity", "5")]);
    assert_has(&incomplete, 422, &["Some fields are missing"]);
}

#[test]
fn accounts_see_the_page_without_its_forms_and_download_the_file() {
    let dashboard = pledged();
    record(&dashboard, &[]);
    let page = dashboard.get(ACCOUNTS, PAGE);
    assert_has(&page, 200, &["20 Jan 2026"]);
    assert!(!main_of(&page.text).contains("method=\"post\""));
    assert_eq!(dashboard.get(SUPPORT, PAGE).status, 403);
    let file = dashboard.get(ACCOUNTS, "/fulfilment.csv?month=2026-01");
    let head = "\u{feff}month,mode,offering,orders,pledged,credited,done,to_be_done,surplus,updates,told,complete_up_to\r\n";
    assert!(file.text.starts_with(head), "{}", file.text);
    assert!(
        file.text.contains("\r\n2026-01,live,tree,1,12,0,5,7,0,0,0,2026-01-31T"),
        "{}",
        file.text
    );
}

/// The month of an update is its pledges' month. What an update says is done is compared with what was recorded.
#[test]
fn what_buyers_were_told_stands_beside_what_was_done() {
    let dashboard = pledged();
    record(&dashboard, &[]);
    let publish = |stage: &str, quantity: &str| {
        let sql = format!(
            "INSERT INTO updates (id, mode, month, offering, state, day, content, revision, operation, author, at, changer, changed)
VALUES ('upd_' || hex(randomblob(8)), 'live', '2026-01', 'tree', 'published', '2026-01-20',
'{{\"id\":\"upd_1\",\"date\":\"2026-01-20\",\"stage\":\"{stage}\"{quantity}}}', 1, 'o', 'ada', 1, 'ada', 1)"
        );
        dashboard.ledger.sql(&sql);
        rows(&dashboard.get(OPERATOR, PAGE))[0][7..].join(" ")
    };
    assert_eq!(publish("funded", ",\"quantity\":12"), "1 ");
    assert_eq!(publish("done", ",\"quantity\":4.9"), "2 4.9");
    assert!(dashboard.get(OPERATOR, PAGE).text.contains("<strong>4.9</strong>"));
    assert_eq!(publish("done", ",\"quantity\":0.1"), "3 5");
    assert!(!dashboard.get(OPERATOR, PAGE).text.contains("<strong>5</strong>"));
    let file = dashboard.get(ACCOUNTS, "/fulfilment.csv?month=2026-01");
    assert!(file.text.contains("\r\n2026-01,live,tree,1,12,0,5,7,0,3,5,2026"), "{}", file.text);
}

#[test]
fn an_offering_leads_to_the_shops_and_orders_that_it_is_for() {
    let dashboard = pledged();
    let (other, level) = ("service_sk_live_other", unit("unit_dev_two"));
    put_key(dashboard.store(), other, &key_record(Mode::Live, level));
    for (amount, times) in [(30, 1), (1, 2)] {
        let mut order = minimal();
        order["pledges"] = json!([{ "impact": { "amount": amount, "offeringId": "tree" } }]);
        let key = if amount == 30 { other } else { LIVE_UNIT };
        (0..times).for_each(|_| drop(dashboard.service.create(key, &order)));
    }
    dashboard.reconcile();
    let shops = "/fulfilment/shops?mode=live&amp;month=2026-01&amp;offering=tree";
    let link = format!("<a href=\"{shops}\">4</a>");
    assert_has(&dashboard.get(OPERATOR, PAGE), 200, &[&link]);
    let page = dashboard.get(ACCOUNTS, &shops.replace("&amp;", "&"));
    assert_has(&page, 200, &["4 orders of 2 shops", "Jan 2026"]);
    let expected = [["unit_dev_two", "1", "30"], ["unit_dev", "3", "14"]];
    assert_eq!(rows(&page), expected.map(|row| row.map(str::to_owned)));
    let recorded = record(&dashboard, &[]);
    assert_has(&recorded, 200, &[&format!("<a href=\"{shops}\">")]);
    let file = dashboard.get(ACCOUNTS, "/fulfilment/shops.csv?month=2026-01&offering=tree");
    let lines: Vec<_> = file.text.lines().collect();
    assert_eq!(lines[0], "\u{feff}month,mode,offering,unit,name,orders,pledged,complete_up_to");
    assert!(lines[1].starts_with("2026-01,live,tree,unit_dev_two,,1,30,2026-"), "{}", lines[1]);

    let other = dashboard.get(ACCOUNTS, "/fulfilment/shops?month=2026-01&offering=%3Cx%3E");
    assert_has(&other, 200, &["0 orders of 0 shops", "Nobody pledged", "&lt;x&gt;"]);
    let wrong = dashboard.get(ACCOUNTS, "/fulfilment/shops?month=2026-01");
    assert_has(&wrong, 422, &["Open this page from an offering"]);
    for path in ["/fulfilment/shops", "/fulfilment/shops.csv"] {
        assert_eq!(dashboard.get(SUPPORT, path).status, 403);
    }
}
