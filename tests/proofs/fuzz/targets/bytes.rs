//! Fuzzes bytes that come from outside. The service and the validator get them as the body of a create
//! request, and the client gets them as an answer.

use crate::{VALID, send, service};
use impact_pledge::pledges::api::answer;
use impact_pledge::pledges::api::answer::ErrorReason;
use impact_pledge::pledges::api::{Operation, to_json};
use impact_pledge::pledges::types::{
    PledgeTransaction, PledgeTransactionRequest, RetrievedPledgeTransaction,
};
use impact_pledge::pledges::validate;
use impact_pledge::pledges::validate::compact;
use impact_pledge::pledges::validate::compact::{CompactIssue, UNDECIDED};
use impact_pledge::pledges::validate::json::Source;
use impact_pledge::pledges::validate::number::to_double;
use impact_pledge::pledges::validate::{Code, Issue};
use serde_json::Value;
use support::contract::{Oracle, assert_kept, is_json, seen};
use support::service::{Answer, LIVE_UNIT, ORIGIN, PATH, TestRequest, UNIT};

const KEPT: usize = 20;
const TEAM: &str = "service_sk_live_dev_team";
const KEYS: [&str; 4] = [UNIT, LIVE_UNIT, "service_sk_test_dev_unit_two", TEAM];

/// Runs the target. The first byte of the input decides the API key and whether the request has an idempotency key;
/// the rest is a body.
pub fn run(input: &[u8]) {
    let Some((first, body)) = input.split_first() else { return };
    let issues = validate::check(body);
    assert!(issues.len() <= body.len() + 3, "more issues than bytes and members");
    grammar(body, &issues);
    rules(body, &issues);
    in_memory(body, issues.len());
    match PledgeTransactionRequest::parse(body, KEPT) {
        Ok(request) => accepted(body, &request, &issues),
        Err(report) => {
            assert_eq!(report.count(), issues.len());
            let kept = issues.get(..issues.len().min(KEPT)).unwrap();
            assert_eq!(seen(&report.into_issues()), seen(kept));
        }
    }
    created(*first, body, issues.is_empty());
    for operation in [Operation::Create, Operation::Get] {
        [200, 401, 404].into_iter().for_each(|status| answered(operation, status, body));
    }
}

fn has(issues: &[Issue<'_>], code: Code) -> bool {
    issues.iter().any(|issue| issue.code() == code)
}

/// Asserts that the validator and serde_json agree on which bytes are JSON. Leaves out bytes that are nested
/// too deep to be read to the end.
fn grammar(input: &[u8], issues: &[Issue<'_>]) {
    let depth = input.iter().filter(|byte| b"[{".contains(byte)).count();
    if has(issues, Code::TooDeep) {
        assert!(depth >= 60, "{depth} brackets are not deep");
    } else {
        assert_eq!(has(issues, Code::MalformedJson), !is_json(input));
    }
}

/// Asserts that the validator finds exactly the same issues in a document as the hand-written rules of the
/// tests. Applies only to documents that serde_json can read.
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
        list.dedup(); // an unknown member that occurs twice
    }
    assert_eq!(seen, expected);
}

