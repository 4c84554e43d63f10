//! Tests the log lines of requests, and the limit on refused keys.

use futures_executor::block_on;
use impact_pledge::pledges::auth::ApiKey;
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::service::{Caches, RequestLog, Service, Settings, Variables};
use impact_pledge::pledges::store::{CredentialKey, Key as _};
use serde_json::{Value, json};
use std::rc::Rc;
use support::memory::MemoryStore;
use support::service::{
    LIVE_UNIT, NOW_MS, ORIGIN, PATH, REQUEST_ID, TEAM, TestRequest, TestService, UNIT, key_record,
    minimal, put_key, repeatable, seeded, unit,
};
use support::slow::SlowStore;

/// A text that tests put into every part of a request. It must not appear in any log.
const CANARY: &str = "canary";

/// Returns requests that together contain the canary in every place where a caller can put a text.
fn canaries(service: &TestService<MemoryStore>) -> Vec<(&'static str, u16, TestRequest)> {
    let body = json!({
        "reference": CANARY,
        "recipient": { "email": "canary@example.org", "firstName": CANARY },
        "trigger": { "phrase": CANARY, "externalUrl": "https://canary.example/" },
        "pledges": [{
            "impact": { "amount": 1, "offeringId": CANARY },
            "detail": { "name": CANARY, "externalId": CANARY },
        }],
    });
    let with = |method: &str, path: &str, key: &str, body: &Value| {
        TestRequest::new(method, path, key)
            .with_body(body.to_string().into_bytes())
            .with_header("idempotency-key", CANARY)
            .with_header("x-canary", CANARY)
            .with_header("cf-ray", "canary0123456789-FRA")
            .with_header("cookie", CANARY)
    };
    let created = service.send(&with("POST", PATH, UNIT, &body)).json();
    let url = created["timelineUrl"].as_str().unwrap();
    let timeline = url.strip_prefix(ORIGIN).unwrap();
    let id = created["id"].as_str().unwrap();
    let mut wrong = body.clone();
    wrong["canary"] = json!(1);
    wrong["recipient"]["email"] = json!(CANARY);
    let mut other = body.clone();
    other["recipient"]["name"] = json!(CANARY);
    let create = "POST /v2/pledge-transaction";
    let [get, page] = ["GET /v2/pledge-transaction/{id}", "GET /timeline/{id}"];
    vec![
        (create, 200, with("POST", &format!("{PATH}?canary=canary"), UNIT, &body)),
        (create, 400, with("POST", PATH, UNIT, &wrong)),
        (create, 401, with("POST", PATH, "service_sk_test_canary", &body)),
        (create, 422, with("POST", PATH, UNIT, &other)),
        (get, 200, with("GET", &format!("{PATH}/{id}?canary"), UNIT, &json!(null))),
        (get, 404, with("GET", &format!("{PATH}/canary"), UNIT, &json!(null))),
        (page, 200, with("GET", timeline, CANARY, &json!(null))),
        (page, 404, with("GET", "/timeline/canary?edit_key=canary", CANARY, &json!(null))),
        ("none", 404, with("GET", "/canary?canary", UNIT, &json!(null))),
        ("none", 405, with("CANARY", PATH, UNIT, &json!(null))),
        ("GET /healthz", 200, with("GET", "/healthz?canary", CANARY, &json!(null))),
    ]
}

fn logged(service: &TestService<MemoryStore>, request: &TestRequest) -> Value {
    let answer = service.send(request);
    let line = answer.log.unwrap();
    assert!(!line.to_lowercase().contains(CANARY), "{line}");
    let line: Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&line["request"], &line["status"]), (&json!(REQUEST_ID), &json!(answer.status)));
    assert_eq!(line["version"], format!("{}+deployed", env!("CARGO_PKG_VERSION")));
    line
}

fn logging(log_percent: &str) -> TestService<MemoryStore> {
    let mut service = seeded();
    let variables = Variables { log_percent, deployment: "deployed", ..Variables::default() };
    service.settings = Settings::parse(variables);
    service
}

