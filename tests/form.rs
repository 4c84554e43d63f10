//! A form's controls become a request, and each problem finds its control.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected should panic")]
#![expect(clippy::panic, reason = "a fixture that cannot be read should say which")]

#[path = "support/fixtures.rs"]
mod fixtures;

use impact_pledge::form::{self, Entry, MOST_AROUND};
use impact_pledge::validate::compact::{Compact, UNDECIDED, explained};
use impact_pledge::validate::json::Source;
use impact_pledge::validate::number::{Magnitude, magnitude};
use impact_pledge::validate::{self, Code};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

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

/// A form as JavaScript sends it.
fn text(controls: &[(&str, &str, bool)]) -> String {
    let plain = |text: &str| text.replace('\0', "\u{fffd}");
    let line = |(name, value, hidden): &(&str, &str, bool)| {
        format!("{}{}\0{}\0", if *hidden { '-' } else { '+' }, plain(name), plain(value))
    };
    controls.iter().map(line).collect()
}

/// The pointer and the code of a problem; none where a number turns out to be fine.
fn said(problem: &Compact, json: &str) -> Option<(String, &'static str)> {
    let [rank, mut code, detail, _] = problem.about.to_le_bytes();
    if code == UNDECIDED {
        let (from, length) = (problem.from as usize, problem.length as usize);
        code = match magnitude(json.get(from..from + length).unwrap()) {
            Magnitude::Positive => return None,
            Magnitude::NotPositive => Code::NotPositive as u8,
            Magnitude::Infinite => Code::NotFinite as u8,
        };
    }
    let code = *Code::ALL.get(usize::from(code)).unwrap();
    let place = explained(rank, code, detail).unwrap().path().to_string();
    let place = place.replace("/0", &format!("/{}", problem.number));
    if code != Code::UnknownMember {
        return Some((place, code.as_str()));
    }
    let from = problem.from as usize;
    let name = json.get(from - 1..=from + problem.length as usize).unwrap();
    let name: String = serde_json::from_str(name).unwrap();
    let token = name.replace('~', "~0").replace('/', "~1");
    Some((format!("{place}/{token}"), code.as_str()))
}

/// The request as JSON, and its problems by control, pointer and code.
fn read(controls: &[(&str, &str, bool)]) -> (String, Vec<(Option<usize>, String, String)>) {
    let text = text(controls).into_bytes();
    let mut entries = vec![Entry::default(); controls.len()];
    let mut json = vec![0; text.len() * 6 + MOST_AROUND * (controls.len() + 1)];
    let (entries, length) = form::read(&text, &mut entries, &mut json);
    assert!(length < json.len(), "there must be room");
    let json = String::from_utf8(json.get(..length).unwrap().to_vec()).unwrap();
    let mut room = vec![Compact::default(); 4 * controls.len() + 8];
    let mut scratch = vec![0; length];
    let count = validate::json(json.as_bytes(), Source::Json, &mut scratch, &mut room);
    let mut unknown = 0;
    let mut found: Vec<_> = room
        .iter()
        .take(count)
        .filter_map(|problem| {
            let control = form::control_of(&text, entries, problem, unknown);
            unknown += usize::from(problem.about.to_le_bytes()[1] == Code::UnknownMember as u8);
            Some((said(problem, &json)?, control.map(|control| control as usize)))
        })
        .collect();
    let issues = validate::bytes(json.as_bytes());
    assert_eq!(issues.len(), found.len());
    let problems = issues.iter().map(|issue| {
        let (pointer, code) = (issue.path().to_string(), issue.code().as_str());
        let nth = found.iter().position(|((place, said), _)| *place == pointer && *said == code);
        (found.remove(nth.unwrap()).1, pointer, code.to_owned())
    });
    let problems = problems.collect();
    (json, problems)
}

fn control(parts: &[String]) -> (&str, &str, bool) {
    match parts {
        [name, value] => (name, value, false),
        [name, value, hidden] if hidden == "hidden" => (name, value, true),
        other => panic!("{other:?} is no control"),
    }
}

