//! How a client reads an answer: rows of a status, a body and the result.

use impact_pledge::api::Operation::{self, Create, Get};
use impact_pledge::api::answer::{self, AnswerError, Reason};
use impact_pledge::pledge::{PledgeTransaction, RetrievedPledgeTransaction};
use impact_pledge::validate::number::to_double;
use proptest::prelude::*;
use serde_json::{Value, json};

fn read(operation: Operation, status: u16, body: &[u8]) -> Result<String, AnswerError> {
    answer::read(operation, status, body, to_double)
}

fn created(amount: Value) -> Value {
    json!({
        "id": "ptran_1", "reference": "order-1", "createdAt": "2026-01-31T12:00:00Z", "isLive": false,
        "charge": {"amount": amount, "currencyCode": "USD", "paidAt": null},
        "recipient": {"email": "ada@example.org", "firstName": null, "name": null},
        "trigger": {"date": null, "phrase": null, "externalUrl": null},
        "pledges": [], "notifications": [], "timelineUrl": "https://example.org/t?edit_key=k",
    })
}

fn retrieved(amount: Value) -> Value {
    json!({
        "reference": "order-1", "createdAt": "2026-01-31T12:00:00Z", "isLive": false,
        "charge": {"amount": amount, "currencyCode": "EUR", "paidAt": "2026-02-01T00:00:00Z"},
        "trigger": {"date": null, "phrase": null, "externalUrl": null}, "pledges": [],
    })
}

#[track_caller]
fn amount(operation: Operation, status: u16, body: &Value, expected: &str) {
    assert_eq!(read(operation, status, body.to_string().as_bytes()).as_deref(), Ok(expected));
}

#[track_caller]
fn refused(
    operation: Operation,
    status: u16,
    body: &str,
    reason: Reason,
    error: Option<&str>,
) -> String {
    let Err(answer_error) = read(operation, status, body.as_bytes()) else {
        unreachable!("{status} {body} is a transaction")
    };
    assert_eq!(
        (answer_error.reason, answer_error.error.as_deref()),
        (reason, error),
        "{status} {body}"
    );
    answer_error.message
}

#[test]
fn an_amount_has_two_places_however_it_came() {
    for (came, expected) in [
        (json!("0.50"), "0.50"),
        (json!("1.5"), "1.50"),
        (json!("3"), "3.00"),
        (json!("3."), "3.00"),
        (json!("-2.5"), "-2.50"),
        (json!(1.5), "1.50"),
        (json!(0), "0.00"),
        (json!(12.25), "12.25"),
        (json!(1e21), "1000000000000000000000.00"),
        (json!("12.5"), "12.50"),
        (json!(12.5), "12.50"),
        (json!(".5"), "0.50"),
        (json!("007.5"), "7.50"),
    ] {
        amount(Create, 200, &created(came.clone()), expected);
        amount(Get, 200, &retrieved(came), expected);
    }
}

/// A create's answer with an amount as JSON spells it.
fn with_amount(json: &str) -> String {
    created(json!("?")).to_string().replace("\"?\"", json)
}

#[track_caller]
fn amount_of(json: &str) -> Option<String> {
    read(Create, 200, with_amount(json).as_bytes()).ok()
}

#[test]
fn more_places_are_rounded_half_away_from_zero_however_they_came() {
    for (decimal, expected) in [
        ("12.345", "12.35"),
        ("12.344999999999999999999999", "12.34"),
        ("-12.345", "-12.35"),
        ("0.125", "0.13"),
        ("0.005", "0.01"),
        ("0.0049", "0.00"),
        ("0.995", "1.00"),
        ("99.999", "100.00"),
        ("-0", "0.00"),
        ("-0.00", "0.00"),
        ("-0.004", "0.00"),
        ("-0.005", "-0.01"),
        (
            "1234567890123456789012345678901234567890.125",
            "1234567890123456789012345678901234567890.13",
        ),
    ] {
        assert_eq!(amount_of(decimal).as_deref(), Some(expected), "the number {decimal}");
        let text = format!("\"{decimal}\"");
        assert_eq!(amount_of(&text).as_deref(), Some(expected), "the text {decimal}");
    }
    for (number, expected) in [
        ("1e2", "100.00"),
        ("1.2345E1", "12.35"),
        ("5e-3", "0.01"),
        ("49e-4", "0.00"),
        ("0e999999999999999999999", "0.00"),
        ("-0e-5", "0.00"),
        ("1e-400000000", "0.00"),
        ("123456e-99999999999999999999", "0.00"),
    ] {
        assert_eq!(amount_of(number).as_deref(), Some(expected), "{number}");
    }
}

