//! Every body of the wire: what is encoded decodes to the same.

use impact_pledge::api::{self, ErrorBody, Operation, Problem};
use impact_pledge::auth::{KeyLevel, KeyRecord};
use impact_pledge::charge::{Catalogue, UnitPrice};
use impact_pledge::idempotency::{Replay, Terms};
use impact_pledge::pledge::{
    Amount, Charge, CurrencyCode, EditKey, Impact, Notification, Pledge, PledgeDetail,
    PledgeTransaction, PledgeTransactionRequest, Recipient, RetrievedPledgeTransaction, Trigger,
};
use impact_pledge::scope::{Mode, Scope};
use impact_pledge::store::TransactionMetadata;
use impact_pledge::version::Version;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::borrow::Cow;

// ---- Generated bodies --------------------------------------------------------------------------

type Text = Cow<'static, str>;
type Maybe = Option<Text>;

fn text() -> impl Strategy<Value = Text> {
    any::<String>().prop_map(Cow::Owned)
}

fn maybe() -> impl Strategy<Value = Maybe> {
    proptest::option::of(text())
}

fn currency() -> impl Strategy<Value = CurrencyCode> {
    proptest::sample::select(vec![CurrencyCode::Usd, CurrencyCode::Gbp, CurrencyCode::Eur])
}

fn amount() -> impl Strategy<Value = Amount> {
    let bits = any::<u64>().prop_map(|bits| f64::from_bits(bits & (u64::MAX >> 1)));
    let round = (1..u64::MAX).prop_map(|integer| integer as f64);
    prop_oneof![bits, round, Just(5e-324), Just(f64::MAX), Just(0.1), Just(9_007_199_254_740_993.0)]
        .prop_filter_map("finite and above 0", Amount::new)
}

fn charge() -> impl Strategy<Value = Charge<'static>> {
    ("[0-9]{1,30}\\.[0-9]{2}", currency(), maybe()).prop_map(|(amount, currency_code, paid_at)| {
        Charge { amount: Cow::Owned(amount), currency_code, paid_at }
    })
}

fn recipient() -> impl Strategy<Value = Recipient<'static>> {
    (text(), maybe(), maybe()).prop_map(|(email, first_name, name)| Recipient {
        email,
        first_name,
        name,
    })
}

fn trigger() -> impl Strategy<Value = Trigger<'static>> {
    (maybe(), maybe(), maybe()).prop_map(|(date, phrase, external_url)| Trigger {
        date,
        phrase,
        external_url,
    })
}

fn detail() -> impl Strategy<Value = PledgeDetail<'static>> {
    let members = (maybe(), maybe(), maybe(), maybe(), maybe(), maybe(), maybe());
    members.prop_map(|members| {
        let (name, description, noun_singular, noun_plural, image, external_id, external_url) =
            members;
        PledgeDetail {
            name,
            description,
            noun_singular,
            noun_plural,
            image,
            external_id,
            external_url,
        }
    })
}

fn pledge() -> impl Strategy<Value = Pledge<'static>> {
    (text(), amount(), text(), detail()).prop_map(|(id, amount, offering_id, detail)| Pledge {
        id,
        impact: Impact { amount, offering_id },
        detail,
    })
}

fn notification() -> impl Strategy<Value = Notification<'static>> {
    (text(), text()).prop_map(|(kind, status)| Notification { kind, status })
}

fn transaction() -> impl Strategy<Value = PledgeTransaction<'static>> {
    let lists = (
        proptest::collection::vec(pledge(), 1..5),
        proptest::collection::vec(notification(), 0..4),
    );
    let texts = (text(), text(), text(), text());
    (texts, any::<bool>(), charge(), recipient(), trigger(), lists).prop_map(
        |(
            (id, reference, created_at, timeline_url),
            is_live,
            charge,
            recipient,
            trigger,
            lists,
        )| {
            PledgeTransaction {
                id,
                reference,
                created_at,
                is_live,
                charge,
                recipient,
                trigger,
                pledges: lists.0,
                notifications: lists.1,
                timeline_url,
            }
        },
    )
}

