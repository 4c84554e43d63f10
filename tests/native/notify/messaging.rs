//! Tests messages to messaging services: what adapters receive, and how their answers affect a message.

use super::{CREATED, Fixture, TODAY, done, id, later, message, secret, wait};
use crate::timeline::{EMAIL, full, with};
use impact_pledge::buyer::adapters::AdapterName;
use impact_pledge::buyer::delivery::{Marker, Outcome, SendError, State, adapter_answer};
use impact_pledge::pledges::service::Message;
use impact_pledge::pledges::store::{
    FailedMailKey, Key as _, MailedKey, NotificationKey, ProfileKey,
};
use impact_pledge::pledges::types::NotificationService;
use impact_pledge::pledges::types::NotificationService::{
    Email, MessagingServiceA, MessagingServiceB,
};
use impact_pledge::pledges::types::TransactionId;
use serde_json::{Value, json};
use support::service::ORIGIN;

fn to(service: NotificationService, round: u32) -> Message {
    Message { service, round, ..message() }
}

fn live(service: NotificationService) -> AdapterName {
    AdapterName { service, is_live: true }
}

fn shop() -> Value {
    json!({
        "name": "Small Hours Coffee",
        "mail": true,
        "messagingServices": ["MessagingServiceA", "MessagingServiceB", "MessagingServiceZ"],
        "language": "de",
    })
}

/// Returns a fixture with a live transaction of a unit that uses the messaging services A and B. Only A has
/// an adapter.
fn fixture() -> Fixture {
    let fixture = Fixture::new();
    fixture.keep_profile(&shop());
    fixture.adapters.attached.borrow_mut().push(live(MessagingServiceA));
    fixture
}

/// Moves the clock forward by 61 s, so that a delivery's claim on a message has expired.
fn pass_a_claim(fixture: &Fixture) {
    fixture.clock.0.set(fixture.clock.0.get() + 61_000);
}

fn marker(fixture: &Fixture, service: NotificationService) -> Option<Marker> {
    let value = fixture.store.value(&NotificationKey(&id(), service).name())?;
    Some(serde_json::from_str(&value).unwrap())
}

fn lists_a_failure(fixture: &Fixture, service: NotificationService) -> bool {
    let key = FailedMailKey { day: TODAY, id: &id(), service };
    fixture.store.value(&key.name()).is_some()
}

#[test]
fn an_adapter_gets_the_title_of_the_email_and_a_text_for_a_messenger() {
    let fixture = fixture();
    assert_eq!(fixture.deliver(&to(MessagingServiceA, 1), 1), done("sent"));
    fixture.deliver(&message(), 1);
    let title = &fixture.post.letters.borrow()[0].1;
    let mail = fixture.post.texts.borrow()[0].clone();
    let (same, foot) = mail.split_once("-- \n").unwrap();
    let (facts, _) = foot.split_once('\n').unwrap();
    let why = "Small Hours Coffee hat uns gebeten, Ihnen diese eine Nachricht zu senden.";
    let text = format!("{same}{facts}\n{why}\n");
    assert!(title.contains("12 trees"), "{title}");
    let expected = json!({
        "service": "MessagingServiceA",
        "transactionId": id().as_str(),
        "isLive": true,
        "recipient": {"email": EMAIL, "firstName": "Mara", "name": "Mara Lind"},
        "unit": {"id": "unit", "name": "Small Hours Coffee"},
        "language": "de",
        "title": title,
        "text": text,
        "timelineUrl": format!("{ORIGIN}/timeline/ptran_1?edit_key=secret"),
    });
    let webhook_id = format!("{}_MessagingServiceA_1", id());
    assert!(!webhook_id.contains('.'));
    assert_eq!(
        *fixture.adapters.got.borrow(),
        [(live(MessagingServiceA), webhook_id.clone(), expected)]
    );
    let marker = marker(&fixture, MessagingServiceA).unwrap();
    assert_eq!((marker.state, marker.round, marker.attempts), (State::Sent, 1, 1));
    assert_eq!(marker.address, Some(secret().address(EMAIL)));
    assert_eq!((marker.provider_id, marker.language.as_deref()), (None, Some("de")));
}

