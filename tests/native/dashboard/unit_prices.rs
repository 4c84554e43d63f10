//! Tests the table in which prices are edited, and the price lists of units in the dashboard.

use super::prices::{accepted, assert_has, confirmation, send, table};
use super::{OPERATOR, TestDashboard, dashboard, field};
use serde_json::{Value, json};
use support::service::{Answer, UNIT, minimal, seeded};

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

/// Edits the table of a page, confirms the change, and returns both answers.
fn save(dashboard: &TestDashboard, page: &str, edits: &[(&str, &str)]) -> [Answer; 2] {
    let asked = send(dashboard, &table(&dashboard.get(OPERATOR, page), edits));
    let saved = send(dashboard, &accepted(confirmation(&asked)));
    dashboard.clock.0.set(dashboard.clock.0.get() + 1);
    [asked, saved]
}

fn replace(form: &mut [(String, String)], name: &str, value: &str) {
    form.iter_mut().find(|(own, _)| own == name).unwrap().1 = value.to_owned();
}

#[test]
fn rows_are_changed_added_and_removed() {
    let dashboard = dashboard(seeded());
    let edits = [("tree", ""), ("plastic-kg", "1.30"), (" oak & co ", "2"), ("ash", "3")];
    let [asked, saved] = save(&dashboard, "/prices", &edits);
    assert_has(&asked, 200, &["changed: 1, added: 2, removed: 1", "Continue editing"]);
    assert_has(&saved, 200, &["were saved on"]);
    let expected = json!({ "ash": "3", "oak & co": "2", "plastic-kg": "1.30" });
    assert_eq!(prices(&dashboard, LIVE), json!(["USD", expected]));
    let page = dashboard.get(OPERATOR, "/prices");
    assert_has(&page, 200, &["aria-label=\"Unit price of oak &amp; co\"", "name=\"price-7\""]);
    assert!(!page.text.contains("name=\"price-8\""), "five empty rows");

    let mut form = table(&page, &[("ash", "4"), ("elm", "x")]);
    form.push(("step".to_owned(), "rows".to_owned()));
    let more = send(&dashboard, &form);
    assert_has(&more, 200, &["name=\"price-8\"", "value=\"x\"", "value=\"4\""]);
    assert!(!more.text.contains("name=\"price-9\""), "five empty rows below the new one");

    let mut form = confirmation(&send(
        &dashboard,
        &table(&page, &[("ash", "4"), ("elm", "5"), ("oak & co", "")]),
    ));
    replace(&mut form, "step", "edit");
    let again = send(&dashboard, &form);
    assert_has(&again, 200, &["value=\"elm\"", "value=\"5\""]);
    let rows = table(&again, &[]);
    assert!(rows.windows(2).any(|row| row[0].1 == "oak & co" && row[1].1.is_empty()), "{rows:?}");
    assert_eq!(prices(&dashboard, LIVE), json!(["USD", expected]), "nothing was saved");
}

#[test]
fn errors_are_at_their_fields_and_all_rows_keep_what_was_entered() {
    let dashboard = dashboard(seeded());
    let page = dashboard.get(OPERATOR, "/prices");
    let mut form =
        table(&page, &[("oak\"<b>", "-1"), ("ash", "1"), ("ash ", "2"), ("tree", "0,50")]);
    form.retain(|(name, _)| name != "offering-6" && name != "price-6");
    form.push(("price-6".to_owned(), "9".to_owned()));
    let answer = send(&dashboard, &form);
    let words = [
        "4 rows are not valid: nothing was changed",
        "Write a plain decimal such as 0.50.",
        "This offering is listed twice.",
        "Enter the ID of the offering.",
        "value=\"oak&quot;&lt;b&gt;\"",
        "value=\"0,50\"",
        "value=\"9\"",
    ];
    assert_has(&answer, 422, &words);
    assert_eq!(answer.text.matches("Write a plain decimal").count(), 2);
    let described = answer.text.matches("aria-describedby=\"row-").count();
    let hints = answer.text.matches(" id=\"row-").count();
    assert!(hints == 4 && described >= hints, "{hints} {described}");
    assert!(!answer.text.contains("<b>"));
    assert_eq!(prices(&dashboard, LIVE)[1]["tree"], "0.50");
}

