//! Tests how a client reads an answer: the rows of `tests/fixtures/answers`, and answers derived from them.

use crate::fixtures;
use impact_pledge::pledges::api::Operation;
use impact_pledge::pledges::api::Operation::{Create, Get};
use impact_pledge::pledges::api::answer;
use impact_pledge::pledges::api::answer::{AnswerError, ErrorReason};
use impact_pledge::pledges::types::{PledgeTransaction, RetrievedPledgeTransaction};
use impact_pledge::pledges::validate::number::to_double;
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::LazyLock;

fn read(operation: Operation, status: u16, body: &[u8]) -> Result<String, AnswerError> {
    answer::read(operation, status, body, to_double)
}

// ---- Rows of data ------------------------------------------------------------------------------

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    about: String,
    answers: Option<Answers>,
    rows: Vec<Row>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answers {
    create: Value,
    get: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    operation: Option<String>,
    status: Option<u16>,
    #[serde(default, rename = "headers")]
    _headers: BTreeMap<String, String>,
    #[serde(default)]
    at: BTreeMap<String, Option<String>>,
    json: Option<Value>,
    text: Option<String>,
    hex: Option<String>,
    amount: Option<String>,
    mismatch: Option<String>,
    error: Option<Error>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Error {
    class: String,
    error: Option<String>,
    message: Option<String>,
    #[serde(default)]
    says: Vec<String>,
    lacks: Option<String>,
    #[serde(default, rename = "foreign")]
    _foreign: bool,
    #[serde(rename = "requestId")]
    _request_id: Option<String>,
    #[serde(rename = "retryAfterMs")]
    _retry_after_ms: Option<u64>,
}

impl Answers {
    fn of(&self, operation: Operation) -> &Value {
        if operation == Create { &self.create } else { &self.get }
    }
}

impl Row {
    fn operations(&self) -> &[Operation] {
        match self.operation.as_deref() {
            None => &[Create, Get],
            Some("create") => &[Create],
            Some("get") => &[Get],
            Some(other) => panic!("`{}`: no operation `{other}`", self.name),
        }
    }

    fn body(&self, whole: Option<&Value>) -> Vec<u8> {
        match (&self.json, &self.text, &self.hex, whole) {
            (Some(json), None, None, _) => json.to_string().into_bytes(),
            (None, Some(text), None, _) => text.clone().into_bytes(),
            (None, None, Some(hex), _) => base16ct::lower::decode_vec(hex).unwrap(),
            (None, None, None, Some(whole)) => {
                let mut body = whole.clone();
                let texts: Vec<_> = self.at.iter().enumerate().collect();
                for &(index, (pointer, text)) in &texts {
                    let place = text.as_ref().map(|_| mark(index).into());
                    fixtures::put(&mut body, pointer, place);
                }
                let mut body = body.to_string();
                for (index, (_, text)) in texts {
                    let text = text.as_deref().unwrap_or_default();
                    body = body.replace(&format!("\"{}\"", mark(index)), text);
                }
                body.into_bytes()
            }
            _ => panic!("`{}` has not one body", self.name),
        }
    }
}

/// Returns the placeholder for the text that is inserted at this index.
fn mark(index: usize) -> String {
    format!("<text {index}>")
}

fn assert_read(row: &Row, operation: Operation, whole: Option<&Value>) {
    let status = row.status.unwrap_or(200);
    let found = read(operation, status, &row.body(whole));
    if let Some(mismatch) = &row.mismatch {
        let AnswerError { reason, error, message } = found.unwrap_err();
        let beginning =
            format!("the service answered {status} with a body that is not the contract's: ");
        let is_told = message.starts_with(&beginning) && message.contains(mismatch);
        assert!(is_told, "{}, {operation:?}: {message}", row.name);
        assert_eq!((reason, error), (ErrorReason::Other, None), "{}, {operation:?}", row.name);
        return;
    }
    let Some(expected) = &row.error else {
        let amount = row.amount.as_deref().unwrap_or("0.50");
        assert_eq!(found.as_deref(), Ok(amount), "{}, {operation:?}", row.name);
        return;
    };
    let AnswerError { reason, error, message } = found.unwrap_err();
    let by_class = match expected.class.as_str() {
        "AuthenticationError" => ErrorReason::Authentication,
        "NotFoundError" => ErrorReason::NotFound,
        "IdempotencyKeyReusedError" => ErrorReason::KeyReused,
        _ => ErrorReason::Other, // the client chooses its class by the status
    };
    assert_eq!((reason, &error), (by_class, &expected.error), "{}, {operation:?}", row.name);
    let is_told = expected.message.as_ref().is_none_or(|whole| *whole == message)
        && expected.says.iter().all(|part| message.contains(part))
        && expected.lacks.as_ref().is_none_or(|part| !message.contains(part));
    assert!(is_told, "{}, {operation:?}: {message}", row.name);
}

#[test]
fn every_row_has_its_value() {
    let mut count = 0;
    for (file, File { about, answers, rows }) in fixtures::files::<File>("answers") {
        assert!(!about.is_empty(), "{file}");
        for row in rows {
            for operation in row.operations() {
                assert_read(
                    &row,
                    *operation,
                    answers.as_ref().map(|answers| answers.of(*operation)),
                );
                count += 1;
            }
        }
    }
    assert!(count > 280, "{count}");
}

/// The fixtures' complete answers, which contain every member of the contract.
static WHOLE: LazyLock<Answers> = LazyLock::new(|| {
    fixtures::files::<File>("answers").into_iter().find_map(|(_, file)| file.answers).unwrap()
});

// ---- Too long or too deep for a row ------------------------------------------------------------

/// Reads bodies of the maximum length. This takes milliseconds. It would take an hour if the work grew with the
/// square of the length.
#[test]
fn amounts_of_any_length_are_read_in_linear_time() {
    const LONG: usize = 1_000_000;
    let (zeros, nines) = ("0".repeat(LONG), "9".repeat(LONG));
    let mut body = WHOLE.create.clone();
    fixtures::put(&mut body, "/charge/amount", Some("?".into()));
    let body = body.to_string();
    let number = |json: &str| read(Create, 200, body.replace("\"?\"", json).as_bytes()).ok();
    // Compared without `assert_eq!`, which would print megabytes.
    let text = |decimal: String| number(&format!("\"{decimal}\""));
    assert!(text(format!("{zeros}.{zeros}")).as_deref() == Some("0.00"));
    assert!(text(format!("0.50{nines}")).as_deref() == Some("0.51"));
    assert!(text(format!("{nines}.995")) == Some(format!("1{zeros}.00")));
    assert!(text(nines.clone() + "x").is_none());
    assert!(number(&format!("1{zeros}e-{LONG}")).as_deref() == Some("1.00"));
    assert!(number(&format!("0.{zeros}1e{}", LONG + 1)).as_deref() == Some("1.00"));
    assert!(number(&nines).is_none());
}

#[test]
fn ignored_values_may_be_long_but_not_deep() {
    let later = |value: String| {
        let body = WHOLE.get.to_string().replacen('{', &format!(r#"{{"later":{value},"#), 1);
        read(Get, 200, body.as_bytes()).is_ok()
    };
    assert!(later(format!("[{}0]", "0,".repeat(1_000_000))));
    assert!(!later("[".repeat(1_000_000) + &"]".repeat(1_000_000)));
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    assert!(read(Get, 200, format!("\u{feff}{}", WHOLE.get).as_bytes()).is_ok());
}

// ---- The records -------------------------------------------------------------------------------

fn collect_pointers(value: &Value, pointer: String, all: &mut Vec<String>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            collect_pointers(value, format!("{pointer}/{name}"), all);
        }),
        Value::Array(items) => items.iter().enumerate().for_each(|(index, value)| {
            collect_pointers(value, format!("{pointer}/{index}"), all);
        }),
        _ => {}
    }
    if !pointer.is_empty() {
        all.push(pointer);
    }
}