#[test]
fn a_log_line_says_who_what_and_why_and_quotes_nothing() {
    let service = logging("100");
    for (route, status, request) in canaries(&service) {
        let line = logged(&service, &request);
        assert_ne!(line["unpriced"], 0, "{line}");
        assert_eq!((&line["route"], &line["status"]), (&json!(route), &json!(status)), "{line}");
        assert_eq!(line["cause"].is_null(), status == 200, "{line}");
        assert!(line["ms"].is_u64() && line["kvMs"].is_u64(), "{line}");
        let is_known = route.contains("/v2/") && status != 401;
        let caller = ["unit_dev", "test"].map(|text| json!(is_known.then_some(text)));
        assert_eq!(["unit", "mode"].map(|name| line[name].clone()), caller, "{line}");
        let key = if status == 401 { "8612c5d7a29b" } else { "d4f722b49dea" };
        assert_eq!(line["key"], json!(route.contains("/v2/").then_some(key)), "{line}");
    }
    let requests = canaries(&service);
    let service = service.isolate();
    service.store.set_broken(true);
    for (route, _, request) in requests.iter().filter(|(route, ..)| route.contains("{id}")) {
        let line = logged(&service, request);
        assert_eq!(line["route"], *route);
    }
}

#[test]
fn a_log_line_has_the_time_that_the_store_was_waited_for() {
    let TestService { store, clock, entropy, timelines, settings, .. } = &logging("100");
    let slow = SlowStore { store, clock };
    let times = |request: &TestRequest| {
        let (caches, request_log) = (&Caches::default(), RequestLog::default());
        let service = Service {
            store: &slow,
            clock,
            entropy,
            recipients: timelines,
            caches,
            settings,
            outbox: None,
            ledger: None,
            request_log,
        };
        let answer = support::service::answer(block_on(service.handle(request)));
        let line: Value = serde_json::from_str(answer.log.as_ref().unwrap()).unwrap();
        (answer, [line["ms"].clone(), line["kvMs"].clone()])
    };
    let body = minimal().to_string().into_bytes();
    let (created, spent) = times(&TestRequest::new("POST", PATH, UNIT).with_body(body));
    assert_eq!(spent, [15, 15], "the key, the prices, the transaction");
    let id = created.json()["id"].as_str().unwrap().to_owned();
    let (_, spent) = times(&TestRequest::new("GET", &format!("{PATH}/{id}"), UNIT));
    assert_eq!(spent, [5, 5], "the key and the transaction at once");
    let (_, spent) = times(&TestRequest::new("GET", "/healthz", UNIT));
    assert_eq!(spent, [0, 0]);
}

/// An unpriced offering is charged 0.00, but the log counts it.
#[test]
fn an_offering_without_a_price_is_recorded_and_logged() {
    let mut service = logging("0");
    let two = json!({ "amount": 1, "offeringId": "a-tree" });
    let body = order_of(&[json!({ "amount": 3, "offeringId": "tree" }), two.clone(), two]);
    for key in [UNIT, LIVE_UNIT] {
        let create = TestRequest::new("POST", PATH, key).with_body(body.to_string().into_bytes());
        let line = logged(&service, &create);
        assert_eq!((&line["status"], &line["unpriced"]), (&json!(200), &json!(2)));
        assert_eq!(service.create(key, &body).json()["charge"]["amount"], "1.50");
        assert!(service.create(key, &minimal()).log.is_none(), "every offering has a price");
    }
    let metadata: Vec<Value> = service.store.metadata("transaction:");
    let unpriced = metadata.iter().filter(|metadata| metadata["summary"]["unpriced"] == 2).count();
    assert_eq!((unpriced, metadata.len()), (4, 6));

    service = TestService {
        settings: service.settings.clone(),
        ..TestService::new(MemoryStore::default(), "")
    };
    put_key(&*service.store, UNIT, &key_record(Mode::Test, unit("u")));
    assert!(service.create(UNIT, &body).log.is_none(), "nothing has a price");
}

fn order_of(impacts: &[Value]) -> Value {
    let pledges: Vec<Value> = impacts.iter().map(|impact| json!({ "impact": impact })).collect();
    let mut order = minimal();
    order["pledges"] = json!(pledges);
    order
}

#[test]
fn a_create_is_logged_with_its_transaction_and_whether_it_repeats_one() {
    let service = logging("100");
    let facts = |line: Value| [line["transaction"].clone(), line["repeat"].clone()];
    let sent = |service: &TestService<MemoryStore>, request: &TestRequest| {
        let answer = service.send(request);
        (answer.status, facts(serde_json::from_str(&answer.log.unwrap()).unwrap()))
    };
    let first = service.send(&repeatable(&minimal()));
    let id = &first.json()["id"];
    let line: Value = serde_json::from_str(&first.log.unwrap()).unwrap();
    assert_eq!(facts(line), [id.clone(), Value::Null]);
    let other = service.isolate();
    let repeat = (200, [id.clone(), json!(true)]);
    assert_eq!(
        [&service, &other].map(|it| sent(it, &repeatable(&minimal()))),
        [&repeat; 2].map(Clone::clone)
    );
    assert_eq!(sent(&service, &repeatable(&order_of(&[]))).1, [Value::Null, Value::Null]);

    service.store.set_unconfirmed(Some("transaction:"));
    let (status, [transaction, repeat]) = sent(
        &service,
        &TestRequest::new("POST", PATH, UNIT).with_body(minimal().to_string().into_bytes()),
    );
    assert_eq!((status, repeat), (503, Value::Null));
    let name = format!("transaction:{}", transaction.as_str().unwrap());
    assert!(service.store.names().contains(&name), "it may be recorded, and can be looked up");
}

