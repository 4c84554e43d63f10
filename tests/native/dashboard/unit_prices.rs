//! Tests the table in which prices are edited, and the price lists of units in the dashboard.

use super::prices::{assert_has, edit, save, table};
use super::{OPERATOR, TestDashboard, confirmation, dashboard};
use serde_json::{Value, json};
use support::service::{UNIT, minimal, seeded};

const LIVE: &str = "catalogue:live";
const OWN: &str = "catalogue:live:unit_dev";
const OWN_PAGE: &str = "/prices?mode=live&unit=unit_dev";

fn prices(dashboard: &TestDashboard, name: &str) -> Value {
    let list: Value = serde_json::from_str(&dashboard.store().value(name).unwrap()).unwrap();
    json!([list["currencyCode"], list["unitPrices"]])
}

fn with_unit() -> TestDashboard {
    let dashboard = dashboard(seeded());
    dashboard.store().keep("unit:unit_dev", b"{}", b"null");
    dashboard
}

#[test]
fn rows_are_changed_added_and_removed() {
    let dashboard = dashboard(seeded());
    let edits = [("tree", ""), ("plastic-kg", "1.30"), (" oak & co ", "2"), ("ash", "3")];
    let asked = edit(&dashboard, "/prices", &edits);
    assert_has(&asked, 200, &["1 changed, 2 added, 1 removed"]);
    let (path, mut fields) = confirmation(&asked);
    fields.push(("back".to_owned(), "yes".to_owned()));
    let again = dashboard.send_form(OPERATOR, (path, fields));
    assert_has(&again, 200, &["value=\"1.30\"", "value=\"oak &amp; co\"", "value=\"3\""]);
    assert_eq!(prices(&dashboard, LIVE)[1]["tree"], "0.50", "nothing was saved");
    let asked = dashboard.send_form(OPERATOR, table(&again, &[]));
    assert_has(&dashboard.confirm(OPERATOR, &asked), 200, &["Saved: "]);
    let expected = json!({ "ash": "3", "oak & co": "2", "plastic-kg": "1.30" });
    assert_eq!(prices(&dashboard, LIVE), json!(["USD", expected]));
    let page = dashboard.get(OPERATOR, "/prices");
    assert_has(&page, 200, &["aria-label=\"Value of oak &amp; co\"", "name=\"new-price.7\""]);
    assert!(!page.text.contains("name=\"new-price.8\""), "eight empty rows");
}

#[test]
fn an_error_is_at_its_field_and_all_rows_keep_what_was_entered() {
    let dashboard = dashboard(seeded());
    let page = dashboard.get(OPERATOR, "/prices");
    for (edits, words) in [
        (&[("tree", "0,50"), ("ash", "1")][..], "write a plain decimal such as"),
        (&[("oak\"<b>", "-1"), ("ash", "1")], "write a plain decimal such as"),
        (&[("ash", "1"), ("ash ", "2")], "has two prices"),
        (&[("ash", "1"), ("", "9")], "enter the ID of the offering"),
    ] {
        let answer = dashboard.send_form(OPERATOR, table(&page, edits));
        assert_has(&answer, 422, &[words, "aria-invalid=\"true\"", "value=\"ash\""]);
        assert!(!answer.text.contains("<b>"));
        assert!(answer.text.contains(">Go to the field</a>"), "{words}");
    }
    assert_eq!(prices(&dashboard, LIVE)[1]["tree"], "0.50");
}

#[test]
fn a_list_that_is_too_long_for_the_table_keeps_the_offerings_that_are_not_entered() {
    let dashboard = dashboard(seeded());
    let list = |count: usize| {
        let list: Value = (0..count).map(|at| (format!("o{at:03}"), json!("1"))).collect();
        json!({ "currencyCode": "GBP", "unitPrices": list }).to_string()
    };
    dashboard.store().edit(LIVE, |_| list(200));
    let asked = edit(&dashboard, "/prices", &[("o199", "7")]);
    assert_has(&asked, 200, &["in GBP: 1 changed, 199 unchanged"]);
    dashboard.store().edit(LIVE, |_| list(201));
    let page = dashboard.get(OPERATOR, "/prices");
    assert_has(&page, 200, &["And 1 more.", "The others keep their prices"]);
    let [asked, _] = save(&dashboard, "/prices", &[("o200", "2"), ("new", "3")]);
    assert_has(&asked, 200, &["1 changed, 1 added, 200 unchanged"]);
    let now = prices(&dashboard, LIVE);
    assert_eq!((now[1].as_object().unwrap().len(), &now[1]["o200"]), (202, &json!("2")));
}

