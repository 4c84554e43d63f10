//! Tests a form with an error: the message is at its field, the input is kept, and hints describe the fields.

use super::prices::assert_has;
use super::{OPERATOR, dashboard};
use support::service::{Answer, seeded};

/// Asserts that only this field is invalid. An error message must describe the field, and a link must lead to
/// it. If the name is empty, the error must belong to no field.
#[track_caller]
pub fn assert_problem_at(page: &Answer, field: &str) {
    let shown = page.text.rsplit("<main").next().unwrap(); // the style names invalid fields, too
    let invalid = shown.matches("aria-invalid=\"true\"").count();
    assert_eq!(invalid, usize::from(!field.is_empty()), "{shown}");
    assert!(page.text.contains("role=\"alert\" tabindex=\"-1\" autofocus"), "{}", page.text);
    if field.is_empty() {
        return;
    }
    for words in [
        format!("id=\"{field}\" name=\"{field}\""),
        format!("aria-describedby=\"{field}-problem"),
        format!("id=\"{field}-problem\""),
        format!("href=\"#{field}\">Go to the field"),
    ] {
        assert!(page.text.contains(&words), "{words} is not in {}", page.text);
    }
}

#[test]
fn an_error_stands_at_its_field_with_what_was_entered() {
    let dashboard = dashboard(seeded());
    for (path, fields, field, entered) in [
        ("/find", &[("text", ""), ("unit", "unit_dev")][..], "text", "unit_dev"),
        ("/find", &[("text", "x"), ("unit", "no unit")], "unit", "no unit"),
        ("/units", &[("unit", "no unit")], "unit", "no unit"),
        ("/person", &[("unit", "unit_dev"), ("email", "ada")], "email", "ada"),
    ] {
        let page = dashboard.post_new(OPERATOR, path, fields);
        assert_has(&page, 422, &[&format!("value=\"{entered}\"")]);
        assert_problem_at(&page, field);
    }
    let list = [("mode", "live"), ("file", "{\"currencyCode\":")];
    let page = dashboard.post_new(OPERATOR, "/prices", &list);
    assert_has(&page, 422, &["<details open>", "{&quot;currencyCode&quot;:</textarea>"]);
    assert_problem_at(&page, "file");
}

/// Firefox shows a month's input as an ordinary text field, so a user can send any text as a month.
#[test]
fn a_month_that_cannot_be_read_is_said_at_its_field_on_each_page() {
    let dashboard = dashboard(seeded());
    dashboard.reconcile();
    for path in ["/payments", "/fulfilment", "/updates", "/units/unit_dev/statement"] {
        let page = dashboard.get(OPERATOR, &format!("{path}?mode=test&month=October"));
        assert_has(&page, 422, &["value=\"October\"", "Write the month as 2026-10"]);
        assert_problem_at(&page, "month");
        let kept = ["name=\"mode\" value=\"test\"", "value=\"test\" selected"];
        assert!(kept.iter().any(|it| page.text.contains(it)), "the mode is kept: {}", page.text);
        assert_eq!(dashboard.get(OPERATOR, &format!("{path}?month=2026-01")).status, 200);
    }
    for file in ["/payments.csv", "/fulfilment.csv", "/units/unit_dev/transactions.csv"] {
        let page = dashboard.get(OPERATOR, &format!("{file}?mode=test&month=October"));
        assert_has(&page, 422, &["value=\"October\"", "Write the month as 2026-10"]);
        assert_problem_at(&page, "month");
        let path = file.trim_end_matches(".csv").replace("transactions", "statement");
        assert!(page.text.contains(&format!("action=\"{path}\"")), "{}", page.text);
    }
    for path in ["/orders", "/payments"] {
        let page = dashboard.get(OPERATOR, &format!("{path}?unit=no%20unit"));
        assert_has(&page, 422, &["value=\"no unit\""]);
        assert_problem_at(&page, "unit");
    }
}

#[test]
fn a_hint_describes_its_field_and_is_no_part_of_its_name() {
    let page = dashboard(seeded()).get(OPERATOR, "/find");
    let unit = "<label for=\"unit\">Unit</label><input id=\"unit\" name=\"unit\" value=\"\" \
                aria-describedby=\"unit-hint\"><small id=\"unit-hint\">Leave empty";
    assert_has(&page, 200, &[unit]);
}
