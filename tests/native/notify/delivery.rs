//! Tests what happens to a message when it is delivered.

use super::{CREATED, Fixture, done, id, later, message, secret, wait};
use crate::timeline::{EMAIL, with};
use impact_pledge::buyer::delivery::{
    Outcome, OutgoingEmail, SendError, State, cloudflare_error, resend_answer,
};
use impact_pledge::buyer::recipient::{Language, Mail};
use impact_pledge::pledges::service::Message;
use impact_pledge::pledges::store::{Key as _, ProfileKey, SecretKey, TransactionKey};
use impact_pledge::pledges::time::parse_ms;
use impact_pledge::pledges::types::NotificationService;
use serde_json::{Value, json};
use support::service::NOW_MS;

#[test]
fn a_message_becomes_one_mail_however_often_it_is_delivered() {
    let fixture = Fixture::new();
    assert_eq!(fixture.deliver(&message(), 1), done("sent"));
    assert_eq!(fixture.deliver(&message(), 2), done("sent or skipped before"));
    let expected = (
        EMAIL.to_owned(),
        "Small Hours Coffee has pledged 12 trees for you".to_owned(),
        Some("hello@coffee.example".to_owned()),
        format!("pledge/{}/1", id()),
    );
    assert_eq!(*fixture.post.letters.borrow(), [expected]);
    let marker = fixture.marker().unwrap();
    assert_eq!((marker.state, marker.round, marker.attempts), (State::Sent, 1, 1));
    assert_eq!(marker.provider_id.as_deref(), Some("mail-1"));
    assert_eq!(marker.address, Some(secret().address(EMAIL)));
    assert_eq!(marker.language.as_deref(), Some("en"));

    let again = Message { round: 2, ..message() };
    assert_eq!(fixture.deliver(&again, 1), done("sent"));
    assert_eq!((fixture.sent(), fixture.marker().unwrap().round), (2, 2));
    assert_eq!(
        fixture.deliver(&message(), 3),
        done("sent or skipped before"),
        "of the first round"
    );
}