#[test]
fn absent_names_of_a_recipient_are_null() {
    let fixture = fixture();
    let changes = [
        ("/pledges/0/recipient/firstName", Value::Null),
        ("/pledges/0/recipient/name", Value::Null),
    ];
    fixture.keep_record(&with(&changes));
    fixture.deliver(&to(MessagingServiceA, 1), 1);
    let got = fixture.adapters.got.borrow();
    assert_eq!(got[0].2["recipient"], json!({"email": EMAIL, "firstName": null, "name": null}));
}

/// docs/messaging.md limits the size of a message's body. Adapters may refuse a larger body.
#[test]
fn a_body_is_small_whatever_a_create_contains() {
    let fixture = fixture();
    let long = "\u{1}\"<&>é😀".repeat(1_000);
    let mut pledge = full()["pledges"][0].clone();
    pledge["recipient"]["name"] = json!(long);
    pledge["recipient"]["firstName"] = json!(format!("Mara {long}"));
    pledge["impact"]["offeringId"] = json!(long);
    for member in ["name", "nounSingular", "nounPlural"] {
        pledge["details"][0][member] = json!(long);
    }
    let changes = [
        ("/pledges", vec![pledge; 30].into()),
        ("/reference", json!(long)),
        ("/trigger/phrase", json!(long)),
    ];
    fixture.keep_record(&with(&changes));
    assert_eq!(fixture.deliver(&to(MessagingServiceA, 1), 1), done("sent"));
    let got = fixture.adapters.got.borrow();
    let body = got[0].2.to_string();
    assert!(body.len() < 64 * 1024, "{} bytes", body.len());
    let first_name = got[0].2["recipient"]["firstName"].as_str().unwrap();
    assert!(first_name.starts_with("Mara \u{1}\"<&>é😀"), "{first_name}");
    assert_eq!(first_name.chars().count(), 80);
}

#[test]
fn all_attempts_of_a_round_have_one_id_and_each_round_its_own() {
    let fixture = fixture();
    let busy = SendError::Temporary { code: "status-503".to_owned(), after: None };
    fixture.adapters.refusal.replace(Some(busy));
    for attempt in 1..=2 {
        fixture.deliver(&to(MessagingServiceA, 1), attempt);
        pass_a_claim(&fixture);
    }
    fixture.adapters.refusal.take();
    assert_eq!(fixture.deliver(&to(MessagingServiceA, 1), 3), done("sent"));
    assert_eq!(fixture.deliver(&to(MessagingServiceA, 1), 4), done("sent or skipped before"));
    assert_eq!(fixture.deliver(&to(MessagingServiceA, 2), 1), done("sent"));
    let ids: Vec<_> = fixture.adapters.got.borrow().iter().map(|(_, id, _)| id.clone()).collect();
    let of_round = |round: u32| format!("{}_MessagingServiceA_{round}", id());
    assert_eq!(ids, [of_round(1), of_round(1), of_round(1), of_round(2)]);
}

#[test]
fn a_failure_of_one_service_repeats_no_other() {
    let fixture = fixture();
    fixture.adapters.attached.borrow_mut().push(live(MessagingServiceB));
    assert_eq!(fixture.deliver(&message(), 1), done("sent"));
    assert_eq!(fixture.deliver(&to(MessagingServiceA, 1), 1), done("sent"));
    let busy = SendError::Temporary { code: "no-answer".to_owned(), after: None };
    fixture.adapters.refusal.replace(Some(busy));
    for attempt in 1..=6 {
        fixture.deliver(&to(MessagingServiceB, 1), attempt);
        pass_a_claim(&fixture);
    }
    assert_eq!(fixture.sent(), 1);
    let addresses: Vec<_> =
        fixture.adapters.got.borrow().iter().map(|(address, ..)| *address).collect();
    let expected = [live(MessagingServiceA)].into_iter().chain([live(MessagingServiceB); 6]);
    assert_eq!(addresses, expected.collect::<Vec<_>>());
    for (service, state, is_listed) in [
        (Email, State::Sent, false),
        (MessagingServiceA, State::Sent, false),
        (MessagingServiceB, State::Failed, true),
    ] {
        assert_eq!(marker(&fixture, service).unwrap().state, state, "{service:?}");
        assert_eq!(lists_a_failure(&fixture, service), is_listed, "{service:?}");
    }
}