/// Returns every variation of a document in which one value is replaced or removed. Each comes with a
/// description.
fn spoiled(whole: &Value) -> Vec<(String, String)> {
    let others = json!([null, true, 1.5, -1, "text", [], {}, [1], {"a": 1}]);
    let mut pointers = Vec::new();
    collect_pointers(whole, String::new(), &mut pointers);
    let mut all = Vec::new();
    for pointer in pointers {
        let mut add = |other: Option<&Value>| {
            let mut copy = whole.clone();
            fixtures::put(&mut copy, &pointer, other.cloned());
            all.push((format!("{pointer} = {other:?}"), copy.to_string()));
        };
        others.as_array().unwrap().iter().for_each(|other| add(Some(other)));
        if pointer.rsplit('/').next().is_some_and(|name| name.parse::<usize>().is_err()) {
            add(None);
        }
    }
    all
}

/// The client and the service's record types accept the same answers, with one exception: only the client
/// checks the texts of a charge.
#[test]
fn the_shapes_are_those_of_the_records() {
    let is_record = |operation, text: &str| match operation {
        Create => serde_json::from_str::<PledgeTransaction<'_>>(text).is_ok(),
        Get => serde_json::from_str::<RetrievedPledgeTransaction<'_>>(text).is_ok(),
    };
    let mut refused = 0;
    for operation in [Create, Get] {
        for (what, text) in spoiled(WHOLE.of(operation)) {
            // The charge in a record was written by the service; to a client it is untrusted text.
            let is_charge = ["amount", "currencyCode"]
                .iter()
                .any(|name| what == format!(r#"/charge/{name} = Some(String("text"))"#));
            let is_read = is_record(operation, &text) && !is_charge;
            assert_eq!(read(operation, 200, text.as_bytes()).is_ok(), is_read, "{what}");
            refused += usize::from(!is_read);
        }
    }
    assert!(refused > 300, "{refused}");
}

proptest! {
    /// A body that is cut or altered at random never causes a panic. If the body is not refused, it is JSON.
    #[test]
    fn any_bytes_are_read_or_refused(at in 0_usize..700, byte: u8, cut: bool) {
        let mut body = WHOLE.get.to_string().into_bytes();
        let at = at % body.len();
        if cut { body.truncate(at) } else { body.splice(at..=at, [byte]); }
        if read(Get, 200, &body).is_ok() {
            prop_assert!(serde_json::from_slice::<serde::de::IgnoredAny>(&body).is_ok());
        }
    }
}