#[test]
fn an_amount_that_is_no_decimal_is_not_the_contracts() {
    for json in [
        r#""abc""#,
        r#""""#,
        r#"".""#,
        r#""-""#,
        r#""-.""#,
        r#""1e2""#,
        r#""1E2""#,
        r#"" 1""#,
        r#""1 ""#,
        r#""+1""#,
        r#""--1""#,
        r#""1.2.3""#,
        r#""1,50""#,
        r#""$1""#,
        r#""0x1""#,
        r#""NaN""#,
        r#""Infinity""#,
        r#""\u0661""#,
        r#""\ud800""#,
        "1e309",
        "-1e309",
        "1e999999999999",
        "null",
        "true",
        "[]",
        "{}",
    ] {
        let text = refused(Create, 200, &with_amount(json), Reason::Other, None);
        assert!(text.contains("`/charge/amount` must be a decimal"), "{json}: {text}");
    }
}

/// As long as a body can be: linear work ends in milliseconds, quadratic work not within the hour.
#[test]
fn amounts_of_any_length_are_read_in_linear_time() {
    const LONG: usize = 4_000_000;
    let (zeros, nines) = ("0".repeat(LONG), "9".repeat(LONG));
    // Compared without `assert_eq!`, which would print megabytes.
    let text = |decimal: String| amount_of(&format!("\"{decimal}\""));
    assert!(text(format!("{zeros}.{zeros}")).as_deref() == Some("0.00"));
    assert!(text(format!("0.50{nines}")).as_deref() == Some("0.51"));
    assert!(text(format!("0.{nines}")).as_deref() == Some("1.00"));
    assert!(text(format!("{nines}.995")) == Some(format!("1{zeros}.00")));
    assert!(text(nines.clone() + "x").is_none());
    assert!(amount_of(&format!("1{zeros}e-{LONG}")).as_deref() == Some("1.00"));
    assert!(amount_of(&format!("0.{zeros}1e{}", LONG + 1)).as_deref() == Some("1.00"));
    assert!(amount_of("1e308") == Some(format!("1{}.00", "0".repeat(308))));
    assert!(amount_of(&nines).is_none());
}

#[test]
fn members_beyond_the_contract_and_every_status_of_success_are_taken() {
    let more = json!({
        "id": "ptran_1", "recipient": {"email": "ada@example.org"},
        "notifications": [{"type": "Email", "status": "Pending"}],
        "timelineUrl": "https://example.org/t", "later": {"deep": [1, 2, 3]},
    });
    let body = with(retrieved(json!("1.00")), more);
    amount(Get, 200, &body, "1.00");
    amount(Create, 201, &created(json!("1.00")), "1.00");
}

