//! Counts the calls of the store and the queue that each request waits for in turn. Calls that a request makes
//! at the same time count once. With a store that takes 50 ms, seven waits are a third of a second.

use crate::notify;
use futures_executor::block_on;
use impact_pledge::buyer::delivery::Notifier;
use impact_pledge::pledges::service::{Clock as _, Outbox, RequestLog, Service};
use impact_pledge::pledges::store::{Key as _, ProfileKey};
use impact_pledge::pledges::types::NotificationService::Email;
use serde_json::{Value, json};
use support::memory::MemoryStore;
use support::service::{
    Answer, MemoryQueue, ORIGIN, PATH, TEAM, TestRequest, TestService, UNIT, minimal, seeded,
};
use support::slow::{CALL_MS, SlowQueue, SlowStore};

/// A create request of the test unit: whether it has an idempotency key, and its body.
fn create(is_keyed: bool, body: &Value) -> TestRequest {
    let request = TestRequest::new("POST", PATH, UNIT).with_body(body.to_string().into_bytes());
    let key = body["reference"].as_str().unwrap();
    if is_keyed { request.with_header("idempotency-key", key) } else { request }
}

fn of_team(request: TestRequest) -> TestRequest {
    request
        .with_header("authorization", &format!("Bearer {TEAM}"))
        .with_header("x-service-unit-id", "unit_dev")
}

fn order(reference: &str) -> Value {
    let mut body = minimal();
    body["reference"] = json!(reference);
    body
}

fn with_email(mut body: Value) -> Value {
    body["notifications"] = json!(["Email"]);
    body
}

fn timeline(created: &Answer) -> TestRequest {
    let url = created.json()["timelineUrl"].as_str().unwrap().to_owned();
    TestRequest::new("GET", url.strip_prefix(ORIGIN).unwrap(), "")
}

fn get(created: &Answer) -> TestRequest {
    let id = created.json()["id"].as_str().unwrap().to_owned();
    TestRequest::new("GET", &format!("{PATH}/{id}"), UNIT)
}

/// A kind of request: its name, its waits in a new isolate and in one whose caches are filled, and how to make
/// it. A get, a timeline and a repeat are about the order that the answer created.
type Row = (&'static str, [u64; 2], fn(&Answer) -> TestRequest);

const ROWS: &[Row] = &[
    ("create", [3, 1], |_| create(false, &order("order-2"))),
    ("create with an e-mail", [4, 2], |_| create(false, &with_email(order("order-2")))),
    ("create with an idempotency key", [4, 3], |_| create(true, &order("order-2"))),
    ("the same with an e-mail", [5, 4], |_| create(true, &with_email(order("order-2")))),
    ("its repeat", [2, 1], |_| create(true, &with_email(order("order-1")))),
    ("a reused idempotency key", [3, 2], |_| create(true, &order("order-1"))),
    ("create with a team's key", [4, 1], |_| of_team(create(false, &order("order-2")))),
    ("the same with an idempotency key", [5, 3], |_| of_team(create(true, &order("order-2")))),
    ("get", [1, 1], get),
    ("get with a team's key", [2, 1], |created| of_team(get(created))),
    ("timeline", [2, 2], timeline),
];

/// Returns a service that has created `order-1`, and the answer.
fn with_an_order() -> (TestService<MemoryStore>, Answer) {
    let mut service = seeded();
    service.queue = Some(MemoryQueue::default());
    service.settings.notifies_tests = vec![Email];
    service.store.keep(&ProfileKey("unit_dev").name(), br#"{"name":"Shop","mail":true}"#, b"null");
    let created = service.send(&create(true, &with_email(order("order-1"))));
    (service, created)
}

/// Returns another isolate of a service, with the same queue.
fn isolate(service: &TestService<MemoryStore>) -> TestService<MemoryStore> {
    TestService { queue: Some(MemoryQueue::default()), ..service.isolate() }
}

/// Fills the caches of an isolate, but not with the order that is repeated.
fn warm_up(service: &TestService<MemoryStore>, created: &Answer) {
    for request in [
        create(true, &with_email(order("order-3"))),
        of_team(create(true, &with_email(order("order-3")))),
        timeline(created),
    ] {
        assert_eq!(service.send(&request).status, 200);
    }
}

/// Serves a request, and returns how many calls it waited for in turn.
fn waits(service: &TestService<MemoryStore>, request: &TestRequest) -> u64 {
    let TestService { store, clock, entropy, timelines, caches, settings, queue, .. } = service;
    let queue = SlowQueue { queue: queue.as_ref().unwrap(), clock };
    let service = Service {
        store: &SlowStore { store, clock },
        clock,
        entropy,
        recipients: timelines,
        caches,
        settings,
        outbox: Some(&queue as &dyn Outbox),
        ledger: None,
        request_log: RequestLog::default(),
    };
    let began_ms = clock.now_ms();
    let answer = support::service::answer(block_on(service.handle(request)));
    assert!(matches!(answer.status, 200 | 422), "{}", answer.text);
    (clock.now_ms() - began_ms) / CALL_MS
}

#[test]
fn each_request_waits_for_as_few_calls_as_it_can() {
    let counted = ROWS.iter().map(|(name, _, request)| {
        let counts = [false, true].map(|is_warm| {
            let (service, created) = with_an_order();
            let isolate = isolate(&service);
            if is_warm {
                warm_up(&isolate, &created);
            }
            waits(&isolate, &request(&created))
        });
        (*name, counts)
    });
    let expected: Vec<_> = ROWS.iter().map(|(name, counts, _)| (*name, *counts)).collect();
    assert_eq!(counted.collect::<Vec<_>>(), expected);
}

/// Nobody waits for a delivery, which begins a minute after its order. It reads the transaction, the mark of an
/// earlier delivery and the secret; then the profile and the mark of a cancellation; then the list of the day's
/// e-mails. Then it claims the e-mail, reads the claim, sends the e-mail, and writes its outcome.
#[test]
fn a_delivery_waits_for_six_calls_besides_the_mail_service() {
    let fixture = notify::Fixture::new();
    let (instance, store) = (fixture.instance(), &fixture.store);
    let notifier = fixture.notifier(&instance);
    let Notifier { mailer, messenger, clock, settings, deliveries, .. } = notifier;
    let store = &SlowStore { store, clock };
    let notifier = Notifier { store, mailer, messenger, clock, settings, deliveries };
    let began_ms = clock.now_ms();
    assert_eq!(block_on(notifier.deliver(&notify::message(), 1, "token")), notify::done("sent"));
    assert_eq!((clock.now_ms() - began_ms) / CALL_MS, 6);
}
