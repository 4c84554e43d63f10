//! Tests the check of JSON bytes against tables of examples, and against reference implementations that share no code
//! with it.

use crate::fixtures;
use impact_pledge::pledges::types::PledgeTransactionRequest;
use impact_pledge::pledges::validate;
use impact_pledge::pledges::validate::Code;
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use strum::VariantArray as _;
use support::contract::{Oracle, assert_kept, is_json, seen};

// ---- Rows of data ------------------------------------------------------------------------------

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    about: String,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    /// The value, exactly as the file has it, because the order of its members matters.
    value: Option<Box<RawValue>>,
    json: Option<String>,
    hex: Option<String>,
    only: Option<String>,
    issues: Vec<Value>,
}

impl Row {
    #[track_caller]
    fn bytes(&self) -> Vec<u8> {
        match (&self.value, &self.json, &self.hex) {
            (Some(value), None, None) => value.get().as_bytes().to_vec(),
            (None, Some(text), None) => text.clone().into_bytes(),
            (None, None, Some(hex)) => base16ct::lower::decode_vec(hex).unwrap(),
            // A row whose value is null reads as a row without one.
            (None, None, None) => b"null".to_vec(),
            _ => panic!("`{}` must have one of `value`, `json` and `hex`", self.name),
        }
    }
}

fn rows() -> impl Iterator<Item = (String, Row)> {
    let files = fixtures::files::<File>("validation");
    assert!(files.iter().all(|(_, file)| !file.about.is_empty() && !file.rows.is_empty()));
    files.into_iter().flat_map(|(file, content)| {
        content.rows.into_iter().map(move |row| (format!("{file}: {}", row.name), row))
    })
}

fn issues_of(bytes: &[u8]) -> Vec<Value> {
    seen(&validate::check(bytes))
}

/// Asserts that each example request has the issues that its row lists. If the number of issues is limited, the
/// first issues must be kept, and all must be counted. If a request has no issues, every value must be kept.
#[test]
fn every_row_has_its_issues() {
    let (mut names, mut codes) = (BTreeSet::new(), BTreeSet::new());
    for (name, row) in rows() {
        let bytes = row.bytes();
        assert_eq!(issues_of(&bytes), row.issues, "{name}");
        for limit in [0, 1, 2, 7, 20, 1_000] {
            let kept: Vec<_> = row.issues.iter().take(limit).cloned().collect();
            match PledgeTransactionRequest::parse(&bytes, limit) {
                Ok(request) => {
                    assert_eq!(row.issues.len(), 0, "{name}");
                    let Ok(sent) = serde_json::from_slice(&bytes) else { continue };
                    assert_kept(&json!(request), &sent, &name);
                }
                Err(report) => {
                    assert_eq!(report.count(), row.issues.len(), "{name}, limit {limit}");
                    assert_ne!(report.count(), 0, "{name}");
                    assert_eq!(seen(&report.into_issues()), kept, "{name}, limit {limit}");
                }
            }
        }
        codes.extend(row.issues.iter().map(|issue| issue["code"].as_str().unwrap().to_owned()));
        assert!(row.only.is_none_or(|only| only == "bytes"), "{name}");
        assert!(names.insert(name), "a name appears twice");
    }
    assert!(names.len() >= 900, "only {} rows", names.len());
    let values_only = [Code::Unreadable, Code::UnknownPointer, Code::MoreIssues];
    let all = Code::VARIANTS.iter().filter(|code| !values_only.contains(code));
    assert_eq!(codes, all.map(|code| <&str>::from(code).to_owned()).collect(), "codes with rows");
}

// ---- Bytes of every kind -----------------------------------------------------------------------

const REQUEST: &str = r#"{"reference":"a\u00e9\n","recipient":{"email":"a@b","name":"ü"},"pledges":[{"impact":{"amount":-1.5e+3,"offeringId":"t"},"detail":{}}],"notifications":["Email",null,true,[]]}"#;

#[track_caller]
fn agrees_with_serde_json(bytes: &[u8]) {
    let issues = validate::check(bytes);
    let malformed = issues.iter().filter(|issue| issue.code() == Code::MalformedJson).count();
    assert_eq!(malformed, usize::from(!is_json(bytes)), "`{}`", bytes.escape_ascii());
    let at_the_top = issues.iter().take_while(|issue| issue.path().steps().is_empty());
    assert_eq!(at_the_top.filter(|issue| issue.code() == Code::MalformedJson).count(), malformed);
}