#[test]
fn not_found_is_known_by_its_body() {
    let body = r#"{"error":"Pledge transaction not found"}"#;
    for status in [200, 204, 400, 401, 404, 410, 500, 503] {
        refused(Get, status, body, Reason::NotFound, Some("Pledge transaction not found"));
    }
    let longer = r#"{"isLive":true,"error":"Pledge transaction not found","message":"x","more":1}"#;
    refused(Get, 404, longer, Reason::NotFound, Some("Pledge transaction not found"));
    refused(Create, 404, body, Reason::Other, Some("Pledge transaction not found"));
    refused(Get, 404, r#"{"error":"Not found"}"#, Reason::Other, Some("Not found"));
    refused(Get, 404, "<h1>404</h1>", Reason::Other, None);
}

#[test]
fn an_invalid_key_is_known_by_its_status() {
    let create = r#"{"error":"true","message":"Not authorized. Check the API key."}"#;
    let text = refused(Create, 401, create, Reason::Authentication, Some("true"));
    assert_eq!(text, "the service did not accept the API key: Not authorized. Check the API key.");
    let bare = refused(Create, 401, r#"{"error":"true"}"#, Reason::Authentication, Some("true"));
    assert_eq!(bare, "the service did not accept the API key");
    let get = r#"{"error":"Authentication failed","message":"Check the API key."}"#;
    refused(Get, 401, get, Reason::Authentication, Some("Authentication failed"));
    refused(Get, 401, "", Reason::Authentication, None);
    refused(Create, 401, "<html>", Reason::Authentication, None);
    refused(Create, 403, create, Reason::Other, Some("true"));
}

#[test]
fn a_missing_unit_is_told_by_its_option() {
    for message in [
        "Check the API key: a team-level key needs the header `X-Service-Unit-Id`.",
        "x-service-unit-id is missing",
    ] {
        for (operation, error) in [(Create, "true"), (Get, "Authentication failed")] {
            let body = json!({"error": error, "message": message}).to_string();
            let text = refused(operation, 401, &body, Reason::Authentication, Some(error));
            assert!(text.contains("`unitId`") && text.ends_with(message), "{text}");
        }
    }
}

#[test]
fn anything_else_is_told_by_status_and_words() {
    let text = refused(
        Create,
        422,
        r#"{"error":"Idempotency-Key reused","message":"Use a new key."}"#,
        Reason::Other,
        Some("Idempotency-Key reused"),
    );
    assert_eq!(text, "the service answered 422: Idempotency-Key reused: Use a new key.");
    let html = refused(Get, 500, "<html>no</html>", Reason::Other, None);
    assert_eq!(html, "the service answered 500 without a body of the contract's error shape");
    for status in [0, 301, 302, 303, 307, 308] {
        assert!(refused(Get, status, "", Reason::Other, None).contains("redirect"));
    }
}

#[test]
fn a_success_that_is_not_the_contracts_is_none() {
    let broken = [
        String::new(),
        "null".into(),
        "[]".into(),
        "{}".into(),
        "<html>".into(),
        retrieved(json!(null)).to_string(),
        retrieved(json!(true)).to_string(),
        created(json!("1.00")).to_string().replace("\"isLive\":false", "\"isLive\":\"no\""),
        created(json!("1.00")).to_string().replace("USD", "XXX"),
        created(json!("1.00")).to_string() + " trailing",
    ];
    for body in broken {
        for operation in [Create, Get] {
            let text = refused(operation, 200, &body, Reason::Other, None);
            assert!(
                text.starts_with(
                    "the service answered 200 with a body that is not the contract's: "
                ),
                "{text}"
            );
        }
    }
}

#[test]
fn bytes_that_are_no_text_do_no_harm() {
    for status in [200, 401, 404, 500] {
        assert!(read(Get, status, b"\xff\xfe{\"error\":\"\xc3\"}").is_err());
    }
}

#[test]
fn the_services_words_are_bounded_in_a_message() {
    let body = json!({"error": "é".repeat(100_000), "message": "x"}).to_string();
    let Err(AnswerError { message, .. }) = read(Get, 500, body.as_bytes()) else { unreachable!() };
    assert!(message.chars().count() < 1_100);
}

/// Every way to damage a document at one pointer: another value, or none.
fn spoiled(whole: &Value) -> Vec<(String, Value)> {
    let mut pointers = Vec::new();
    collect_pointers(whole, String::new(), &mut pointers);
    let others = [
        json!(null),
        json!(true),
        json!(1.5),
        json!(-1),
        json!("text"),
        json!([]),
        json!({}),
        json!([1]),
        json!({"a": 1}),
    ];
    let mut all = Vec::new();
    for pointer in pointers {
        for other in &others {
            let mut copy = whole.clone();
            if let Some(spot) = copy.pointer_mut(&pointer) {
                *spot = other.clone();
            }
            all.push((format!("{pointer} = {other}"), copy));
        }
        let Some((parent, name)) = pointer.rsplit_once('/') else { continue };
        let mut copy = whole.clone();
        if let Some(Value::Object(members)) = copy.pointer_mut(parent) {
            members.remove(name);
            all.push((format!("{pointer} absent"), copy));
        }
    }
    all
}

fn collect_pointers(value: &Value, pointer: String, all: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| {
                collect_pointers(value, format!("{pointer}/{name}"), all)
            });
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| {
                collect_pointers(value, format!("{pointer}/{index}"), all)
            });
        }
        _ => {}
    }
    all.push(pointer);
}

fn with(mut body: Value, more: Value) -> Value {
    if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
        body.extend(more);
    }
    body
}

fn detail() -> Value {
    json!({
        "name": "n", "description": null, "nounSingular": "t", "nounPlural": "ts",
        "image": "https://e.org/i", "externalId": "x", "externalUrl": "https://e.org",
    })
}

