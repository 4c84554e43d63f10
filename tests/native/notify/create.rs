//! Tests which creates put a message into the queue.

use super::{TODAY, shop};
use crate::timeline::EMAIL;
use impact_pledge::pledge::NotificationService;
use impact_pledge::service::Message;
use impact_pledge::store::{Key as _, ProfileKey};
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

/// A service with a queue, and a unit whose e-mails are on.
fn service() -> TestService<MemoryStore> {
    let mut service = seeded();
    service.queue = Some(MemoryQueue::default());
    service.store.keep(&ProfileKey("unit_dev").name(), shop().to_string().as_bytes(), b"null");
    service
}

#[test]
fn a_create_puts_one_message_into_the_queue_if_an_email_may_be_sent() {
    type Change = fn(&mut TestService<MemoryStore>, &mut Value);
    let rows: [(&str, &str, usize, Change); 9] = [
        ("live", LIVE_UNIT, 1, |_, _| {}),
        ("test", UNIT, 0, |_, _| {}),
        ("test, and a recipient of tests", UNIT, 1, |service, _| {
            service.settings.notifies_tests = vec![NotificationService::Email];
        }),
        ("not asked for", LIVE_UNIT, 0, |_, body| {
            body["notifications"] = json!(["MessagingServiceA"])
        }),
        ("no notifications", LIVE_UNIT, 0, |_, body| {
            body.as_object_mut().unwrap().remove("notifications");
        }),
        ("no profile", LIVE_UNIT, 0, |service, _| service.store.remove("profile:unit_dev")),
        ("a profile without mail", LIVE_UNIT, 0, |service, _| {
            service.store.keep("profile:unit_dev", br#"{"name": "Shop"}"#, b"null");
        }),
        ("a profile that cannot be read", LIVE_UNIT, 1, |service, _| {
            service.store.set_failing(Some("profile:"));
        }),
        ("no queue", LIVE_UNIT, 0, |service, _| service.queue = None),
    ];
    for (name, key, messages, change) in rows {
        let (mut service, mut body) = (service(), body());
        change(&mut service, &mut body);
        let answer = service.create(key, &body);
        assert_eq!(answer.status, 200, "{name}: {}", answer.text);
        let created = answer.json();
        let message = |_: usize| Message {
            id: created["id"].as_str().unwrap().to_owned(),
            created_at: created["createdAt"].as_str().unwrap().to_owned(),
            round: 1,
            service: NotificationService::Email,
        };
        let queued = service.queue.map(|queue| queue.messages.take()).unwrap_or_default();
        assert_eq!(queued, (0..messages).map(message).collect::<Vec<_>>(), "{name}");
        let pending = created["notifications"].as_array().unwrap().iter();
        assert!(pending.clone().all(|entry| entry["status"] == "Pending"), "{name}");
    }
}

/// The isolate remembers that the record is damaged, and does not read it again for a while.
#[test]
fn a_damaged_profile_stops_no_message() {
    let service = service();
    service.store.keep("profile:unit_dev", b"{}", b"null");
    for messages in 1..=2 {
        assert_eq!(service.create(LIVE_UNIT, &body()).status, 200);
        assert_eq!(service.queue.as_ref().unwrap().messages.borrow().len(), messages);
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
fn a_message_goes_out_before_its_record_is_written() {
    let service = service();
    service.store.set_failing(Some("transaction:"));
    assert_eq!(service.create(LIVE_UNIT, &body()).status, 503);
    assert_eq!(service.queue.unwrap().messages.take().len(), 1);
}
