//! Tests how transactions are encoded and decoded in answers and records, and which spellings of a value are
//! accepted.

use impact_pledge::pledges::api;
use impact_pledge::pledges::types::{
    Amount, PledgeTransaction, PledgeTransactionRequest, RetrievedPledgeTransaction,
};
use proptest::prelude::*;
use serde_json::{Value, json};

// ---- Generated bodies --------------------------------------------------------------------------

fn amount() -> impl Strategy<Value = Amount> {
    let bits = any::<u64>().prop_map(|bits| f64::from_bits(bits & (u64::MAX >> 1)));
    let round = (1..u64::MAX).prop_map(|integer| integer as f64);
    prop_oneof![bits, round, Just(5e-324), Just(f64::MAX), Just(0.1), Just(9_007_199_254_740_993.0)]
        .prop_filter_map("finite and above 0", Amount::new)
}

/// Generates answers to create requests with random texts. Their optional texts may be null.
fn created() -> impl Strategy<Value = Value> {
    let texts = proptest::array::uniform8(any::<String>());
    let nulls = proptest::array::uniform16(proptest::option::of(any::<String>()));
    (texts, nulls, amount(), 0..4_usize, any::<bool>()).prop_map(
        |(texts, nulls, amount, count, is_live)| {
            let [id, reference, created_at, email, offering_id, kind, status, url] = &texts;
            let pledge = json!({
                "id": id,
                "impact": { "amount": amount, "offeringId": offering_id },
                "detail": {
                    "name": nulls[0], "description": nulls[1], "nounSingular": nulls[2],
                    "nounPlural": nulls[3], "image": nulls[4], "externalId": nulls[5],
                    "externalUrl": nulls[6]
                }
            });
            json!({
                "id": id,
                "reference": reference,
                "createdAt": created_at,
                "isLive": is_live,
                "charge": { "amount": "1.50", "currencyCode": "GBP", "paidAt": nulls[7] },
                "recipient": { "email": email, "firstName": nulls[8], "name": nulls[9] },
                "trigger": { "date": nulls[10], "phrase": nulls[11], "externalUrl": nulls[12] },
                "pledges": vec![pledge; count + 1],
                "notifications": vec![json!({ "type": kind, "status": status }); count],
                "timelineUrl": url,
            })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    /// Converts the answer to a create request into the stored record and back. The result must equal the
    /// answer, because an idempotent replay is made from the stored record.
    #[test]
    fn the_answer_to_a_create_is_kept_as_that_to_a_get(created in created()) {
        let text = created.to_string();
        let transaction: PledgeTransaction<'_> = serde_json::from_str(&text).unwrap();
        let written: Value = serde_json::from_slice(&api::to_json(&transaction)).unwrap();
        prop_assert_eq!(&written, &created);
        let bytes = api::to_json(&transaction.clone().into_retrieved());
        let again = decode_retrieved(&bytes).unwrap().into_created(transaction.id.clone());
        prop_assert_eq!(again, Some(transaction));
    }

    /// A request's fingerprint is a hash of its canonical encoding. So two spellings of the same request must
    /// have the same encoding.
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

/// A retry after an upgrade must still match the first request. So the computation of a fingerprint must never
/// change.
#[test]
fn the_canonical_request_never_changes() {
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

#[test]
fn a_charge_as_string_or_number() {
    for (json, expected) in [
        ("\"1.50\"", "1.50"),
        ("\"1\\u002e50\"", "1.50"),
        ("1.5", "1.50"),
        ("12", "12.00"),
        ("1e3", "1000.00"),
        ("9007199254740993", "9007199254740993.00"),
        ("-0.5", "-0.50"),
        ("1e20", "100000000000000000000.00"),
    ] {
        let body = retrieved().to_string().replace("\"1.50\"", json);
        assert_eq!(decode_retrieved(body.as_bytes()).unwrap().charge.amount, expected, "`{json}`");
    }
}

#[test]
fn only_null_and_optional_members_may_be_absent() {
    for pointer in ["", "/charge", "/pledges/0", "/pledges/0/impact", "/pledges/0/recipient"] {
        let mut later = retrieved();
        later.pointer_mut(pointer).unwrap()["extra"] = json!({ "a": [1, null] });
        assert!(reads(&later), "`{pointer}` with a member of a later release");
        for name in retrieved().pointer(pointer).unwrap().as_object().unwrap().keys() {
            let mut body = retrieved();
            let part = body.pointer_mut(pointer).unwrap().as_object_mut().unwrap();
            let optional = part.remove(name).unwrap().is_null()
                || ["notifications", "timelineUrl"].contains(&&**name);
            assert_eq!(reads(&body), optional, "without `{pointer}/{name}`");
        }
    }
}
