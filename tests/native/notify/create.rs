//! Tests which create requests put a message into the notification queue.

use super::{TODAY, shop};
use crate::timeline::EMAIL;
use impact_pledge::pledges::service::Message;
use impact_pledge::pledges::store::{Key as _, ProfileKey};
use impact_pledge::pledges::types::NotificationService;
use impact_pledge::pledges::types::NotificationService::{Email, MessagingServiceA};
use serde_json::{Value, json};
use support::memory::MemoryStore;
use support::service::{LIVE_UNIT, MemoryQueue, PATH, TestRequest, TestService, UNIT, seeded};

fn body() -> Value {
    json!({
        "reference": "order-1",
        "recipient": {"email": EMAIL},
        "pledges": [{"impact": {"amount": 1, "offeringId": "tree"}}],
        "notifications": ["Email", "MessagingServiceA"],
    })
}

/// A profile in which e-mails and MessagingServiceA are switched on.
const WITH_A: &[u8] =
    br#"{"name": "Shop", "mail": true, "messagingServices": ["MessagingServiceA"]}"#;

/// Returns a service with a notification queue, and with a unit whose profile has e-mails switched on.
fn service() -> TestService<MemoryStore> {
    let mut service = seeded();
    service.queue = Some(MemoryQueue::default());
    service.store.keep(&ProfileKey("unit_dev").name(), shop().to_string().as_bytes(), b"null");
    service
}