/// Asserts that JavaScript reads the right issues from memory: their number is right, and their texts lie
/// within the input. Also asserts that the first issues can be skipped.
fn in_memory(input: &[u8], issues: usize) {
    let mut scratch = vec![0; input.len()];
    for source in [Source::Json, Source::Value] {
        let mut room = vec![CompactIssue::default(); input.len() + 4];
        let count = compact::check(input, source, 0, &mut scratch, &mut room);
        let found = room.get(..count).unwrap();
        let is_issue = |found: &&CompactIssue| {
            let text = input.get(found.from as usize..).unwrap();
            let text = text.get(..found.length as usize).unwrap(); // within bounds for any value
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

/// Asserts that an accepted request keeps its content, and is unchanged after it is written as JSON and read again.
fn accepted(input: &[u8], request: &PledgeTransactionRequest<'_>, issues: &[Issue<'_>]) {
    assert_eq!(seen(issues), [] as [Value; 0]);
    let mut kept: Value = serde_json::from_slice(&to_json(request)).unwrap();
    assert_kept(&kept, &serde_json::from_slice(input).unwrap(), "");
    remove_nulls(&mut kept); // members that were not sent are null, which a request may not have
    let again = kept.to_string();
    assert_eq!(*request, PledgeTransactionRequest::parse(again.as_bytes(), KEPT).unwrap());
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

/// Asserts that a created transaction can be read only by its own unit, and that its create request can be
/// repeated.
fn created(first: u8, body: &[u8], is_valid: bool) {
    let key = KEYS[usize::from(first & 3)];
    let request = |method: &str, path: &str, key: &str| {
        TestRequest::new(method, path, key).with_header("x-service-unit-id", "unit_dev")
    };
    let mut create = request("POST", PATH, key).with_body(body.to_vec());
    let is_repeatable = first & 4 != 0;
    if is_repeatable {
        create = create.with_header("idempotency-key", "k");
    }
    let service = service();
    let (answer, added) = send(&service, &create);
    assert_eq!(answer.status, if is_valid { 200 } else { 400 });
    assert_eq!(added, if is_valid { 1 + usize::from(is_repeatable) } else { 0 });
    if !is_valid {
        return;
    }
    let amount = answer::read(Operation::Create, 200, answer.text.as_bytes(), to_double).unwrap();
    assert_eq!(answer.json()["charge"]["amount"], amount);
    let made: PledgeTransaction<'_> = serde_json::from_str(&answer.text).unwrap();
    let (id, url) = (made.id.clone().into_owned(), made.timeline_url.clone().into_owned());
    let get = |key: &str| send(&service, &request("GET", &format!("{PATH}/{id}"), key)).0;
    assert_eq!(get(key).json(), serde_json::to_value(made.into_retrieved()).unwrap());
    for (stranger, unit, is_live) in
        [(UNIT, 1, false), (LIVE_UNIT, 1, true), (KEYS[2], 2, false), (TEAM, 1, true)]
    {
        let is_own = (unit == 2) == (key == KEYS[2]) && answer.json()["isLive"] == is_live;
        assert_eq!(get(stranger).status, if is_own { 200 } else { 404 }, "{stranger} of {key}");
    }
    let path = url.strip_prefix(ORIGIN).unwrap();
    assert_eq!(send(&service, &TestRequest::new("GET", path, "")).0.status, 200);
    if is_repeatable {
        // The isolate remembers the first answer; another isolate finds its record.
        for isolate in [&service, &service.isolate()] {
            is_replay(&send(isolate, &create), &answer);
        }
        let (other, added) = send(&service, &create.with_body(VALID.as_bytes().to_vec()));
        assert!(matches!(other.status, 200 | 422) && added == 0);
    }
}

fn is_replay((again, added): &(Answer, usize), first: &Answer) {
    assert_eq!((again.status, *added), (200, 0));
    assert!(again.headers.contains_key("idempotent-replayed"));
    assert_eq!(again.json(), first.json());
}

/// Asserts that the client accepts only answers that have an amount. Also asserts that the service's types
/// can represent each accepted answer.
fn answered(operation: Operation, status: u16, body: &[u8]) {
    let json = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    match answer::read(operation, status, body, to_double) {
        Ok(amount) => {
            let (whole, cents) =
                amount.strip_prefix('-').unwrap_or(&amount).split_once('.').unwrap();
            assert!(!whole.is_empty() && cents.len() == 2 && status == 200, "{amount}");
            // serde_json refuses half of a surrogate pair.
            let has_escapes = json.windows(2).any(|escape| escape == b"\\u");
            let is_record = match operation {
                Operation::Create => serde_json::from_slice::<PledgeTransaction<'_>>(json).is_ok(),
                Operation::Get => {
                    serde_json::from_slice::<RetrievedPledgeTransaction<'_>>(json).is_ok()
                }
            };
            assert!(has_escapes || is_record);
        }
        Err(error) => {
            assert!(error.message.chars().count() <= 1_200, "{}", error.message);
            assert!(error.reason != ErrorReason::Authentication || status == 401);
        }
    }
}