fn full_created() -> Value {
    let pledge =
        json!({"id": "p_1", "impact": {"amount": 1, "offeringId": "tree"}, "detail": detail()});
    let notifications = json!([{"type": "Email", "status": "Pending"}]);
    with(created(json!("1.00")), json!({"pledges": [pledge], "notifications": notifications}))
}

fn full_retrieved() -> Value {
    let more = json!({
        "pledges": [{
            "id": "p_1", "impact": {"amount": 0.5, "offeringId": "tree"}, "details": [detail()],
            "recipient": {"email": "a@e.org", "firstName": "A", "name": null},
        }],
        "notifications": [{"type": "Email", "status": "Pending"}],
        "timelineUrl": "https://example.org/t?edit_key=k",
    });
    with(retrieved(json!(1.5)), more)
}

/// The tables that a client reads by and the records that the service writes are one contract.
#[test]
fn the_shapes_are_those_of_the_records() {
    let mut refused = 0;
    for (what, body) in spoiled(&full_created()) {
        let text = body.to_string();
        // A record's amount is what the service itself wrote; to a client it may be anyone's text.
        let by_record =
            serde_json::from_str::<PledgeTransaction<'_>>(&text).is_ok() && !is_no_decimal(&what);
        assert_eq!(read(Create, 200, text.as_bytes()).is_ok(), by_record, "{what}");
        refused += usize::from(!by_record);
    }
    for (what, body) in spoiled(&full_retrieved()) {
        let text = body.to_string();
        let by_record = serde_json::from_str::<RetrievedPledgeTransaction<'_>>(&text).is_ok()
            && !is_no_decimal(&what);
        assert_eq!(read(Get, 200, text.as_bytes()).is_ok(), by_record, "{what}");
        refused += usize::from(!by_record);
    }
    assert!(refused > 300, "{refused}");
}

fn is_no_decimal(what: &str) -> bool {
    what == "/charge/amount = \"text\""
}

#[test]
fn a_member_that_appears_twice_or_escaped_is_seen() {
    let body = full_retrieved().to_string();
    let twice = body.replacen('{', r#"{"isLive":true,"#, 1);
    let text = refused(Get, 200, &twice, Reason::Other, None);
    assert!(text.ends_with("`/isLive` must be a member that appears once"), "{text}");
    let escaped = body.replace("\"isLive\"", "\"\\u0069sLive\"");
    amount(Get, 200, &serde_json::from_str(&escaped).unwrap_or_default(), "1.50");
    assert!(read(Get, 200, escaped.as_bytes()).is_ok());
    assert!(read(Get, 200, escaped.replace("sLive\":false", "sLive\":0").as_bytes()).is_err());
}

#[test]
fn what_is_passed_over_may_be_anything_but_deep() {
    let later = |value: &str| {
        full_retrieved().to_string().replacen('{', &format!(r#"{{"later":{value},"#), 1)
    };
    for value in [r#""\ud800""#, "-0.5e-400", "[[],{}]", r#"{"\ud800":{"a":[null,true]}}"#, "1e999"]
    {
        assert!(read(Get, 200, later(value).as_bytes()).is_ok(), "{value}");
    }
    let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    assert!(read(Get, 200, later(&deep).as_bytes()).is_err());
    for value in ["", "nul", "01", "[1,]", "{\"a\"}", "\"\u{1}\"", "'a'"] {
        assert!(read(Get, 200, later(value).as_bytes()).is_err(), "{value}");
    }
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    assert!(read(Get, 200, format!("\u{feff}{}", full_retrieved()).as_bytes()).is_ok());
}

#[test]
fn a_mismatch_is_told_by_its_place() {
    let body = full_retrieved().to_string().replace(r#""amount":0.5"#, r#""amount":0"#);
    let text = refused(Get, 200, &body, Reason::Other, None);
    assert!(text.ends_with("`/pledges/0/impact/amount` must be a number greater than 0"), "{text}");
}

proptest! {
    /// Cut or altered at random, a body is refused or read, and never a panic; what is read is JSON.
    #[test]
    fn any_bytes_are_read_or_refused(at in 0_usize..700, byte: u8, cut: bool) {
        let mut body = full_retrieved().to_string().into_bytes();
        let at = at % body.len();
        if cut { body.truncate(at) } else { body.splice(at..=at, [byte]); }
        if read(Get, 200, &body).is_ok() {
            prop_assert!(serde_json::from_slice::<serde::de::IgnoredAny>(&body).is_ok());
        }
    }
}