#[test]
fn a_create_puts_a_message_into_the_queue_for_each_service_that_may_deliver() {
    type Change = fn(&mut TestService<MemoryStore>, &mut Value);
    let rows: [(&str, &str, &[NotificationService], Change); 14] = [
        ("live", LIVE_UNIT, &[Email], |_, _| {}),
        ("test", UNIT, &[], |_, _| {}),
        ("test, and a recipient of tests", UNIT, &[Email], |service, _| {
            service.settings.notifies_tests = vec![Email];
        }),
        ("not asked for", LIVE_UNIT, &[], |_, body| {
            body["notifications"] = json!(["MessagingServiceA"])
        }),
        ("no notifications", LIVE_UNIT, &[], |_, body| {
            body.as_object_mut().unwrap().remove("notifications");
        }),
        ("no profile", LIVE_UNIT, &[], |service, _| service.store.remove("profile:unit_dev")),
        ("a profile without mail", LIVE_UNIT, &[], |service, _| {
            service.store.keep("profile:unit_dev", br#"{"name": "Shop"}"#, b"null");
        }),
        ("a profile that cannot be read", LIVE_UNIT, &[Email, MessagingServiceA], |service, _| {
            service.store.set_failing(Some("profile:"))
        }),
        ("no queue", LIVE_UNIT, &[], |service, _| service.queue = None),
        ("a messaging service is on", LIVE_UNIT, &[Email, MessagingServiceA], |service, _| {
            service.store.keep("profile:unit_dev", WITH_A, b"null");
        }),
        ("only a messaging service is on", LIVE_UNIT, &[MessagingServiceA], |service, _| {
            let profile = br#"{"name": "Shop", "messagingServices": ["MessagingServiceA"]}"#;
            service.store.keep("profile:unit_dev", profile, b"null");
        }),
        ("three services, some twice", LIVE_UNIT, &[MessagingServiceA], |service, body| {
            service.store.keep("profile:unit_dev", WITH_A, b"null");
            let asked = ["MessagingServiceB", "MessagingServiceA", "MessagingServiceA"];
            body["notifications"] = json!(asked);
        }),
        ("test, and no adapter for tests", UNIT, &[], |service, _| {
            service.store.keep("profile:unit_dev", WITH_A, b"null");
        }),
        ("test, and an adapter for tests", UNIT, &[MessagingServiceA], |service, _| {
            service.store.keep("profile:unit_dev", WITH_A, b"null");
            service.settings.notifies_tests = vec![MessagingServiceA];
        }),
    ];
    for (name, key, services, change) in rows {
        let (mut service, mut body) = (service(), body());
        change(&mut service, &mut body);
        let answer = service.create(key, &body);
        assert_eq!(answer.status, 200, "{name}: {}", answer.text);
        let created = answer.json();
        let message = |service: &NotificationService| Message {
            updates: vec![],
            id: created["id"].as_str().unwrap().to_owned(),
            created_at: created["createdAt"].as_str().unwrap().to_owned(),
            round: 1,
            service: *service,
        };
        let queued = service.queue.map(|queue| queue.messages.take()).unwrap_or_default();
        assert_eq!(queued, services.iter().map(message).collect::<Vec<_>>(), "{name}");
        let pending = created["notifications"].as_array().unwrap().iter();
        assert!(pending.clone().all(|entry| entry["status"] == "Pending"), "{name}");
    }
}

/// The profile is read before the body is parsed, because reads take longest when they wait for each other.
#[test]
fn a_body_asks_for_notifications_however_it_is_written() {
    for written in [r#""notifications""#, r#""notific\u0061tions""#, "\"notifications\" \n"] {
        let service = service();
        let body = body().to_string().replace(r#""notifications""#, written);
        let request = TestRequest::new("POST", PATH, LIVE_UNIT).with_body(body.into_bytes());
        assert_eq!(service.send(&request).status, 200, "{written}");
        assert_eq!(service.queue.unwrap().messages.take().len(), 1, "{written}");
    }
    let (service, mut body) = (service(), body());
    body.as_object_mut().unwrap().remove("notifications");
    assert_eq!(service.create(LIVE_UNIT, &body).status, 200);
    assert!(!service.store.take_reads().contains(&ProfileKey("unit_dev").name()));
}

/// After reading a damaged profile, the isolate does not read it again for a while. Messages are sent
/// nevertheless.
#[test]
fn a_damaged_profile_stops_no_message() {
    let service = service();
    service.store.keep("profile:unit_dev", b"{}", b"null");
    for creates in 1..=2 {
        assert_eq!(service.create(LIVE_UNIT, &body()).status, 200);
        assert_eq!(service.queue.as_ref().unwrap().messages.borrow().len(), 2 * creates);
    }
}

#[test]
fn a_replay_puts_no_message_into_the_queue() {
    let service = service();
    let request = || {
        TestRequest::new("POST", PATH, LIVE_UNIT)
            .with_body(body().to_string().into_bytes())
            .with_header("idempotency-key", "order-1")
    };
    for _ in 0..3 {
        assert_eq!(service.send(&request()).status, 200);
    }
    assert_eq!(service.isolate().send(&request()).status, 200);
    assert_eq!(service.queue.unwrap().messages.take().len(), 1);
}

#[test]
fn a_queue_that_fails_costs_no_pledge_and_is_shown() {
    let service = service();
    service.queue.as_ref().unwrap().is_broken.set(true);
    let answer = service.create(LIVE_UNIT, &body());
    assert_eq!(answer.status, 200);
    let created = answer.json();
    let id = created["id"].as_str().unwrap();
    assert_eq!(service.get(LIVE_UNIT, id).status, 200);
    assert_eq!(service.store.metadata("transaction:")[0]["summary"]["mail"], "unsent");
    assert!(service.store.value(&format!("mail-failed:{TODAY}:{id}")).is_some());
    let log: Value = serde_json::from_str(&answer.log.unwrap()).unwrap();
    assert_eq!(log["mail"], "unsent");
}

#[test]
fn each_message_that_the_queue_does_not_take_is_shown() {
    let service = service();
    service.store.keep("profile:unit_dev", WITH_A, b"null");
    service.queue.as_ref().unwrap().is_broken.set(true);
    let answer = service.create(LIVE_UNIT, &body());
    assert_eq!(answer.status, 200);
    let id = answer.json()["id"].as_str().unwrap().to_owned();
    let summary = service.store.metadata("transaction:")[0]["summary"].clone();
    assert_eq!((&summary["mail"], &summary["unsent"]), (&json!("unsent"), &json!("A")));
    for service_name in ["", ":MessagingServiceA"] {
        let listed = format!("mail-failed:{TODAY}:{id}{service_name}");
        assert!(service.store.value(&listed).is_some(), "{listed}");
    }
    let log: Value = serde_json::from_str(&answer.log.unwrap()).unwrap();
    assert_eq!((&log["mail"], &log["unsent"]), (&json!("unsent"), &json!(["MessagingServiceA"])));
}

#[test]
fn a_message_goes_out_before_its_record_is_written() {
    let service = service();
    service.store.set_failing(Some("transaction:"));
    assert_eq!(service.create(LIVE_UNIT, &body()).status, 503);
    assert_eq!(service.queue.unwrap().messages.take().len(), 1);
}