#[test]
fn a_conflict_keeps_what_was_entered_on_top_of_the_current_prices() {
    let dashboard = dashboard(seeded());
    save(&dashboard, "/prices", &[("oak", "1")]);
    let page = dashboard.get(OPERATOR, "/prices");
    let mut form = table(&page, &[("tree", "0.70"), ("oak", ""), ("elm", "5")]);
    replace(&mut form, "currency", "EUR");
    let preview = confirmation(&send(&dashboard, &form));
    save(&dashboard, "/prices", &[("tree", "0.60"), ("plastic-kg", "9"), ("ash", "3")]);
    for answer in [send(&dashboard, &form), send(&dashboard, &accepted(preview))] {
        assert_has(
            &answer,
            422,
            &["now have other prices, set by ada@", "The price was set to 0.60 in the meantime."],
        );
        let rows = table(&answer, &[]);
        let price = |of: &str| {
            let place = rows.iter().position(|(_, value)| value == of).unwrap();
            rows[place + 1].1.clone()
        };
        let prices = ["tree", "oak", "elm", "plastic-kg", "ash"].map(price);
        assert_eq!(prices, ["0.70", "", "5", "9", "3"]);
        assert!(rows.contains(&("currency".to_owned(), "EUR".to_owned())));
        assert_eq!(
            field(&answer.text, "seen"),
            field(&dashboard.get(OPERATOR, "/prices").text, "seen")
        );
    }
    let mut wrong = form.clone();
    replace(&mut wrong, "price-2", "x");
    form.push(("step".to_owned(), "rows".to_owned()));
    for unchecked in [send(&dashboard, &wrong), send(&dashboard, &form)] {
        let seen = field(&unchecked.text, "seen");
        assert!(form.contains(&("seen".to_owned(), seen)), "those of the others were not seen");
    }
    form.pop();
    let resumed = table(&send(&dashboard, &form), &[]);
    let asked = send(&dashboard, &resumed);
    assert_has(&asked, 200, &["changed: 1, added: 1, removed: 1"]);
    dashboard.clock.0.set(dashboard.clock.0.get() + 120_000);
    assert_has(&send(&dashboard, &accepted(confirmation(&asked))), 200, &["were saved on"]);
}

#[test]
fn a_list_that_is_too_long_for_the_table_keeps_the_offerings_that_are_not_entered() {
    let dashboard = dashboard(seeded());
    let list = |count: usize| {
        let list: Value = (0..count).map(|at| (format!("o{at:03}"), json!("1"))).collect();
        json!({ "currencyCode": "GBP", "unitPrices": list }).to_string()
    };
    dashboard.store().edit(LIVE, |_| list(200));
    let page = dashboard.get(OPERATOR, "/prices");
    assert!(page.text.contains("name=\"price-199\"") && !page.text.contains("name=\"price-200\""));
    let form = table(&page, &[("o199", "7")]);
    assert_has(&send(&dashboard, &form), 200, &["changed: 1, added: 0, removed: 0"]);
    dashboard.store().edit(LIVE, |_| list(201));
    let page = dashboard.get(OPERATOR, "/prices");
    assert_has(&page, 200, &["And 1 more.", "The others keep their prices", "name=\"others\""]);
    let [asked, _] = save(&dashboard, "/prices", &[("o200", "2"), ("new", "3")]);
    assert_has(&asked, 200, &["changed: 1, added: 1, removed: 0"]);
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
    let mut form = table(&page, &[("tree", "0.45")]);
    replace(&mut form, "currency", "EUR");
    let asked = send(&dashboard, &form);
    assert_has(&asked, 200, &["The currency changes from USD to EUR.", "live mode for the unit"]);
    let saved = send(&dashboard, &accepted(confirmation(&asked)));
    assert_has(&saved, 200, &["were saved on", "href=\"/prices?mode=live&amp;unit=unit_dev\""]);
    let own = json!(["EUR", { "plastic-kg": "1.25", "tree": "0.45" }]);
    assert_eq!((prices(&dashboard, OWN), &prices(&dashboard, LIVE)[0]), (own, &json!("USD")));
    assert_has(
        &dashboard.get(OPERATOR, "/prices"),
        200,
        &["href=\"/prices?mode=live&amp;unit=unit_dev\""],
    );
    let audit = dashboard.get(OPERATOR, "/audit");
    assert_has(&audit, 200, &["href=\"/prices?mode=live&amp;unit=unit_dev\""]);

    dashboard.clock.0.set(dashboard.clock.0.get() + 1);
    let page = dashboard.get(OPERATOR, OWN_PAGE);
    assert_has(&page, 200, &["Remove the unit's price list", "?mode=test&amp;unit=unit_dev"]);
    let mut form = table(&page, &[]);
    replace(&mut form, "change", "remove");
    let asked = send(&dashboard, &form);
    assert_has(&asked, 200, &["The currency changes from EUR to USD.", "Remove price list"]);
    let form = accepted(confirmation(&asked));
    assert_has(&send(&dashboard, &form), 200, &["was removed on"]);
    assert_eq!(dashboard.store().copy(OWN), None);
    assert_has(&send(&dashboard, &form), 422, &["now have other prices"]);
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
        let fields = [("unit", unit), ("change", "table"), ("seen", "none"), ("step", "set")];
        assert_eq!(dashboard.post(OPERATOR, "/prices", &fields).status, status);
    }
    assert_has(&dashboard.get(OPERATOR, "/prices?unit=unit_dve"), 404, &["Did you mean"]);
    assert_has(&dashboard.get(OPERATOR, "/prices?mode=live"), 200, &["No unit has a price list"]);
    assert_eq!(dashboard.store().names(), names);
    let fields = [("mode", "live"), ("change", "remove"), ("seen", "none"), ("step", "set")];
    assert_eq!(dashboard.post(OPERATOR, "/prices", &fields).status, 422, "a mode's list stays");
    assert!(dashboard.store().value(LIVE).is_some());
}