#[test]
fn every_way_to_cut_a_request() {
    for end in 0..=REQUEST.len() {
        agrees_with_serde_json(&REQUEST.as_bytes()[..end]);
        agrees_with_serde_json(&REQUEST.as_bytes()[end..]);
    }
}

#[test]
fn every_byte_in_every_place_of_a_request() {
    for position in 0..REQUEST.len() {
        for byte in 0..=u8::MAX {
            let mut bytes = REQUEST.as_bytes().to_vec();
            bytes[position] = byte;
            agrees_with_serde_json(&bytes);
        }
    }
}

#[test]
fn a_megabyte_of_brackets() {
    for text in ["[", "{\"a\":", "{\"pledges\":[", "[[],"] {
        let issues = issues_of(text.repeat(1_000_000 / text.len()).as_bytes());
        assert!(issues.iter().any(|issue| issue["code"] == "too_deep"), "`{text}`: {issues:?}");
    }
}

// ---- The oracle --------------------------------------------------------------------------------

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        proptest::num::f64::NORMAL.prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        proptest::sample::select(vec![
            "",
            "a@b",
            "a@",
            "https://a",
            "a b",
            "2026-01-31T12:00:00Z",
            "2026-01-31",
            "Email",
            "email",
            "MessagingServiceC",
        ])
        .prop_map(Value::from),
    ]
}

/// Generates JSON values. Their objects have member names from the contract, but not always the names that
/// belong to the object.
fn value() -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        20 => proptest::sample::select(vec![
            "reference", "recipient", "email", "firstName", "name", "pledges", "impact", "amount",
            "offeringId", "detail", "description", "image", "externalUrl", "trigger", "date",
            "phrase", "notifications",
        ])
        .prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    scalar().prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::hash_map(name.clone(), inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn full() -> Value {
    json!({
        "reference": "r",
        "recipient": { "email": "a@b", "firstName": "A", "name": "A B" },
        "pledges": [
            { "impact": { "amount": 1, "offeringId": "t" } },
            {
                "impact": { "amount": 0.5, "offeringId": "t" },
                "detail": {
                    "name": "n", "description": "d", "nounSingular": "s", "nounPlural": "p",
                    "image": "https://i", "externalId": "e", "externalUrl": "https://e"
                }
            }
        ],
        "trigger": { "date": "2026-01-31T12:00:00Z", "phrase": "p", "externalUrl": "https://t" },
        "notifications": ["Email", "MessagingServiceA"]
    })
}

/// Adds the JSON pointers of a value and of everything in it to `all`.
fn pointers(value: &Value, here: &str, all: &mut Vec<String>) {
    all.push(here.to_owned());
    match value {
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            let token = name.replace('~', "~0").replace('/', "~1");
            pointers(member, &format!("{here}/{token}"), all);
        }),
        Value::Array(items) => (0..)
            .zip(items)
            .for_each(|(index, item): (u32, _)| pointers(item, &format!("{here}/{index}"), all)),
        _ => {}
    }
}

/// Returns a valid request with some of its values replaced.
fn spoiled(changes: &[(prop::sample::Index, Value)]) -> Value {
    let mut request = full();
    for (position, value) in changes {
        let mut all = Vec::new();
        pointers(&request, "", &mut all);
        let pointer: &String = position.get(&all);
        *request.pointer_mut(pointer).unwrap() = value.clone();
    }
    request
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn the_oracle_agrees_on_spoiled_requests(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), value()), 0..4),
    ) {
        let value = spoiled(&changes);
        prop_assert_eq!(issues_of(&serde_json::to_vec(&value).unwrap()), Oracle::issues(&value));
    }

    #[test]
    fn any_bytes_are_checked(
        bytes in proptest::collection::vec(any::<u8>(), 0..40),
        tokens in proptest::collection::vec(proptest::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "d800", "1", "0", "-", ".", "e", "+",
            "true", "null", " ", "\"reference\"", "\"pledges\"", "\"recipient\"", "\n",
        ]), 0..12),
    ) {
        agrees_with_serde_json(&bytes);
        agrees_with_serde_json(tokens.concat().as_bytes());
    }
}