#[test]
fn a_message_that_is_not_to_be_sent_is_marked_with_its_reason() {
    type Change = fn(&mut Fixture);
    let rows: [(&str, Change); 9] = [
        ("cancelled", |fixture| fixture.cancel()),
        ("service-off", |fixture| {
            fixture.keep_profile(&json!({"name": "Small Hours Coffee", "mail": true}));
        }),
        ("service-off", |fixture| fixture.store.remove(&ProfileKey("unit").name())),
        ("not-attached", |fixture| fixture.adapters.attached.borrow_mut().clear()),
        ("test-mode", |fixture| fixture.keep_record(&with(&[("/isLive", false.into())]))),
        ("no-origin", |fixture| fixture.settings.origin = None),
        ("erased", |fixture| {
            let email = json!("erased@erased.invalid");
            fixture.keep_record(&with(&[("/pledges/0/recipient/email", email)]));
        }),
        ("no-page", |fixture| fixture.keep_record(&with(&[("/timelineUrl", Value::Null)]))),
        ("daily-limit", |fixture| {
            let address = secret().address(EMAIL);
            for other in 0..5 {
                let id = TransactionId::from_bytes([100 + other; 26]);
                let (day, address, service) = (TODAY, &*address, MessagingServiceA);
                let key = MailedKey { day, address, service, id: &id, is_news: false };
                fixture.store.keep(&key.name(), b"{}", b"null");
            }
        }),
    ];
    for (reason, change) in rows {
        let mut fixture = fixture();
        change(&mut fixture);
        assert_eq!(fixture.deliver(&to(MessagingServiceA, 1), 1), done(reason));
        assert!(fixture.adapters.got.borrow().is_empty(), "{reason}");
        let marker = marker(&fixture, MessagingServiceA).unwrap();
        assert_eq!((marker.state, marker.reason.as_deref()), (State::Skipped, Some(reason)));
        // Somebody has to attach an adapter, and then resend the message.
        let is_listed = lists_a_failure(&fixture, MessagingServiceA);
        assert_eq!(is_listed, reason == "not-attached", "{reason}");
    }
}

/// A message is retried while an adapter's settings are invalid, because an operator may correct the settings.
/// If nobody does, the message is listed as failed.
#[test]
fn an_adapter_with_invalid_settings_is_tried_again() {
    for is_live in [true, false] {
        let fixture = fixture();
        fixture.keep_record(&with(&[("/isLive", is_live.into())]));
        let address = AdapterName { service: MessagingServiceA, is_live };
        fixture.adapters.attached.borrow_mut().clear();
        fixture.adapters.invalid.borrow_mut().push(address);
        let message = to(MessagingServiceA, 1);
        for (attempt, seconds) in [(1, 60), (2, 300), (3, 1_800), (4, 7_200), (5, 43_200)] {
            let cause = "invalid-adapter".to_owned();
            assert_eq!(fixture.deliver(&message, attempt), Outcome::Later { seconds, cause });
            assert_eq!(marker(&fixture, MessagingServiceA), None);
        }
        let corrected = is_live;
        if corrected {
            fixture.adapters.invalid.borrow_mut().clear();
            fixture.adapters.attached.borrow_mut().push(address);
            assert_eq!(fixture.deliver(&message, 6), done("sent"));
            continue;
        }
        assert_eq!(fixture.deliver(&message, 6), done("invalid-adapter"));
        let marker = marker(&fixture, MessagingServiceA).unwrap();
        assert_eq!(
            (marker.state, marker.reason.as_deref()),
            (State::Failed, Some("invalid-adapter"))
        );
        assert!(lists_a_failure(&fixture, MessagingServiceA));
    }
}

#[test]
fn each_service_has_a_daily_limit_of_its_own() {
    let fixture = fixture();
    fixture.keep_mailed(EMAIL, 5);
    assert_eq!(fixture.deliver(&message(), 1), done("daily-limit"));
    assert_eq!(fixture.deliver(&to(MessagingServiceA, 1), 1), done("sent"));
    for other in 1..=5 {
        let other_id = TransactionId::from_bytes([100 + other; 26]);
        fixture.keep_record_of(&other_id, &full(), 1_000);
        let of_other = Message { id: other_id.into_string(), ..to(MessagingServiceA, 1) };
        let expected = if other < 5 { "sent" } else { "daily-limit" };
        assert_eq!(fixture.deliver(&of_other, 1), done(expected), "{other}");
    }
}