#[track_caller]
fn check(row: &Row) {
    let controls: Vec<_> = row.controls.iter().map(|parts| control(parts)).collect();
    let (json, problems) = read(&controls);
    match (&row.payload, &row.json) {
        (Some(value), None) => {
            let got: Value = serde_json::from_str(&json).unwrap();
            assert_eq!(got, *value, "{}", row.name);
        }
        (None, Some(wanted)) => assert_eq!(json, *wanted, "{}", row.name),
        _ => panic!("{}: either payload or json", row.name),
    }
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
            let wanted = format!("{{\"pledges\":[{{\"impact\":{{\"amount\":{json}}}}}]}}");
            let (json, _) = read(&[("pledges.0.impact.amount", typed, false)]);
            assert_eq!(json, wanted, "`{typed}`");
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
            .map(|(name, value, hidden)| (name.as_str(), value.as_str(), *hidden))
            .collect();
        let (json, problems) = read(&controls);
        prop_assert!(serde_json::from_str::<&RawValue>(&json).is_ok());
        for (control, _, code) in problems {
            prop_assert_ne!(code, "malformed_json");
            prop_assert!(control.is_none_or(|index| index < controls.len()));
        }
    }

    #[test]
    fn any_text_is_kept(text in "[^\0]{1,40}") {
        let json: Value = serde_json::from_str(&read(&[("reference", &text, false)]).0).unwrap();
        prop_assert_eq!(json["reference"].as_str(), Some(text.as_str()));
    }

    #[test]
    fn any_decimal_is_a_number(text in "[-+]?([0-9]{1,9}(\\.[0-9]{1,9})?|\\.[0-9]{1,9})([eE][-+]?[0-9]{1,2})?") {
        let (json, _) = read(&[("pledges.0.impact.amount", &text, false)]);
        let json: Value = serde_json::from_str(&json).unwrap();
        let wanted: f64 = text.parse().unwrap();
        prop_assert_eq!(json["pledges"][0]["impact"]["amount"].as_f64(), Some(wanted));
    }

    /// Names in any order are written in the order of their numbers, and none is lost.
    #[test]
    fn items_are_sorted(numbers in proptest::sample::subsequence((0_u32..300).collect::<Vec<_>>(), 0..100).prop_shuffle()) {
        let names: Vec<_> = numbers.iter().map(|number| format!("pledges.{number}.impact.amount")).collect();
        let values: Vec<_> = numbers.iter().map(|number| (number + 1).to_string()).collect();
        let controls: Vec<_> =
            names.iter().zip(&values).map(|(name, value)| (name.as_str(), value.as_str(), false)).collect();
        let json: Value = serde_json::from_str(&read(&controls).0).unwrap();
        let got: Vec<_> = json["pledges"].as_array().into_iter().flatten().map(|item| item["impact"]["amount"].as_u64()).collect();
        let mut wanted: Vec<_> = numbers.iter().map(|number| Some(u64::from(*number) + 1)).collect();
        wanted.sort_unstable();
        prop_assert_eq!(got, wanted);
    }
}

/// A server that reads a stranger's form must not take ages: each problem finds its control at once.
#[test]
fn ten_thousand_wrong_controls_are_read() {
    let names: Vec<_> = (0..5_000)
        .flat_map(|n| [format!("pledges.{n}.impact.amount"), "notifications".to_owned()])
        .collect();
    let controls: Vec<_> = names.iter().map(|name| (name.as_str(), "x", false)).collect();
    let (_, problems) = read(&controls);
    // Of each item: the amount, and no offering; of each notification: none of those; and too many
    // of them, no reference, no recipient.
    assert_eq!(problems.len(), 15_003);
    assert_eq!(problems.iter().filter(|(control, ..)| control.is_none()).count(), 5_002);
}

/// Bytes that JavaScript never sends, too.
#[test]
fn text_that_is_cut_off_is_read_as_far_as_it_goes() {
    let whole = text(&[("reference", "r", false), ("pledges.0.impact.amount", "1", true)]);
    for length in 0..whole.len() {
        let mut entries = [Entry::default(); 2];
        let mut json = [0; 256];
        let (_, length) = form::read(&whole.as_bytes()[..length], &mut entries, &mut json);
        assert!(serde_json::from_slice::<&RawValue>(&json[..length]).is_ok());
    }
}
