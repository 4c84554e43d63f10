//! The bytes of a create request.

use impact_pledge::api::to_json;
use impact_pledge::idempotency::Fingerprint;
use impact_pledge::pledge::PledgeTransactionRequest;
use impact_pledge::validate::compact::{self, CompactIssue, UNDECIDED};
use impact_pledge::validate::json::Source;
use impact_pledge::validate::number::to_double;
use impact_pledge::validate::{self, Code, Issue};
use serde_json::Value;
use support::contract::{Oracle, assert_kept, is_json, seen};

const KEPT: usize = 20;

pub fn run(input: &[u8]) {
    let issues = validate::check(input);
    assert!(issues.len() <= input.len() + 3, "more issues than bytes and members");
    grammar(input, &issues);
    rules(input, &issues);
    in_memory(input, issues.len());
    match PledgeTransactionRequest::parse(input, KEPT) {
        Ok(request) => accepted(input, &request, &issues),
        Err(report) => {
            assert_eq!(report.count(), issues.len());
            let kept = &issues[..issues.len().min(KEPT)];
            assert_eq!(seen(&report.into_issues()), seen(kept));
        }
    }
}

fn has(issues: &[Issue<'_>], code: Code) -> bool {
    issues.iter().any(|issue| issue.code() == code)
}

/// JSON is what serde_json reads, unless it is too deep to be looked at to its end.
fn grammar(input: &[u8], issues: &[Issue<'_>]) {
    let depth = input.iter().filter(|byte| b"[{".contains(byte)).count();
    if has(issues, Code::TooDeep) {
        assert!(depth >= 60, "{depth} brackets are not deep");
    } else {
        assert_eq!(has(issues, Code::MalformedJson), !is_json(input));
    }
}

/// A document that serde_json reads has the issues that the contract's rules find in its value.
fn rules(input: &[u8], issues: &[Issue<'_>]) {
    let unlike = [Code::TooDeep, Code::DuplicateMember];
    let Ok(value) = serde_json::from_slice::<Value>(input) else { return };
    if unlike.iter().any(|code| has(issues, *code)) {
        return;
    }
    let mut expected = Oracle::issues(&value);
    let mut seen = seen(issues);
    for list in [&mut expected, &mut seen] {
        list.sort_by_cached_key(Value::to_string);
        list.dedup(); // an unknown member that is there twice
    }
    assert_eq!(seen, expected);
}

/// The issues that JavaScript reads from memory: as many, in bounds, and any of them may be skipped.
fn in_memory(input: &[u8], issues: usize) {
    let mut scratch = vec![0; input.len()];
    for source in [Source::Json, Source::Value] {
        let mut room = vec![CompactIssue::default(); input.len() + 4];
        let count = compact::check(input, source, 0, &mut scratch, &mut room);
        let found = &room[..count];
        let part = |found: &CompactIssue| &input[found.from as usize..][..found.length as usize];
        let is_issue = |found: &&CompactIssue| {
            let text = part(found); // in bounds, whatever it is
            found.about.to_le_bytes()[1] != UNDECIDED || !is_amount(text)
        };
        let decided = found.iter().filter(is_issue).count();
        assert!(source == Source::Value || decided == issues, "{decided} of {issues}");
        let mut rest = [CompactIssue::default()];
        let skip = count / 2;
        let left = compact::check(input, source, skip, &mut scratch, &mut rest);
        assert_eq!(left, count - skip);
        assert!(left == 0 || rest.first() == found.get(skip));
    }
}

fn is_amount(number: &[u8]) -> bool {
    let double = str::from_utf8(number).map_or(f64::NAN, to_double);
    double.is_finite() && double > 0.0
}

/// An accepted request keeps its content, and is the same when it is written as JSON and read again.
fn accepted(input: &[u8], request: &PledgeTransactionRequest<'_>, issues: &[Issue<'_>]) {
    assert_eq!(seen(issues), [] as [Value; 0]);
    let canonical = to_json(request);
    let mut kept: Value = serde_json::from_slice(&canonical).unwrap();
    let sent = serde_json::from_slice(input).unwrap();
    assert_kept(&kept, &sent, "");
    remove_nulls(&mut kept); // what was not sent, which a request may not have
    let again = kept.to_string();
    let again = PledgeTransactionRequest::parse(again.as_bytes(), KEPT).unwrap();
    assert_eq!(*request, again);
    assert_eq!(Fingerprint::new(&canonical), Fingerprint::new(&to_json(&again)));
}

fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(remove_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_nulls),
        _ => {}
    }
}
