//! Tests answers when the store fails, and limits of size.

use super::{may_be_recorded, transactions, unavailable};
use impact_pledge::pledges::api::MIN_PLEDGE_BYTES;
use impact_pledge::pledges::auth::KeyRecord;
use impact_pledge::pledges::scope::Mode;
use serde_json::json;
use support::service::{
    LIVE_UNIT, ORIGIN, PATH, TestRequest, UNIT, minimal, put_key, repeatable, seeded, unit,
};

// ---- When the store fails ---------------------------------------------------------------------

/// An API key whose record lacks the namespace's secret must not create transactions. Otherwise, the
/// transactions' IDs would differ from those that the unit's other keys create.
#[test]
fn a_key_without_the_secret_reads_but_does_not_create() {
    let service = seeded();
    let id = service.create(UNIT, &minimal()).json()["id"].as_str().unwrap().to_owned();
    put_key(&*service.store, UNIT, &KeyRecord::new(Mode::Test, unit("unit_dev")));
    let before = service.store.names();
    let isolate = service.isolate();
    let plain = TestRequest::new("POST", PATH, UNIT).with_body(minimal().to_string().into_bytes());
    for request in [plain, repeatable(&minimal())] {
        let answer = isolate.send(&request);
        assert_eq!((answer.status, &answer.json()["isLive"]), (503, &json!(false)));
        assert_eq!(answer.headers.get("retry-after"), None, "only the operator can help");
        let message = answer.json()["message"].to_string();
        assert!(message.contains("nothing was recorded"), "{message}");
        let log = answer.log.unwrap();
        assert!(log.contains("npm run keys -- create"), "{log}");
    }
    assert_eq!(service.store.names(), before);
    assert_eq!(isolate.get(UNIT, &id).status, 200);
}

#[test]
fn a_store_that_fails_later_says_the_mode_of_the_key() {
    let service = seeded();
    let id = service.create(LIVE_UNIT, &minimal()).json()["id"].as_str().unwrap().to_owned();
    let url =
        service.create(LIVE_UNIT, &minimal()).json()["timelineUrl"].as_str().unwrap().to_owned();
    service.store.set_broken(true);
    may_be_recorded(&service.create(LIVE_UNIT, &minimal()), true);
    unavailable(&service.get(LIVE_UNIT, &id), Some(true));
    let page = service.send(&TestRequest::new("GET", url.strip_prefix(ORIGIN).unwrap(), ""));
    assert_eq!(page.status, 503);
    assert!(page.text.contains("<html"), "`{}`", page.text);
    unavailable(&service.isolate().create(UNIT, &minimal()), None);
    unavailable(&service.isolate().get(UNIT, &id), None);
    service.store.set_broken(false);
    assert_eq!(service.get(LIVE_UNIT, &id).status, 200);
}

