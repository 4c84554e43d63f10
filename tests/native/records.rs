//! Tests stored records: which are written, and which a release must be able to read.

use futures_executor::block_on;
use impact_pledge::pledges::auth::{ApiKey, KeyRecord};
use impact_pledge::pledges::idempotency::{IdempotencyKey, ReplayHash};
use impact_pledge::pledges::scope::{Mode, Scope};
use impact_pledge::pledges::secret::NamespaceSecret;
use impact_pledge::pledges::store::{
    CredentialKey, Key as _, NoMetadata, PriceListKey, ProfileKey, ReplayKey, Store as _,
    TransactionMetadata,
};
use impact_pledge::pledges::types::{EditKey, NotificationService};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::cell::Cell;
use strum::IntoEnumIterator as _;
use support::service::{
    Answer, MemoryQueue, ORIGIN, PATH, SECRET, TestRequest, UNIT, minimal, put_key, put_prices,
    repeatable, seeded, unit,
};

// ---- Records that do not read ------------------------------------------------------------------

#[test]
fn a_record_that_does_not_read_is_our_mistake() {
    let service = seeded();
    let hash = CredentialKey(ApiKey::new("service_sk_test_odd").hash());
    block_on(service.store.put(&hash, b"the secret record".to_vec(), &NoMetadata)).unwrap();
    let answer = service.create("service_sk_test_odd", &minimal());
    assert_eq!((answer.status, &answer.json()["error"]), (500, &json!("Internal error")));
    assert!(!answer.text.contains("secret"));
    put_prices(&*service.store, Mode::Test, b"{}");
    let answer = service.create(UNIT, &minimal());
    assert_eq!((answer.status, &answer.json()["isLive"]), (503, &json!(false)));
    assert!(answer.json()["message"].as_str().unwrap().contains("nothing was recorded"));
}