fn catalogue() -> impl Strategy<Value = Catalogue> {
    let price = "[0-9]{1,5}(\\.[0-9]{1,5})?".prop_map(|text| UnitPrice::parse(&text).unwrap());
    (currency(), proptest::collection::btree_map("[ -~]{1,20}", price, 0..5))
        .prop_map(|(currency_code, unit_prices)| Catalogue { currency_code, unit_prices })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn the_create_answer(transaction in transaction()) {
        let bytes = api::to_json(&transaction);
        prop_assert_eq!(serde_json::from_slice::<PledgeTransaction<'_>>(&bytes).unwrap(), transaction);
    }

    #[test]
    fn the_get_answer(transaction in transaction()) {
        let retrieved = transaction.into_retrieved();
        let bytes = api::to_json(&retrieved);
        prop_assert_eq!(decode_retrieved(&bytes).unwrap(), retrieved);
    }

    /// A replay answers what the create answered, made from what get answers.
    #[test]
    fn the_create_answer_from_the_get_answer(transaction in transaction()) {
        let bytes = api::to_json(&transaction.clone().into_retrieved());
        let retrieved = decode_retrieved(&bytes).unwrap();
        prop_assert_eq!(retrieved.into_created(transaction.id.clone()), Some(transaction));
    }

    #[test]
    fn an_error(error in text(), message in maybe(), is_live in any::<Option<bool>>()) {
        let body = ErrorBody { error, message, is_live };
        let decoded: Value = serde_json::from_slice(&api::to_json(&body)).unwrap();
        let mut expected = json!({ "error": body.error, "message": body.message, "isLive": body.is_live });
        expected.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        prop_assert_eq!(decoded, expected);
    }

    #[test]
    fn a_catalogue(catalogue in catalogue()) {
        let bytes = serde_json::to_vec(&catalogue).unwrap();
        prop_assert_eq!(serde_json::from_slice::<Catalogue>(&bytes).unwrap(), catalogue);
    }

    #[test]
    fn a_key(unit_id in "[A-Za-z0-9_.-]{1,40}", is_live in any::<bool>(), label in "[ -~]{0,40}") {
        let mode = if is_live { Mode::Live } else { Mode::Test };
        let record = KeyRecord { label, ..KeyRecord::new(mode, KeyLevel::Unit { unit_id }) };
        let bytes = serde_json::to_vec(&record).unwrap();
        prop_assert_eq!(serde_json::from_slice::<KeyRecord>(&bytes).unwrap(), record);
    }

    #[test]
    fn a_replay(texts in proptest::array::uniform4(any::<String>())) {
        let [id, created_at, amount, origin] = texts;
        let terms = Terms { created_at, amount, currency_code: CurrencyCode::Gbp, origin };
        let replay = Replay { id, terms, version: Version };
        let bytes = serde_json::to_vec(&replay).unwrap();
        prop_assert_eq!(serde_json::from_slice::<Replay>(&bytes).unwrap(), replay);
    }

    #[test]
    fn an_access(unit in any::<String>(), bytes in any::<[u8; 20]>()) {
        let edit_key = EditKey::from_bytes(bytes);
        let access = TransactionMetadata::new(Scope { unit, mode: Mode::Test }, &edit_key);
        let bytes = serde_json::to_vec(&access).unwrap();
        prop_assert_eq!(&serde_json::from_slice::<TransactionMetadata>(&bytes).unwrap(), &access);
        prop_assert!(access.opens_with(edit_key.as_str()));
    }

    /// A fingerprint is taken of this: two spellings of one request have one encoding.
    #[test]
    fn a_request_however_it_is_spelled(amount in amount(), reference in any::<String>()) {
        let request = json!({
            "reference": reference,
            "recipient": { "email": "a@b" },
            "pledges": [{ "impact": { "amount": amount.get(), "offeringId": "t" } }],
        });
        let pretty = serde_json::to_string_pretty(&request).unwrap();
        prop_assert_eq!(canonical(&pretty), canonical(&request.to_string()));
    }
}

fn canonical(json: &str) -> String {
    let request = PledgeTransactionRequest::parse(json.as_bytes(), 20).unwrap();
    String::from_utf8(api::to_json(&request)).unwrap()
}

/// Fingerprints outlive a release: a repeat of today must match a create of yesterday.
#[test]
fn the_canonical_request_stays_what_it_is() {
    let request = r#"{"notifications":["Email"],"trigger":{"phrase":"\u00e9\n\u0001/\ud83c\udf33"},
        "pledges":[{"impact":{"offeringId":"t","amount":3.0}},{"impact":{"offeringId":"u",
        "amount":1e308},"detail":{"image":"https://e.org/i"}}],"recipient":{"email":"a@b"},
        "reference":"\"\\"}"#;
    let none = r#""detail":{"name":null,"description":null,"nounSingular":null,"nounPlural":null,"#;
    let expected = [
        r#"{"reference":"\"\\","recipient":{"email":"a@b","firstName":null,"name":null},"#,
        r#""pledges":[{"impact":{"amount":3,"offeringId":"t"},"#,
        none,
        r#""image":null,"externalId":null,"externalUrl":null}},"#,
        r#"{"impact":{"amount":1e+308,"offeringId":"u"},"#,
        none,
        r#""image":"https://e.org/i","externalId":null,"externalUrl":null}}],"#,
        "\"trigger\":{\"date\":null,\"phrase\":\"é\\n\\u0001/🌳\",\"externalUrl\":null},",
        r#""notifications":["Email"]}"#,
    ];
    assert_eq!(canonical(request), expected.concat());
}