/// A create request reads its price list and its replay record at the same time. Which problem it answers with
/// does not depend on the order in which these reads end.
#[test]
fn failed_reads_of_a_create_have_an_order() {
    let other = || repeatable(&minimal()).with_header("idempotency-key", "order-2");
    let invalid = || repeatable(&json!({}));
    let repeat = || repeatable(&minimal());
    /// A name, the records that are not answered for, the damaged ones, the request, and its status.
    type Row<'r> = (&'r str, Option<&'static str>, &'r [&'r str], TestRequest, u16);
    let rows: [Row<'_>; 8] = [
        ("a replay needs no prices", None, &["catalogue:"], repeat(), 200),
        ("a new transaction does", None, &["catalogue:"], other(), 503),
        ("an invalid body needs none", None, &["catalogue:"], invalid(), 400),
        ("a damaged replay record", None, &["idempotency:"], repeat(), 500),
        (
            "a damaged replay record before the prices",
            None,
            &["catalogue:", "idempotency:"],
            repeat(),
            500,
        ),
        ("a damaged replay record before the body", None, &["idempotency:"], invalid(), 500),
        ("no answer about the replay record", Some("idempotency:"), &[], invalid(), 503),
        ("no answer about the prices", Some("catalogue:"), &["idempotency:"], repeat(), 503),
    ];
    for (name, silent, damaged, request, status) in rows {
        let service = seeded();
        assert_eq!(service.send(&repeat()).status, 200);
        for record in service.store.names() {
            if damaged.iter().any(|prefix| record.starts_with(prefix)) {
                service.store.edit(&record, |_| "[".to_owned());
            }
        }
        service.store.set_failing(silent);
        let answer = service.isolate().send(&request);
        assert_eq!(answer.status, status, "{name}: {}", answer.text);
    }
}

#[test]
fn an_announced_length_is_enough_to_refuse_a_body() {
    let service = seeded();
    for (length, status) in [("1048577", 413), ("999999999999", 413), ("1048576", 200)] {
        let request = TestRequest::new("POST", PATH, UNIT)
            .with_body(minimal().to_string().into_bytes())
            .with_header("content-length", length);
        assert_eq!(service.send(&request).status, status, "`{length}`");
    }
}

/// Each pledge of a record repeats the recipient. Without a limit, a small request could cause a record of
/// gigabytes.
#[test]
fn a_record_that_would_be_too_large_is_refused() {
    let service = seeded();
    let pledge = &minimal()["pledges"][0];
    let mut request = minimal();
    for name in ["n".repeat(20_000), "\n".repeat(10_000)] {
        request["recipient"]["name"] = name.into();
        request["pledges"] = vec![pledge.clone(); 140].into();
        let created = service.create(LIVE_UNIT, &request);
        assert_eq!(created.status, 200);
        assert_eq!(service.get(LIVE_UNIT, created.json()["id"].as_str().unwrap()).status, 200);
        let before = service.store.names();
        request["pledges"] = vec![pledge.clone(); 200].into();
        let refused = service.create(LIVE_UNIT, &request);
        assert_eq!((refused.status, &refused.json()["isLive"]), (413, &json!(true)));
        assert_eq!(refused.json()["error"], "Content too large");
        assert_eq!(service.store.names(), before);
    }
}

// ---- A write that is not confirmed ------------------------------------------------------------

#[test]
fn an_unconfirmed_write_says_how_to_repeat() {
    let service = seeded();
    service.store.set_unconfirmed(Some("transaction:"));
    may_be_recorded(&service.create(UNIT, &minimal()), false);
    for prefix in ["transaction:", "idempotency:"] {
        service.store.set_unconfirmed(Some(prefix));
        let request = repeatable(&minimal()).with_header("idempotency-key", prefix);
        let answer = service.send(&request);
        unavailable(&answer, Some(false));
        let message = answer.json()["message"].to_string();
        assert!(message.contains("Repeat the request with the same Idempotency-Key"), "{message}");
        service.store.set_unconfirmed(None);
        let before = transactions(&service);
        assert_eq!(service.isolate().send(&request).status, 200);
        assert_eq!(transactions(&service), before, "the same record once more");
    }
}

// ---- Sizes ------------------------------------------------------------------------------------

/// To limit the number of pledges, the service assumes a minimum size of a pledge. In a real record, the
/// smallest pledge is at most 10 bytes larger than this minimum.
#[test]
fn the_least_pledge_of_a_record_is_as_small_as_documented() {
    let service = seeded();
    let body = |count| {
        let pledge = json!({ "impact": { "amount": 1, "offeringId": "" } });
        json!({ "reference": "", "recipient": { "email": "a@b" }, "pledges": vec![pledge; count] })
    };
    let length = |count| {
        let created = service.create(UNIT, &body(count)).json();
        service.get(UNIT, created["id"].as_str().unwrap()).text.len()
    };
    let least = (length(1_001) - length(1)) / 1_000;
    assert!(least >= MIN_PLEDGE_BYTES, "{least}");
    assert!(least <= MIN_PLEDGE_BYTES + 10, "{least}: too many could be refused earlier");
}