#[test]
fn a_test_key_s_message_goes_only_through_the_door_for_tests() {
    let fixture = fixture();
    fixture.keep_record(&with(&[("/isLive", false.into())]));
    let address = AdapterName { service: MessagingServiceA, is_live: false };
    fixture.adapters.attached.borrow_mut().push(address);
    assert_eq!(fixture.deliver(&to(MessagingServiceA, 1), 1), done("sent"));
    let got = fixture.adapters.got.borrow();
    assert_eq!((got[0].0, &got[0].2["isLive"]), (address, &json!(false)));
}

#[test]
fn a_message_without_its_record_is_not_sent() {
    let fixture = fixture();
    fixture.store.remove(&format!("transaction:{}", id()));
    assert!(matches!(fixture.deliver(&to(MessagingServiceA, 1), 1), Outcome::Later { .. }));
    assert!(fixture.adapters.got.borrow().is_empty());
}

#[test]
fn a_message_of_the_queue_has_four_members_and_names_a_known_service() {
    let read = |json: Value| serde_json::from_value::<Message>(json).ok();
    for (message, service) in
        [(message(), "Email"), (to(MessagingServiceA, 1), "MessagingServiceA")]
    {
        let body =
            json!({"id": id().as_str(), "createdAt": CREATED, "round": 1, "service": service});
        assert_eq!(serde_json::to_value(&message).unwrap(), body);
        let mut later = body.clone();
        later["later"] = json!([null]);
        assert_eq!(read(later.clone()), Some(message));
        later["service"] = "MessagingServiceZ".into();
        assert_eq!(read(later), None);
        for member in ["id", "createdAt", "round", "service"] {
            let mut less = body.clone();
            less.as_object_mut().unwrap().remove(member);
            assert_eq!(read(less), None, "{member}");
        }
    }
}

#[test]
fn a_message_is_retried_or_given_up_by_the_status_of_the_answer() {
    let temporary = |code: &str, after| Err(SendError::Temporary { code: code.to_owned(), after });
    let permanent = |code: &str| Err(SendError::Permanent { code: code.to_owned() });
    let rows = [
        (200, None, Ok(())),
        (204, Some("5"), Ok(())),
        (301, None, permanent("status-301")),
        (304, None, permanent("status-304")),
        (307, Some("5"), permanent("status-307")),
        (400, None, permanent("status-400")),
        (401, None, temporary("status-401", None)),
        (403, None, temporary("status-403", None)),
        (404, None, temporary("status-404", None)),
        (408, None, temporary("status-408", None)),
        (410, Some("5"), permanent("status-410")),
        (413, None, permanent("status-413")),
        (422, None, permanent("status-422")),
        (425, Some("5"), temporary("status-425", Some(5))),
        (429, Some("120"), temporary("status-429", Some(120))),
        (429, Some("Sat, 31 Jan 2026 12:02:00 GMT"), temporary("status-429", Some(120))),
        (429, Some("Saturday, 31-Jan-26 12:02:00 GMT"), temporary("status-429", None)),
        (429, Some("-1"), temporary("status-429", None)),
        (429, Some("99999999999999999999"), temporary("status-429", Some(u32::MAX))),
        (500, None, temporary("status-500", None)),
        (503, Some(" 30 "), temporary("status-503", Some(30))),
        (0, None, temporary("status-0", None)),
    ];
    for (status, retry_after, expected) in rows {
        let after = wait(retry_after);
        assert_eq!(adapter_answer(status, after), expected, "{status} {retry_after:?}");
        let Err(refusal) = expected else { continue };
        let fixture = fixture();
        fixture.adapters.refusal.replace(Some(refusal.clone()));
        let outcome = fixture.deliver(&to(MessagingServiceA, 1), 1);
        match refusal {
            SendError::Permanent { code } => {
                assert_eq!(outcome, done(&code));
                let marker = marker(&fixture, MessagingServiceA).unwrap();
                assert_eq!((marker.state, marker.reason), (State::Failed, Some(code)));
                assert!(lists_a_failure(&fixture, MessagingServiceA), "{status}");
            }
            SendError::Temporary { code, after } => {
                let seconds = after.unwrap_or_default().clamp(60, 43_200);
                assert_eq!(outcome, later(seconds, &code));
                assert!(marker(&fixture, MessagingServiceA).is_none(), "{status}");
            }
            SendError::Quota { .. } => panic!("an adapter has no quota"),
        }
    }
}