// ---- What may be read --------------------------------------------------------------------------

fn retrieved() -> Value {
    json!({
        "createdAt": "2026-01-31T12:00:00.000Z",
        "reference": "order-1",
        "isLive": false,
        "charge": { "amount": "1.50", "currencyCode": "USD", "paidAt": null },
        "trigger": { "date": null, "phrase": null, "externalUrl": null },
        "pledges": [{
            "id": "p_1",
            "impact": { "offeringId": "tree", "amount": 3 },
            "details": [{
                "name": null, "description": null, "nounSingular": null, "nounPlural": null,
                "image": null, "externalId": null, "externalUrl": null
            }],
            "recipient": { "email": "ada@example.org", "firstName": null, "name": null }
        }],
        "notifications": [{ "type": "Email", "status": "Pending" }],
        "timelineUrl": "https://pledge.example/timeline/1?edit_key=k"
    })
}

fn decode_retrieved(body: &[u8]) -> serde_json::Result<RetrievedPledgeTransaction<'_>> {
    serde_json::from_slice(body)
}

fn reads(body: &Value) -> bool {
    decode_retrieved(body.to_string().as_bytes()).is_ok()
}

#[track_caller]
fn amount_reads_as(json: &str, expected: &str) {
    let body = retrieved().to_string().replace("\"1.50\"", json);
    let body = decode_retrieved(body.as_bytes()).unwrap();
    assert_eq!(body.charge.amount, expected, "`{json}`");
}

#[test]
fn a_charge_as_string_or_number() {
    amount_reads_as("\"1.50\"", "1.50");
    amount_reads_as("\"1\\u002e50\"", "1.50");
    amount_reads_as("1.5", "1.50");
    amount_reads_as("1.50", "1.50");
    amount_reads_as("12", "12.00");
    amount_reads_as("0", "0.00");
    amount_reads_as("0.1", "0.10");
    amount_reads_as("1e3", "1000.00");
    amount_reads_as("1234567.89", "1234567.89");
    amount_reads_as("9007199254740993", "9007199254740993.00");
    amount_reads_as("-5", "-5.00");
    amount_reads_as("-0.5", "-0.50");
    amount_reads_as("1e20", "100000000000000000000.00");
}

#[test]
fn members_that_may_be_absent() {
    for name in ["notifications", "timelineUrl"] {
        let mut body = retrieved();
        body.as_object_mut().unwrap().remove(name);
        assert!(reads(&body), "without `{name}`");
        body[name] = Value::Null;
        assert!(reads(&body), "with `{name}` null");
    }
    for pointer in ["/charge", "/trigger", "/pledges/0/details/0", "/pledges/0/recipient"] {
        let mut body = retrieved();
        let part = body.pointer_mut(pointer).unwrap().as_object_mut().unwrap();
        part.retain(|_, value| !value.is_null());
        let expected = api::to_json(&decode_retrieved(body.to_string().as_bytes()).unwrap());
        let expected: Value = serde_json::from_slice(&expected).unwrap();
        assert_eq!(expected, retrieved(), "{pointer}: absent members read as null");
    }
}

#[test]
fn members_that_may_not_be_absent() {
    for pointer in ["", "/charge", "/pledges/0", "/pledges/0/impact", "/pledges/0/recipient"] {
        for name in retrieved().pointer(pointer).unwrap().as_object().unwrap().keys() {
            let mut body = retrieved();
            let part = body.pointer_mut(pointer).unwrap().as_object_mut().unwrap();
            let optional = part.remove(name).unwrap().is_null()
                || ["notifications", "timelineUrl"].contains(&&**name);
            assert_eq!(reads(&body), optional, "without `{pointer}/{name}`");
        }
    }
}

#[test]
fn members_that_the_contract_does_not_have_are_passed_over() {
    for pointer in [
        "",
        "/charge",
        "/trigger",
        "/pledges/0",
        "/pledges/0/impact",
        "/pledges/0/details/0",
        "/pledges/0/recipient",
        "/notifications/0",
    ] {
        let mut body = retrieved();
        body.pointer_mut(pointer).unwrap()["extra"] = json!({ "a": [1, null] });
        assert!(reads(&body), "`{pointer}`");
    }
    let mut body = retrieved();
    body["id"] = json!("ptran_1");
    body["recipient"] = json!({ "email": "ada@example.org" });
    assert!(reads(&body), "what the field list of §4.2 leaves out");
}