/// Any caller can send text that looks like a live key, so the log shows the caller as unknown. The log line
/// still names the key's ID, because a key that was sent unencrypted must be replaced.
#[test]
fn a_live_key_by_plain_http_is_logged_with_its_id() {
    let by_http = |key| TestRequest::new("POST", PATH, key).at("http://pledges.example");
    let line = logged(&logging("100"), &by_http(LIVE_UNIT));
    assert_eq!((&line["cause"], &line["mode"]), (&json!("plain-http"), &Value::Null), "{line}");
    assert_eq!(line["key"], ApiKey::new(LIVE_UNIT).hash().id());
    let sampled = logging("0");
    assert!(sampled.send(&by_http(LIVE_UNIT)).log.is_none());
    put_key(&*sampled.store, "by_its_record", &key_record(Mode::Live, unit("unit_dev")));
    assert_eq!(logged(&sampled, &by_http("by_its_record"))["cause"], "plain-http");
}

#[test]
fn a_refusal_is_logged_with_what_its_caller_can_be_helped_by() {
    let service = logging("0");
    let lines = |request: &TestRequest| logged(&service, request);
    let other = TestRequest::new("GET", &format!("{PATH}/x"), TEAM);
    for request in
        [TestRequest::new("POST", PATH, TEAM), other.with_header("x-service-unit-id", CANARY)]
    {
        let line = lines(&request);
        assert_eq!(
            [&line["cause"], &line["key"], &line["mode"]],
            ["unit-required", "4403e5ee8ab8", "test"],
            "{line}"
        );
        assert_eq!(line["unit"], Value::Null);
    }
    for (body, code, pointer) in [
        ("canary", "malformed_json", ""),
        ("[]", "invalid_type", ""),
        (r#"{"canary":1,"recipient":{"email":"canary"}}"#, "required", "/reference"),
        (
            r#"{"reference":"","recipient":{"email":"a@b","canary":1,"a":2},"pledges":[{"impact":{"amount":1,"offeringId":""}}]}"#,
            "unknown_member",
            "/recipient",
        ),
        (
            r#"{"reference":"","recipient":{"email":"a@b"},"pledges":[{"impact":{"amount":1,"offeringId":"","~ canary/":{}}}]}"#,
            "unknown_member",
            "/pledges/0/impact",
        ),
        (
            r#"{"canary":"canary","reference":"","recipient":{"email":"a@b"},"pledges":[{"impact":{"amount":1,"offeringId":""}}]}"#,
            "unknown_member",
            "",
        ),
        (
            r#"{"reference":"","recipient":{"email":"canary"},"pledges":[{"impact":{"amount":1,"offeringId":""}}]}"#,
            "invalid_email",
            "/recipient/email",
        ),
    ] {
        let line = lines(&TestRequest::new("POST", PATH, UNIT).with_body(body.as_bytes().to_vec()));
        assert_eq!(
            [&line["cause"], &line["code"], &line["pointer"]],
            ["invalid-request", code, pointer],
            "{body}"
        );
    }
}

#[test]
fn the_message_of_a_failure_of_ours_names_the_request() {
    let service = logging("0");
    let create = TestRequest::new("POST", PATH, UNIT).with_body(minimal().to_string().into_bytes());
    let damage =
        || service.store.keep(&CredentialKey(ApiKey::new(UNIT).hash()).name(), b"", b"null");
    let fail = || service.store.set_failing(Some("key:"));
    for (status, break_something) in [(500, &damage as &dyn Fn()), (503, &fail)] {
        break_something();
        let answer = service.send(&create);
        let message = format!(" The request's ID is `{REQUEST_ID}`.");
        assert_eq!(answer.status, status);
        assert!(answer.json()["message"].as_str().unwrap().ends_with(&message), "{}", answer.text);
    }
    service.store.set_failing(None);
    let refused = service.send(&TestRequest::new("POST", PATH, WRONG));
    assert!(refused.status == 401 && !refused.text.contains("ID is"), "{}", refused.text);
}

#[test]
fn failures_are_all_logged_and_of_successes_and_of_strangers_so_many_percent() {
    for (percent, [least, most]) in
        [("", [0, 0]), ("0", [0, 0]), ("50", [300, 700]), ("100", [1_000; 2]), ("all", [1_000; 2])]
    {
        let service = logging(percent);
        let logged = |count: usize, request: &TestRequest| {
            (0..count).filter(|_| service.send(request).log.is_some()).count()
        };
        let get = |key| TestRequest::new("GET", &format!("{PATH}/none"), key);
        let page = TestRequest::new("GET", "/timeline/none?edit_key=x", "");
        let health = TestRequest::new("GET", "/healthz", "");
        let nothing = TestRequest::new("GET", "/none", UNIT);
        for request in [health, get(WRONG), page, nothing] {
            let count = logged(1_000, &request);
            assert!((least..=most).contains(&count), "`{percent}`: {count} of {}", request.path);
        }
        assert_eq!(logged(100, &get(UNIT)), 100, "`{percent}`: 404");
        assert_eq!(logged(100, &get(TEAM)), 100, "`{percent}`: 401, the key is there");
        service.store.set_broken(true);
        assert_eq!(logged(100, &get("service_sk_test_new")), 100, "`{percent}`: 503");
    }
}

// ---- Refused keys ------------------------------------------------------------------------------

const WRONG: &str = "service_sk_test_wrong";

fn from(address: &str, key: &str) -> TestRequest {
    TestRequest::new("POST", PATH, key)
        .with_body(minimal().to_string().into_bytes())
        .with_header("cf-connecting-ip", address)
}

/// Returns a service whose rate limit allows three refused keys, and a function that makes requests.
fn limited() -> (TestService<MemoryStore>, impl Fn(&str, &str) -> TestRequest) {
    let limit = Rc::default();
    let request = move |address: &str, key: &str| TestRequest {
        limit: Some(Rc::clone(&limit)),
        ..from(address, key)
    };
    (seeded(), request)
}

#[test]
fn a_network_with_too_many_refused_keys_costs_no_more_reads() {
    let (service, request) = limited();
    let send = |address: &str, key: &str| service.send(&request(address, key));
    let wrong = |number: u32| format!("{WRONG}{number}");
    for number in 0..3 {
        assert_eq!(send("203.0.113.7", &wrong(number)).status, 401);
    }
    let answer = send("203.0.113.7", &wrong(3));
    assert_eq!((answer.status, &*answer.headers["retry-after"]), (429, "60"));
    assert_eq!(answer.json()["error"], "Too many requests");
    let reads = service.store.reads();
    for number in 4..1_000 {
        assert_eq!(send("203.0.113.7", &wrong(number)).status, 429);
    }
    let get = TestRequest {
        method: "GET".to_owned(),
        path: format!("{PATH}/ptran_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
        ..request("203.0.113.7", &wrong(4))
    };
    assert_eq!(service.send(&get).status, 429);
    assert_eq!(service.store.reads(), reads, "neither keys nor transactions are read");
    assert_eq!(send("203.0.113.8", &wrong(0)).status, 401, "another network");
}

const MINUTES: u64 = 60_000;

#[test]
fn a_key_that_was_accepted_lately_works_from_a_limited_network_and_is_read_as_ever() {
    let (service, request) = limited();
    let send = |key| service.send(&request("203.0.113.7", key)).status;
    let at = |ms| service.clock.0.set(NOW_MS + ms);
    assert_eq!(send(UNIT), 200);
    for ms in [10_000, 10_000 + 15 * MINUTES - 1] {
        at(ms);
        let reads = service.store.reads();
        assert!([send(WRONG), send(WRONG), send(WRONG), send(WRONG)].contains(&429));
        assert_eq!(send(UNIT), 200, "after {ms} ms");
        assert!(service.store.reads() > reads);
    }
    at(10_000 + 30 * MINUTES - 1); // no request for a while
    assert_eq!((send(WRONG), send(UNIT)), (429, 429));
}

#[test]
fn a_key_that_was_revoked_is_limited_at_once() {
    let (service, request) = limited();
    let send = |key| service.send(&request("203.0.113.7", key)).status;
    assert_eq!(send(UNIT), 200);
    assert_eq!([WRONG; 4].map(send), [401, 401, 401, 429]);
    service.store.remove(&CredentialKey(ApiKey::new(UNIT).hash()).name());
    service.clock.0.set(NOW_MS + 10_000);
    assert_eq!(send(UNIT), 429, "it is read once more");
    let reads = service.store.reads();
    assert_eq!((send(UNIT), service.store.reads()), (429, reads), "and then no more");
}

#[test]
fn no_more_than_1_024_accepted_keys_are_remembered() {
    let (service, request) = limited();
    let send = |key: &str| service.send(&request("203.0.113.7", key)).status;
    let numbered = |number| format!("service_sk_test_{number}");
    for number in 0..1_025 {
        put_key(&*service.store, &numbered(number), &key_record(Mode::Test, unit("unit_dev")));
        assert_eq!(send(&numbered(number)), 200);
    }
    assert_eq!([WRONG; 4].map(send), [401, 401, 401, 429]);
    service.clock.0.set(NOW_MS + 10_000);
    assert_eq!((send(WRONG), send(&numbered(1_024))), (429, 200));
    let served = (0..1_024).filter(|number| send(&numbered(*number)) == 200).count();
    assert!(served < 1_024, "{served}");
}

/// All requests from Workers of other zones come from the same Cloudflare address, so the rate limit counts
/// such requests by zone.
#[test]
fn a_worker_of_another_zone_counts_as_its_zone_and_nobody_else_does() {
    const WORKERS: &str = "2a06:98c0:3600::103";
    let (service, request) = limited();
    let send = |address: &str, zone: &str| {
        service.send(&request(address, WRONG).with_header("cf-worker", zone)).status
    };
    assert_eq!([WORKERS; 4].map(|it| send(it, "evil.example")), [401, 401, 401, 429]);
    assert_eq!([WORKERS; 3].map(|it| send(it, "shop.example")), [401; 3], "another Worker");
    assert_eq!(send("2a06:98c0:3600:0:0:0:0:103", "evil.example"), 429);
    let plain = || service.send(&request(WORKERS, WRONG)).status;
    assert_eq!([plain(), plain(), plain(), plain()], [401, 401, 401, 429], "without a zone");
    for elsewhere in ["203.0.113.7", "2a06:98c0:3601::103"] {
        let statuses = ["1", "2", "3", "4"].map(|zone| send(elsewhere, zone));
        assert_eq!(statuses, [401, 401, 401, 429], "{elsewhere}: anybody can send the header");
    }
}

#[test]
fn a_limited_network_asks_the_platform_again_after_ten_seconds() {
    let (service, request) = limited();
    let send = |key| service.send(&request("203.0.113.7", key)).status;
    assert_eq!([WRONG; 4].map(send), [401, 401, 401, 429]);
    service.clock.0.set(NOW_MS + 10_000);
    assert_eq!(send(LIVE_UNIT), 200, "a key that is there is found");
    let reads = service.store.reads();
    assert_eq!(send(WRONG), 429);
    assert_eq!(service.store.reads(), reads + 1, "one more, and then none for ten seconds");
    assert_eq!((send(WRONG), service.store.reads()), (429, reads + 1));
}

#[test]
fn an_address_of_ipv6_counts_as_its_network() {
    let (service, request) = limited();
    let send = |address: &str| service.send(&request(address, WRONG)).status;
    let statuses =
        ["2001:db8:1:2::1", "2001:db8:1:2:ffff::2", "2001:DB8:1:2:0:0:0:3", "2001:db8:1:2::4"];
    assert_eq!(statuses.map(send), [401, 401, 401, 429]);
    assert_eq!(send("2001:db8:1:3::1"), 401);
    for unknown in ["", "unknown", "203.0.113.7, 203.0.113.8", "::ffff", "fe80::1%eth0"] {
        assert_eq!([unknown; 3].map(send), [401; 3], "`{unknown}`");
    }
    assert_eq!(["", "203.0.113", "x"].map(|it| [it; 9].map(send)), [[401; 9]; 3], "no address");
}

#[test]
fn only_a_refused_key_counts() {
    let (service, request) = limited();
    let team = TestRequest { ..request("203.0.113.7", "service_sk_test_dev_team") };
    assert!((0..9).all(|_| service.send(&team).status == 401), "the key is there, its unit is not");
    let mut none = request("203.0.113.7", WRONG);
    none.headers.remove("authorization");
    assert!((0..9).all(|_| service.send(&none).status == 401), "no key, no read");
    assert_eq!(service.send(&request("203.0.113.7", WRONG)).status, 401);
    let none = from("203.0.113.7", WRONG);
    assert!((0..9).all(|_| service.send(&none).status == 401), "without a limit");
}
