//! A form's controls become a request, and each problem finds its control.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected should panic")]
#![expect(clippy::panic, reason = "a fixture that cannot be read should say which")]

#[path = "support/fixtures.rs"]
mod fixtures;

use impact_pledge::form::{Control, Payload};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "about")]
    _about: String,
    rows: Vec<Row>,
    /// What is typed as an amount, and what the payload has of it.
    amounts: Vec<(String, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    controls: Vec<Vec<String>>,
    /// Compared as a value; `json` as text, for what no value can stand for.
    payload: Option<Value>,
    json: Option<String>,
    problems: Vec<(Option<usize>, String, String)>,
}

fn control(parts: &[String]) -> Control<'_> {
    match parts {
        [name, value] => Control { name, value, is_hidden: false },
        [name, value, hidden] if hidden == "hidden" => Control { name, value, is_hidden: true },
        other => panic!("{other:?} is no control"),
    }
}

#[track_caller]
fn check(row: &Row) {
    let controls: Vec<_> = row.controls.iter().map(|parts| control(parts)).collect();
    let payload = Payload::read(&controls);
    match (&row.payload, &row.json) {
        (Some(value), None) => {
            let got: Value = serde_json::from_str(payload.json()).unwrap();
            assert_eq!(got, *value, "{}", row.name);
        }
        (None, Some(json)) => assert_eq!(payload.json(), json, "{}", row.name),
        _ => panic!("{}: either payload or json", row.name),
    }
    let problems: Vec<_> = payload
        .problems()
        .iter()
        .map(|problem| {
            let code = problem.issue.code().as_str().to_owned();
            (problem.control, problem.issue.path().to_string(), code)
        })
        .collect();
    assert_eq!(problems, row.problems, "{}", row.name);
}

#[test]
fn rows() {
    for (_, file) in fixtures::files::<File>("form") {
        assert!(!file.rows.is_empty() && !file.amounts.is_empty());
        file.rows.iter().for_each(check);
    }
}

#[test]
fn amounts() {
    for (_, file) in fixtures::files::<File>("form") {
        for (typed, json) in &file.amounts {
            let control =
                Control { name: "pledges.0.impact.amount", value: typed, is_hidden: false };
            let wanted = format!("{{\"pledges\":[{{\"impact\":{{\"amount\":{json}}}}}]}}");
            assert_eq!(Payload::read(&[control]).json(), wanted, "`{typed}`");
        }
    }
}

fn any_name() -> impl Strategy<Value = String> {
    const KNOWN: [&str; 18] = [
        "reference",
        "recipient",
        "recipient.email",
        "recipient.x",
        "pledges",
        "pledges.0",
        "pledges.1.impact",
        "pledges.0.impact.amount",
        "pledges.1.impact.amount",
        "pledges.2.impact.offeringId",
        "pledges.0.detail.image",
        "pledges.x",
        "pledges.0.0",
        "trigger.date",
        "notifications",
        "notifications.0",
        "notifications.0.0",
        "shop",
    ];
    prop_oneof![
        4 => proptest::sample::select(&KNOWN[..]).prop_map(str::to_owned),
        1 => "[a-z.0-9]{0,12}",
        1 => any::<String>(),
    ]
}

proptest! {
    #[test]
    fn any_form_becomes_json_whose_problems_find_controls_of_the_form(
        controls in proptest::collection::vec((any_name(), prop_oneof!["", "1", ".*"], any::<bool>()), 0..20)
    ) {
        let controls: Vec<_> = controls
            .iter()
            .map(|(name, value, is_hidden)| Control { name, value, is_hidden: *is_hidden })
            .collect();
        let payload = Payload::read(&controls);
        prop_assert!(serde_json::from_str::<&serde_json::value::RawValue>(payload.json()).is_ok());
        for problem in payload.problems() {
            let code = problem.issue.code().as_str();
            prop_assert_ne!(code, "malformed_json");
            prop_assert!(problem.control.is_none_or(|index| index < controls.len()));
        }
    }

    #[test]
    fn any_text_is_kept(text in any::<String>().prop_filter("empty is left out", |text| !text.is_empty())) {
        let control = Control { name: "reference", value: &text, is_hidden: false };
        let json: Value = serde_json::from_str(Payload::read(&[control]).json()).unwrap();
        prop_assert_eq!(json["reference"].as_str(), Some(text.as_str()));
    }

    #[test]
    fn any_decimal_is_a_number(text in "[-+]?([0-9]{1,9}(\\.[0-9]{1,9})?|\\.[0-9]{1,9})([eE][-+]?[0-9]{1,2})?") {
        let control = Control { name: "pledges.0.impact.amount", value: &text, is_hidden: false };
        let json: Value = serde_json::from_str(Payload::read(&[control]).json()).unwrap();
        let wanted: f64 = text.parse().unwrap();
        prop_assert_eq!(json["pledges"][0]["impact"]["amount"].as_f64(), Some(wanted));
    }
}

/// A server that reads a stranger's form must not take ages: each problem finds its control at once.
#[test]
fn ten_thousand_wrong_controls_are_read() {
    let names: Vec<_> = (0..5_000)
        .flat_map(|n| [format!("pledges.{n}.impact.amount"), "notifications".to_owned()])
        .collect();
    let controls: Vec<_> =
        names.iter().map(|name| Control { name, value: "x", is_hidden: false }).collect();
    let payload = Payload::read(&controls);
    let problems = payload.problems();
    // Of each item: the amount, and no offering; of each notification: none of those; and too many of
    // them, no reference, no recipient.
    assert_eq!(problems.len(), 15_003);
    assert_eq!(problems.iter().filter(|problem| problem.control.is_none()).count(), 5_002);
}