/// A release can be rolled back.
#[test]
fn stored_members_of_a_later_release_are_passed_over() {
    let replay = r#"{"id":"ptran_1","since":{"a":[1]},"terms":{"createdAt":"",
        "amount":"1.00","currencyCode":"USD","origin":"https://a","since":{"a":[1]}}}"#;
    assert_eq!(serde_json::from_str::<Replay>(replay).unwrap().terms.amount, "1.00");
    let access = r#"{"editKey":"00","unit":"unit_1","mode":"test","since":{"a":[1]}}"#;
    let scope = Scope { mode: Mode::Test, unit: "unit_1".to_owned() };
    assert!(serde_json::from_str::<TransactionMetadata>(access).unwrap().allows(&scope));
}

// ---- Errors, as §7 says ------------------------------------------------------------------------

fn body(problem: &Problem, is_live: Option<bool>) -> Value {
    serde_json::from_slice(&api::to_json(&problem.body(is_live))).unwrap()
}

#[test]
fn not_found_has_error_alone() {
    for is_live in [None, Some(false), Some(true)] {
        let bytes = api::to_json(&Problem::TransactionNotFound.body(is_live));
        assert_eq!(bytes, br#"{"error":"Pledge transaction not found"}"#);
    }
    assert_eq!(Problem::TransactionNotFound.status(), 404);
}

#[test]
fn unauthorized_bodies_differ_by_operation() {
    for problem in [Problem::Unauthorized, Problem::UnitRequired] {
        let create = body(&problem(Operation::Create), None);
        assert_eq!(create["error"], "true");
        let text = create["message"].as_str().unwrap();
        assert!(text.contains("Not authorized") && text.contains("API key"), "{text}");
        let get = body(&problem(Operation::Get), None);
        assert_eq!(get["error"], "Authentication failed");
        assert!(get["message"].as_str().unwrap().contains("Check the API key"));
        assert_eq!(problem(Operation::Create).status(), 401);
        assert_eq!(problem(Operation::Get).status(), 401);
        assert_eq!(problem(Operation::Get).header(), Some(("www-authenticate", "Bearer")));
    }
    for operation in [Operation::Create, Operation::Get] {
        let message = body(&Problem::UnitRequired(operation), None)["message"].to_string();
        assert!(message.contains("X-Service-Unit-Id"), "{message}");
    }
}

fn problems() -> Vec<(Problem, u16)> {
    vec![
        (Problem::InvalidRequest("what is wrong".to_owned()), 400),
        (Problem::InvalidIdempotencyKey, 400),
        (Problem::UnreadableBody, 400),
        (Problem::Unauthorized(Operation::Create), 401),
        (Problem::Unauthorized(Operation::Get), 401),
        (Problem::UnitRequired(Operation::Create), 401),
        (Problem::UnitRequired(Operation::Get), 401),
        (Problem::TransactionNotFound, 404),
        (Problem::PathNotFound, 404),
        (Problem::MethodNotAllowed("GET"), 405),
        (Problem::ContentTooLarge, 413),
        (Problem::RecordTooLarge, 413),
        (Problem::UnsupportedMediaType, 415),
        (Problem::IdempotencyKeyReused, 422),
        (Problem::Internal("the secret cause".to_owned()), 500),
        (Problem::StoreUnavailable, 503),
    ]
}

#[test]
fn every_error_has_error_and_message_and_the_mode_once_it_is_known() {
    for (problem, status) in problems() {
        assert_eq!(problem.status(), status, "{problem:?}");
        if problem == Problem::TransactionNotFound {
            continue;
        }
        for is_live in [None, Some(false), Some(true)] {
            let body = body(&problem, is_live);
            assert!(!body["error"].as_str().unwrap().is_empty(), "{problem:?}");
            assert!(!body["message"].as_str().unwrap().is_empty(), "{problem:?}");
            assert_eq!(body.get("isLive").and_then(Value::as_bool), is_live, "{problem:?}");
            let members = 2 + usize::from(is_live.is_some());
            assert_eq!(body.as_object().unwrap().len(), members, "{problem:?}");
        }
    }
}

#[test]
fn what_the_operator_should_know_is_not_for_the_caller() {
    let body = body(&Problem::Internal("the secret cause".to_owned()), Some(true));
    assert!(!body.to_string().contains("secret"), "{body}");
}