#[test]
fn a_unit_gets_a_list_of_its_own_and_returns_to_that_of_the_mode() {
    let dashboard = with_unit();
    let unit = dashboard.get(OPERATOR, "/units/unit_dev");
    assert_has(&unit, 200, &["href=\"/prices?unit=unit_dev\""]);
    let page = dashboard.get(OPERATOR, OWN_PAGE);
    assert_has(&page, 200, &["has no price list of its own", "<bdi>tree</bdi>", "value=\"0.50\""]);
    assert!(!page.text.contains("Remove the unit"));
    let [asked, saved] = save(&dashboard, OWN_PAGE, &[("tree", "0.45"), ("currency", "EUR")]);
    assert_has(&asked, 200, &["he currency changes from USD to EUR."]);
    assert_has(&saved, 200, &["Saved: ", "href=\"/prices?mode=test&amp;unit=unit_dev\""]);
    let own = json!(["EUR", { "plastic-kg": "1.25", "tree": "0.45" }]);
    assert_eq!((prices(&dashboard, OWN), &prices(&dashboard, LIVE)[0]), (own, &json!("USD")));
    for path in ["/prices", "/audit"] {
        let page = dashboard.get(OPERATOR, path);
        assert_has(&page, 200, &["href=\"/prices?mode=live&amp;unit=unit_dev\""]);
    }

    let page = dashboard.get(OPERATOR, OWN_PAGE);
    assert_has(&page, 200, &["?mode=test&amp;unit=unit_dev"]);
    let asked = dashboard.press(OPERATOR, &page, "Remove the unit's price list …");
    assert_has(&asked, 200, &["he currency changes from EUR to USD."]);
    let removed = dashboard.confirm(OPERATOR, &asked);
    assert_has(&removed, 200, &["now again those of the mode's price list"]);
    assert_eq!(dashboard.store().copy(OWN), None);
    assert_has(&dashboard.confirm(OPERATOR, &asked), 200, &["This was already done"]);
    let page = dashboard.get(OPERATOR, OWN_PAGE);
    assert_has(&page, 200, &["has no price list of its own", "The unit's price list was removed"]);
    assert!(!page.text.contains("Newer prices were set"));
    assert_eq!(dashboard.service.create(UNIT, &minimal()).status, 200);
}

#[test]
fn a_unit_that_does_not_exist_gets_no_list() {
    let dashboard = with_unit();
    let names = dashboard.store().names();
    for (unit, status) in [("unit_dve", 404), ("a b", 422)] {
        let address = format!("/prices?unit={}", unit.replace(' ', "+"));
        assert_eq!(dashboard.get(OPERATOR, &address).status, status);
    }
    let fields = [("unit", "unit_dve"), ("mode", "live"), ("price-tree", "1")];
    let asked = dashboard.post_new(OPERATOR, "/prices", &fields);
    assert_has(&asked, 200, &["Create the unit unit_dve?"]);
    assert_has(&dashboard.get(OPERATOR, "/prices?unit=unit_dve"), 404, &["Did you mean"]);
    assert_has(&dashboard.get(OPERATOR, "/prices?mode=live"), 200, &["No unit has a price list"]);
    assert_eq!(dashboard.store().names(), names);
    let removal = dashboard.post_new(OPERATOR, "/prices/remove", &[("mode", "live")]);
    assert_eq!(removal.status, 422, "a mode's list stays");
    assert!(dashboard.store().value(LIVE).is_some());
}