#[test]
fn what_is_not_to_be_sent_is_marked_with_its_reason() {
    type Change = fn(&mut Fixture);
    let rows: [(&str, Change); 10] = [
        ("cancelled", |fixture| fixture.cancel()),
        ("mail-off", |fixture| fixture.keep_profile(&json!({"name": "Small Hours Coffee"}))),
        ("mail-off", |fixture| fixture.store.remove(&ProfileKey("unit").name())),
        ("no-origin", |fixture| fixture.settings.origin = None),
        ("test-mode", |fixture| fixture.keep_record(&with(&[("/isLive", false.into())]))),
        ("erased", |fixture| {
            let email = json!("erased@erased.invalid");
            fixture.keep_record(&with(&[("/pledges/0/recipient/email", email)]));
        }),
        ("no-page", |fixture| fixture.keep_record(&with(&[("/timelineUrl", Value::Null)]))),
        ("no-secret", |fixture| fixture.store.remove(&SecretKey.name())),
        ("daily-limit", |fixture| fixture.keep_mailed(EMAIL, 5)),
        ("daily-limit", |fixture| {
            fixture.keep_mailed(r#""\mara"@Buyer.EXAMPLE"#, 5);
            let email = json!(r#""Mara"@buyer.example"#);
            fixture.keep_record(&with(&[("/pledges/0/recipient/email", email)]));
        }),
    ];
    for (reason, change) in rows {
        let mut fixture = Fixture::new();
        change(&mut fixture);
        assert_eq!(fixture.deliver(&message(), 1), done(reason));
        let marker = fixture.marker().unwrap();
        assert_eq!((marker.state, marker.reason.as_deref()), (State::Skipped, Some(reason)));
        assert_eq!((fixture.sent(), fixture.lists_a_failure()), (0, false), "{reason}");
    }
}

#[test]
fn an_address_is_encoded_where_a_header_has_it_as_a_uri() {
    for (address, uri) in [
        ("hello@coffee.example", "<mailto:hello@coffee.example>"),
        ("o'hara+shop_1-2~3@coffee.example", "<mailto:o'hara%2Bshop_1-2~3@coffee.example>"),
        ("a?cc=b&c@coffee.example", "<mailto:a%3Fcc%3Db%26c@coffee.example>"),
        ("100%25/#^`{|}@b.example", "<mailto:100%2525%2F%23%5E%60%7B%7C%7D@b.example>"),
        (r#""a\"b\\@\ c"@c.example"#, "<mailto:%22a%5C%22b%5C%5C%40%5C%20c%22@c.example>"),
        ("jörg@münchen.example", "<mailto:j%C3%B6rg@m%C3%BCnchen.example>"),
        ("木\u{1f600}@例え.example", "<mailto:%E6%9C%A8%F0%9F%98%80@%E4%BE%8B%E3%81%88.example>"),
        (
            "!#$%&'*+-/=?^_`{|}~@b.example",
            "<mailto:!%23$%25%26'*%2B-%2F%3D%3F%5E_%60%7B%7C%7D~@b.example>",
        ),
        (r#""a@b> ,;"@c.example"#, "<mailto:%22a%40b%3E%20%2C%3B%22@c.example>"),
        ("a@[IPv6:::1]", "<mailto:a@%5BIPv6%3A%3A%3A1%5D>"),
    ] {
        let mail = Mail {
            language: Language::En,
            sender: String::new(),
            subject: String::new(),
            text: String::new(),
            html: String::new(),
        };
        let marker = json!({ "state": "sent", "round": 1, "at": CREATED, "attempts": 1 });
        let email = OutgoingEmail {
            to: EMAIL,
            reply_to: Some(address),
            mail: &mail,
            key: String::new(),
            id: &id(),
            marker: &serde_json::from_value(marker).unwrap(),
            unsubscribe: None,
        };
        let header = email.headers().list_unsubscribe.expect("a header");
        let subject = format!("?subject=Unsubscribe%20{}>", id());
        assert_eq!(header, uri.replace('>', &subject));
        assert!(header.len() < 998 && header.bytes().all(|byte| byte.is_ascii_graphic()));
    }
}

#[test]
fn mails_of_test_keys_go_to_the_operator_who_may_get_more_a_day() {
    let mut fixture = Fixture::new();
    fixture.keep_mailed("operator@service.example", 99);
    fixture.settings.test_to = Some("operator@service.example".to_owned());
    fixture.keep_record(&with(&[("/isLive", false.into())]));
    assert_eq!(fixture.deliver(&message(), 1), done("sent"));
    assert_eq!(fixture.post.letters.borrow()[0].0, "operator@service.example");
    fixture.keep_mailed("operator@service.example", 100);
    assert_eq!(fixture.deliver(&Message { round: 2, ..message() }, 1), done("daily-limit"));
}

#[test]
fn a_message_that_no_create_can_have_put_is_left() {
    for (id, created_at) in [("ptran_1", CREATED), (id().as_str(), ""), (id().as_str(), "today")] {
        let fixture = Fixture::new();
        fixture.keep_record(&with(&[("/createdAt", created_at.into())]));
        let message = Message {
            updates: vec![],
            id: id.to_owned(),
            created_at: created_at.to_owned(),
            round: 1,
            service: NotificationService::Email,
        };
        assert_eq!(fixture.deliver(&message, 1), done("not a message of this service"));
        assert_eq!((fixture.sent(), fixture.marker()), (0, None));
    }
}

/// A message may find no record, or the record of another create request. The reason is that a create request
/// sends its message before it writes its record, and that a repeated create request writes the record again.
#[test]
fn a_message_waits_for_its_own_record() {
    let yet = |seconds| later(seconds, "no such record yet");
    let earlier = |seconds| later(seconds, "an earlier create's record");
    // For each attempt: the seconds since the create, and the outcome.
    type Row<'r> = (Option<&'r str>, &'r [(u64, Outcome)]);
    let rows: [Row<'_>; 4] = [
        (None, &[(60, yet(120)), (180, yet(600)), (780, done("no such record"))]),
        // The first two creates broke off.
        (None, &[(60, yet(120)), (61, yet(600)), (63, yet(600)), (663, done("no such record"))]),
        (
            Some("2026-11-21T01:02:02Z"),
            &[(60, earlier(60)), (120, earlier(300)), (420, earlier(1_800))],
        ),
        (
            Some("2026-11-21T01:02:04Z"),
            &[(60, done("a later create's record")), (999, done("a later create's record"))],
        ),
    ];
    for (created_at, outcomes) in rows {
        let fixture = Fixture::new();
        match created_at {
            Some(time) => fixture.keep_record(&with(&[("/createdAt", time.into())])),
            None => fixture.store.remove(&TransactionKey(&id()).name()),
        }
        for (attempt, (age, outcome)) in (1..).zip(outcomes) {
            fixture.clock.0.set(parse_ms(CREATED).unwrap() + age * 1_000);
            assert_eq!(fixture.deliver(&message(), attempt), *outcome, "{created_at:?}, {attempt}");
        }
        assert_eq!((fixture.sent(), fixture.marker()), (0, None), "{created_at:?}");
    }
}

const WAITS: [u32; 5] = [60, 300, 1_800, 7_200, 43_200];

#[test]
fn a_store_that_fails_is_never_taken_for_an_absent_record() {
    for prefix in ["notification:", "transaction:", "profile:", "secret", "mailed:"] {
        let fixture = Fixture::new();
        fixture.store.set_failing(Some(prefix));
        for (attempt, seconds) in (1..).zip(WAITS) {
            let outcome = later(seconds, "the store does not answer");
            assert_eq!(fixture.deliver(&message(), attempt), outcome, "{prefix}, {attempt}");
        }
        fixture.store.set_failing(None);
        assert_eq!((fixture.deliver(&message(), 6), fixture.sent()), (done("sent"), 1), "{prefix}");
    }
}

#[test]
fn a_failure_at_the_last_attempt_is_final_and_listed() {
    type Change = fn(&Fixture);
    let rows: [(&str, Change); 3] = [
        ("E_BUSY", |fixture| {
            fixture.refuse(SendError::Temporary { code: "E_BUSY".to_owned(), after: None })
        }),
        ("the store does not answer", |fixture| fixture.store.set_failing(Some("transaction:"))),
        ("an earlier create's record", |fixture| {
            fixture.keep_record(&with(&[("/createdAt", "2026-11-21T01:02:02Z".into())]));
        }),
    ];
    for (cause, change) in rows {
        let fixture = Fixture::new();
        change(&fixture);
        assert!(matches!(fixture.deliver(&message(), 5), Outcome::Later { seconds: 43_200, .. }));
        assert_eq!((fixture.marker(), fixture.lists_a_failure()), (None, false), "{cause}");
        fixture.clock.0.set(NOW_MS + 60_000);
        assert_eq!(fixture.deliver(&message(), 6), done(cause));
        let marker = fixture.marker().unwrap();
        assert_eq!((marker.reason.as_deref(), marker.attempts), (Some("no-more-attempts"), 6));
        assert!(fixture.lists_a_failure(), "{cause}");
    }
    let fixture = Fixture::new();
    fixture.store.set_broken(true);
    assert_eq!(fixture.deliver(&message(), 6), later(43_200, "the store does not answer"));
}

#[test]
fn the_answer_of_the_mail_service_decides() {
    let temporary = |after| SendError::Temporary { code: "E_BUSY".to_owned(), after };
    let permanent = SendError::Permanent { code: "E_SUPPRESSED".to_owned() };
    for (refusal, outcome) in [
        (temporary(None), later(300, "E_BUSY")),
        (temporary(Some(7)), later(300, "E_BUSY")), // an earlier attempt would use up the attempts too fast
        (temporary(Some(301)), later(301, "E_BUSY")),
        (temporary(Some(999_999)), later(43_200, "E_BUSY")),
        (permanent, done("E_SUPPRESSED")),
    ] {
        let fixture = Fixture::new();
        let is_failed = matches!(refusal, SendError::Permanent { .. });
        fixture.refuse(refusal);
        assert_eq!(fixture.deliver(&message(), 2), outcome);
        assert_eq!(fixture.lists_a_failure(), is_failed);
        let marker = fixture.marker().map(|marker| (marker.state, marker.reason));
        assert_eq!(marker, is_failed.then(|| (State::Failed, Some("E_SUPPRESSED".to_owned()))));
    }
}

#[test]
fn of_an_answer_of_a_mail_service_only_its_code_is_kept() {
    let sent = |id: &str| Ok(id.to_owned());
    let temporary = |code: &str, after| Err(SendError::Temporary { code: code.to_owned(), after });
    let quota = |code: &str, after| Err(SendError::Quota { code: code.to_owned(), after });
    let permanent = |code: &str| Err(SendError::Permanent { code: code.to_owned() });
    let about = |name: &str| json!({"name": name, "message": format!("<{EMAIL}>")}).to_string();
    type Row<'r> = (u16, Option<&'r str>, String, Result<String, SendError>);
    let rows: [Row<'_>; 21] = [
        (429, Some("9"), about("daily_quota_exceeded"), quota("daily_quota_exceeded", Some(9))),
        (429, None, about("monthly_quota_exceeded"), quota("monthly_quota_exceeded", None)),
        (200, None, json!({"id": "4ef2-a"}).to_string(), sent("4ef2-a")),
        (200, None, json!({"id": EMAIL}).to_string(), sent("unknown")),
        (200, None, "<html>".to_owned(), sent("unknown")),
        (200, None, r#"{"id":"4ef2-"#.to_owned(), sent("unknown")),
        (409, None, about("invalid_idempotent_request"), sent("sent-before")),
        (
            409,
            None,
            about("concurrent_idempotent_requests"),
            temporary("concurrent_idempotent_requests", None),
        ),
        (422, None, about("validation_error"), permanent("validation_error")),
        (400, None, about(EMAIL), permanent("unknown")),
        (413, None, String::new(), permanent("status-413")),
        (422, None, about("invalid_from_address"), temporary("invalid_from_address", None)),
        (403, None, about("invalid_api_key"), temporary("invalid_api_key", None)),
        (302, None, String::new(), temporary("status-302", None)),
        (429, Some(" 2 "), about("rate_limit_exceeded"), temporary("rate_limit_exceeded", Some(2))),
        (429, Some("99999999999"), about("q"), temporary("q", Some(u32::MAX))),
        (429, Some("Sat, 31 Jan 2026 12:00:30 GMT"), about("q"), temporary("q", Some(30))),
        (429, Some("31 Jan 2026 12:00:30"), about("q"), temporary("q", None)),
        (429, Some("-1"), about("q"), temporary("q", None)),
        (500, None, "<html>".to_owned(), temporary("status-500", None)),
        (503, None, r#"{"name":7}"#.to_owned(), temporary("status-503", None)),
    ];
    for (status, retry_after, body, expected) in rows {
        let answer = resend_answer(status, wait(retry_after), body.as_bytes());
        assert_eq!(answer, expected, "{status}, {body}");
    }
    let rows = [
        (Some("E_RECIPIENT_SUPPRESSED"), permanent("E_RECIPIENT_SUPPRESSED")),
        (Some("E_HEADER_TOO_LONG"), permanent("E_HEADER_TOO_LONG")),
        (Some("E_SENDER_NOT_VERIFIED"), temporary("E_SENDER_NOT_VERIFIED", None)),
        (Some("E_RATE_LIMIT_EXCEEDED"), temporary("E_RATE_LIMIT_EXCEEDED", None)),
        (Some("E_DAILY_LIMIT_EXCEEDED"), quota("E_DAILY_LIMIT_EXCEEDED", None)),
        (Some(EMAIL), temporary("unknown", None)),
        (None, temporary("unknown", None)),
    ];
    for (code, expected) in rows {
        assert_eq!(Err(cloudflare_error(code)), expected, "{code:?}");
    }
}

/// The mail service has already accepted the e-mail, so another attempt would send it a second time.
#[test]
fn a_mail_whose_marker_cannot_be_written_is_not_sent_again() {
    let fixture = Fixture::new();
    fixture.store.set_unconfirmed(Some("notification:"));
    assert_eq!(fixture.deliver(&message(), 1), done("sent, and its marker could not be written"));
    assert_eq!(fixture.sent(), 1);
}

#[test]
fn the_last_attempt_is_marked_as_failed_unless_the_round_has_ended() {
    let fixture = Fixture::new();
    assert_eq!(fixture.dead_letter(), done("failed"));
    assert_eq!((fixture.marker().unwrap().state, fixture.lists_a_failure()), (State::Failed, true));

    let fixture = Fixture::new();
    fixture.deliver(&message(), 1);
    assert_eq!(fixture.dead_letter(), done("sent or skipped before"));
    assert_eq!((fixture.marker().unwrap().state, fixture.lists_a_failure()), (State::Sent, false));

    let fixture = Fixture::new();
    fixture.store.set_broken(true);
    assert_eq!(fixture.dead_letter(), later(60, "the store does not answer"));
}

#[test]
fn nothing_about_a_person_is_in_a_message_an_outcome_or_a_marker() {
    let fixture = Fixture::new();
    let outcome = fixture.deliver(&message(), 1);
    let texts = [
        serde_json::to_string(&message()).unwrap(),
        format!("{outcome:?}"),
        fixture.store.names().join(" "),
        serde_json::to_string(&fixture.marker()).unwrap(),
    ];
    for text in texts {
        for personal in [EMAIL, "buyer", "Mara", "secret"] {
            assert!(!text.replace("secret ", "").contains(personal), "{personal} in {text}");
        }
    }
}