#[test]
fn the_log_says_which_values_a_release_knows() {
    let service = seeded();
    put_prices(&*service.store, Mode::Test, br#"{"currencyCode":"`, expected `","unitPrices":{}}"#);
    let log = service.create(UNIT, &minimal()).log.unwrap();
    let known = "damaged: unknown value, expected one of `USD`, `GBP`, `EUR` at line 1 column ";
    assert!(log.contains(known), "{log}");
}

/// The currency of a charge may be one that only a later release knows.
#[test]
fn a_transaction_in_an_unknown_currency_is_shown_and_repeated() {
    let in_francs = |text: &str| text.replace(r#""USD""#, r#""CHF""#);
    let service = seeded();
    let created = service.send(&repeatable(&minimal()));
    let id = created.json()["id"].as_str().unwrap().to_owned();
    service.store.names().iter().for_each(|name| service.store.edit(name, in_francs));
    let service = service.isolate();
    let repeat = service.send(&repeatable(&minimal()));
    assert_eq!((repeat.status, repeat.text), (200, in_francs(&created.text)));
    assert_eq!(service.get(UNIT, &id).json()["charge"]["currencyCode"], "CHF");
    let page = created.json()["timelineUrl"].as_str().unwrap().replace(ORIGIN, "");
    assert_eq!(service.send(&TestRequest::new("GET", &page, "")).status, 200);

    service.store.set_hidden(Some("transaction:"));
    let repeat = service.send(&repeatable(&minimal()));
    assert_eq!((repeat.status, &*repeat.headers["retry-after"]), (503, "1"), "it is not seen yet");
}

/// serde_json's errors quote unexpected values. Stored values must not get into the log.
#[test]
fn the_log_says_which_record_is_damaged_and_quotes_nothing_of_it() {
    let timeline = "/timeline/ptran_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa?edit_key=k";
    let hash = |key| CredentialKey(ApiKey::new(key).hash()).name();
    let scope = Scope { unit: "unit_dev".to_owned(), mode: Mode::Test };
    let repeat =
        ReplayKey(ReplayHash::new(&SECRET, &scope, &IdempotencyKey::parse("order-1").unwrap()));
    let transaction = || "transaction:ptran_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa".to_owned();
    let edit_key = base16ct::lower::encode_string(&Sha256::digest("k"));
    let access = json!({ "mode": "test", "unit": "unit_dev", "editKey": edit_key, "bytes": 1_000 });
    let create = || repeatable(&minimal());
    for (kind, name, metadata, damaged, request) in [
        ("key", hash(UNIT), Value::Null, KEYS, create()),
        (
            "price list",
            PriceListKey::of_mode(Mode::Test).name(),
            Value::Null,
            PRICE_LISTS,
            create(),
        ),
        ("replay", repeat.name(), Value::Null, REPLAYS, create()),
        ("transaction", transaction(), access, TRANSACTIONS, TestRequest::new("GET", timeline, "")),
    ] {
        for value in BROKEN.iter().chain(damaged) {
            let service = seeded();
            service.store.keep(&name, value.as_bytes(), metadata.to_string().as_bytes());
            logs_without_quoting(&service.send(&request), kind, value);
        }
    }
    for metadata in BROKEN_METADATA {
        let service = seeded();
        let metadata: Value = serde_json::from_str(metadata).unwrap();
        service.store.keep(&transaction(), b"", metadata.to_string().as_bytes());
        for request in [
            TestRequest::new("GET", timeline, ""),
            TestRequest::new(
                "GET",
                &format!("{PATH}/ptran_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
                UNIT,
            ),
        ] {
            logs_without_quoting(&service.send(&request), "metadata", &metadata.to_string());
        }
    }
}

#[track_caller]
fn logs_without_quoting(answer: &Answer, kind: &str, stored: &str) {
    let log = answer.log.as_deref().unwrap_or_default();
    assert_eq!(answer.status, if kind == "price list" { 503 } else { 500 }, "`{stored}`: {log}");
    assert!(
        log.contains(&format!(r#""cause":"the stored {kind} is damaged: "#)),
        "`{stored}`: {log}"
    );
    assert!(log.contains(" at line 1 column "), "`{stored}`: {log}");
    assert!(!log.contains("canary") && !answer.text.contains("canary"), "`{stored}`: {log}");
}

const BROKEN: &[&str] =
    &["", "canary", "\"canary\"", "{\"canary\"", "{\"canary\":", "[\"canary\"]", "{}"];
const KEYS: &[&str] = &[
    r#"{"mode":"canary","unit":"u"}"#,
    r#"{"mode":"test","unit":"a canary"}"#,
    r#"{"mode":"test","unit":["canary"]}"#,
    r#"{"mode":"test","team":"a:canary"}"#,
    r#"{"mode":"test","unit":"canary","team":"t"}"#,
    r#"{"mode":"test","mode":"canary","unit":"u"}"#,
];
const PRICE_LISTS: &[&str] = &[
    r#"{"currencyCode":"canary","unitPrices":{}}"#,
    r#"{"currencyCode":"USD","unitPrices":{"canary":"canary"}}"#,
    r#"{"currencyCode":"USD","unitPrices":{"canary":"1","canary":"2"}}"#,
    r#"["USD",{},"canary"]"#,
];
const REPLAYS: &[&str] =
    &[r#"{"id":["canary"],"fingerprint":"canary"}"#, r#"{"id":"canary","id":"canary"}"#];
const TRANSACTIONS: &[&str] = &[
    r#"{"createdAt":["canary"]}"#,
    r#"{"charge":{"amount":"canary","currencyCode":"canary"}}"#,
    r#"{"pledges":[{"impact":{"amount":"canary"}}]}"#,
    r#"{"notifications":{"canary":"canary"}}"#,
];
const BROKEN_METADATA: &[&str] = &[
    "null",
    r#"["test","canary","00"]"#,
    r#"{"mode":"canary","unit":"u","editKey":"00"}"#,
    r#"{"mode":"test","unit":["canary"],"editKey":"canary"}"#,
    r#"{"mode":"test","unit":"u","editKey":"canary"}"#,
];

// ---- What an operator finds a transaction by -----------------------------------------------------

/// Returns the metadata of a transaction that this key creates, without the random parts.
fn metadata(record: &KeyRecord, request: &TestRequest) -> Value {
    let service = seeded();
    put_key(&*service.store, UNIT, record);
    assert_eq!(service.send(request).status, 200);
    let mut metadata = service.store.metadata("transaction:");
    assert_eq!(metadata.len(), 1);
    let name = service.store.names().into_iter().find(|name| name.starts_with("transaction:"));
    let bytes = service.store.value(&name.unwrap()).unwrap().len();
    let members = metadata[0].as_object_mut().unwrap();
    assert_eq!(members.remove("editKey").unwrap().as_str().unwrap().len(), 64);
    assert_eq!(members.remove("bytes").unwrap(), bytes);
    metadata.remove(0)
}

fn with_secret(secret: NamespaceSecret) -> KeyRecord {
    KeyRecord { secret: Some(secret), ..KeyRecord::new(Mode::Test, unit("unit_dev")) }
}

#[test]
fn a_transaction_is_listed_with_time_charge_and_hashes() {
    let once = TestRequest::new("POST", PATH, UNIT).with_body(minimal().to_string().into_bytes());
    let scope = Scope { unit: "unit_dev".to_owned(), mode: Mode::Test };
    let hashes = SECRET.hashes(&scope, "order-1", "ada@example.org");
    let plain = json!({
        "version": 1, "mode": "test", "unit": "unit_dev", "summary": {
            "createdAt": "2026-01-31T12:00:00.123Z", "amount": "1.50", "currencyCode": "USD", "lookup": hashes,
            "key": "d4f722b49dea", "quantities": [["tree", 3_000_000]],
        },
    });
    assert_eq!(metadata(&with_secret(SECRET.clone()), &once), plain);
    let mut found = metadata(&with_secret(SECRET.clone()), &repeatable(&minimal()));
    let replay =
        ReplayHash::new(&SECRET, &scope, &IdempotencyKey::parse("order-1").unwrap()).to_hex();
    assert_eq!(found["summary"]["replay"], replay);
    found["summary"].as_object_mut().unwrap().remove("replay");
    assert_eq!(found, plain);
}

#[test]
fn hashes_tell_apart_all_but_the_spellings_of_an_address_and_an_order_number() {
    let scope = |unit: &str, mode| Scope { unit: unit.to_owned(), mode };
    let of = |key: NamespaceSecret, scope, reference, email| key.hashes(&scope, reference, email);
    let hashes = of(SECRET.clone(), scope("u", Mode::Test), "order-1", "ada@example.org");
    let other_case = of(SECRET.clone(), scope("u", Mode::Test), "order-1", "Ada@Example.ORG");
    assert_eq!(hashes, other_case);
    let other_order = of(SECRET.clone(), scope("u", Mode::Test), " # ORDER-1", "ada@example.org");
    assert_eq!(hashes, other_order);
    for other in [
        of(NamespaceSecret::new([8; 32]), scope("u", Mode::Test), "order-1", "ada@example.org"),
        of(SECRET.clone(), scope("v", Mode::Test), "order-1", "ada@example.org"),
        of(SECRET.clone(), scope("u", Mode::Live), "order-1", "ada@example.org"),
        of(SECRET.clone(), scope("u", Mode::Test), "order-2", "eve@example.org"),
        of(SECRET.clone(), scope("u", Mode::Test), "ada@example.org", "order-1"),
    ] {
        assert_ne!(other.order, hashes.order);
        assert_ne!(other.email, hashes.email);
    }
    assert_eq!((hashes.order.len(), hashes.email.len()), (32, 32));
}

/// Returns the largest metadata for a transaction with this offering: the longest unit ID, the largest
/// charge, and three messages that the queue refused.
fn largest_metadata(offering_id: &str) -> Value {
    let unit_id = "u".repeat(128);
    let mut service = seeded();
    service.settings.notifies_tests = NotificationService::iter().collect();
    service.queue = Some(MemoryQueue { is_broken: Cell::new(true), ..MemoryQueue::default() });
    let messaging = ["MessagingServiceA", "MessagingServiceB"];
    let profile = json!({ "name": "Small Hours Coffee", "mail": true,
                          "messagingServices": messaging });
    let profile = profile.to_string();
    service.store.keep(&ProfileKey(&unit_id).name(), profile.as_bytes(), b"null");
    let mut record = with_secret(SECRET.clone());
    record.level = unit(&unit_id);
    put_key(&*service.store, UNIT, &record);
    let price = "9".repeat(40);
    let prices = json!({ "currencyCode": "USD", "unitPrices": { "tree": price }, "prices": TIME });
    put_prices(&*service.store, Mode::Test, prices.to_string().as_bytes());
    let pledge = |offering: &str| json!({ "impact": { "amount": 1e308, "offeringId": offering } });
    let mut order = minimal();
    order["pledges"] =
        json!([vec![pledge("tree"); 1_000], vec![pledge(offering_id); 2_000]].concat());
    order["notifications"] = json!(["Email", messaging[0], messaging[1]]);
    assert_eq!(service.send(&repeatable(&order)).status, 200);
    service.store.metadata("transaction:").remove(0)
}

const TIME: &str = "2026-01-31T12:00:00.123Z";

/// Workers KV accepts at most 1,024 bytes of metadata for a record. Even the largest metadata must fit.
#[test]
fn the_metadata_fits_beside_its_record() {
    let metadata = largest_metadata(&"x".repeat(30));
    assert!(metadata["summary"]["amount"].as_str().unwrap().len() > 350);
    assert_eq!(metadata["summary"]["unpriced"], 2_000);
    assert_eq!(metadata["summary"]["prices"], TIME);
    assert_eq!(metadata["summary"]["mail"], "unsent");
    assert_eq!(metadata["summary"]["unsent"], "AB");
    assert_eq!(metadata["summary"]["quantities"], json!(null));
    let bytes = metadata.to_string().len();
    assert!((900..=1_024).contains(&bytes), "{bytes} bytes");

    let room = 1_024 - bytes - r#","quantities":[["tree","1e311"],["","2e311"]]"#.len();
    let full = largest_metadata(&"x".repeat(room));
    let quantities = json!([["tree", "1e311"], ["x".repeat(room), "2e311"]]);
    assert_eq!((full.to_string().len(), &full["summary"]["quantities"]), (1_024, &quantities));
    let longer = largest_metadata(&"x".repeat(room + 1));
    assert_eq!(longer["summary"]["quantities"], json!(null));
}

/// Quantities that do not fit into the metadata are left out of it, and must be read from the record.
#[test]
fn quantities_stand_in_the_metadata_as_far_as_they_fit() {
    let taken_out = r#""bytes":1234,"editKey":"","#.len() + 64; // by `metadata`
    let least = metadata(&with_secret(SECRET.clone()), &offering("")).to_string().len();
    let room = 1_024 - least - taken_out;
    for offering_id in ["t".repeat(room), "\u{e9}".repeat(room / 2) + &"t".repeat(room % 2)] {
        let fits = metadata(&with_secret(SECRET.clone()), &offering(&offering_id));
        assert_eq!(fits["summary"]["quantities"], json!([[offering_id, 3_000_000]]));
        let longer = offering(&format!("{offering_id}t"));
        let without = metadata(&with_secret(SECRET.clone()), &longer);
        assert_eq!(without["summary"]["quantities"], json!(null));
    }
}

/// Returns a create request for a quantity of 3 of this offering. The record of the resulting transaction has
/// between 1,000 and 9,999 bytes.
fn offering(offering_id: &str) -> TestRequest {
    let mut order = minimal();
    order["pledges"][0]["impact"]["offeringId"] = json!(offering_id);
    order["recipient"]["name"] = json!("n".repeat(1_000));
    TestRequest::new("POST", PATH, UNIT).with_body(order.to_string().into_bytes())
}

/// The metadata must be right only where it decides who may read a record. The rest may be wrong: an operator
/// may have edited it, or a later release may count differently.
#[test]
fn nothing_but_access_is_read_of_the_metadata() {
    let scope = Scope { unit: "u".to_owned(), mode: Mode::Live };
    let edit_key = EditKey::from_bytes([1; 20]);
    let mut metadata = json!(TransactionMetadata::new(scope.clone(), &edit_key));
    for name in ["version", "summary", "later"] {
        metadata[name] = json!({ "amount": [null] });
    }
    let read: TransactionMetadata = serde_json::from_value(metadata).unwrap();
    assert!(read.scope == scope && read.opens_with(edit_key.as_str()));
}

/// Logs, errors and lists that show a key's record do not show its copy of the secret.
#[test]
fn a_secret_is_not_printed() {
    assert_eq!(format!("{:?}", *SECRET), "NamespaceSecret(…)");
    let read = |text: &str| serde_json::from_value::<NamespaceSecret>(json!(text));
    assert_eq!(read(&"07".repeat(32)).unwrap(), *SECRET);
    for wrong in ["", "07", &"07".repeat(33), &"0g".repeat(32)] {
        let error = read(wrong).unwrap_err().to_string();
        assert_eq!(error, "a secret has 64 hexadecimal digits");
    }
}
