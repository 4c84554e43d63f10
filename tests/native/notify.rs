//! Tests notifications: what happens to a message, depending on the records and the mail service's answers.

use crate::timeline::{EMAIL, full, with};
use futures_executor::block_on;
use impact_pledge::notify::{
    Deliveries, MAX_HELD_BYTES, MailError, MailSettings, Mailer, Marker, Notifier, Outcome,
    OutgoingEmail, State, cloudflare_error, resend_answer,
};
use impact_pledge::operator::OperatorError;
use impact_pledge::operator::notifications::{self, FailedQuery, QueuedRounds, Resent};
use impact_pledge::operator::transactions;
use impact_pledge::pledge::{EditKey, TransactionId};
use impact_pledge::recipient::{Language, Mail};
use impact_pledge::scope::{Mode, Scope};
use impact_pledge::secret::NamespaceSecret;
use impact_pledge::service::Message;
use impact_pledge::store::{
    FailedMailKey, Key as _, MailedKey, NotificationKey, ProfileKey, QueuedMailKey, SecretKey,
    TransactionKey, TransactionMetadata,
};
use impact_pledge::time::parse_ms;
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use support::memory::MemoryStore;
use support::service::{
    FixedClock, LIVE_UNIT, MemoryQueue, NOW_MS, ORIGIN, PATH, TestRequest, TestService, UNIT,
    seeded, test_operator, yield_now,
};

pub const TODAY: &str = "2026-01-31";
const CREATED: &str = "2026-11-21T01:02:03Z"; // of the record

/// An e-mail's recipient, subject, reply-to address, and idempotency key.
type Posted = (String, String, Option<String>, String);

/// A mail service that returns prepared answers.
#[derive(Default)]
pub struct Post {
    letters: RefCell<Vec<Posted>>,
    /// The texts of the e-mails.
    texts: RefCell<Vec<String>>,
    refusal: RefCell<Option<MailError>>,
    /// The maximum number of e-mails that were being sent at once.
    pub most: Cell<usize>,
    /// The transactions of the e-mails that are being sent now.
    pub sending: RefCell<Vec<TransactionId>>,
    /// Whether the mail service never answers.
    pub hangs: Cell<bool>,
}

impl Post {
    pub fn refuse_nothing(&self) {
        self.refusal.take();
    }

    /// Waits as if the e-mail took some time to be sent. All other futures run in the meantime.
    async fn take_time(&self, id: &TransactionId) {
        self.sending.borrow_mut().push(id.clone());
        self.most.set(self.most.get().max(self.sending.borrow().len()));
        while self.hangs.get() {
            yield_now().await;
        }
        yield_now().await;
        self.sending.borrow_mut().retain(|other| other != id);
    }
}

impl Mailer for Post {
    async fn send(&self, email: &OutgoingEmail<'_>) -> Result<String, MailError> {
        assert!(!self.sending.borrow().contains(email.id), "two letters of one transaction");
        self.take_time(email.id).await;
        if let Some(refusal) = self.refusal.borrow().clone() {
            return Err(refusal);
        }
        self.texts.borrow_mut().push(email.mail.text.clone());
        self.letters.borrow_mut().push((
            email.to.to_owned(),
            email.mail.subject.clone(),
            email.reply_to.map(str::to_owned),
            email.key.clone(),
        ));
        Ok("mail-1".to_owned())
    }
}

pub struct Fixture {
    pub store: MemoryStore,
    pub post: Post,
    pub clock: FixedClock,
    pub settings: MailSettings,
    deliveries: Cell<u32>,
}

pub fn id() -> TransactionId {
    TransactionId::from_bytes([7; 26])
}

pub fn secret() -> NamespaceSecret {
    NamespaceSecret::new([9; 32])
}

pub fn message() -> Message {
    Message { id: id().into_string(), created_at: CREATED.to_owned(), round: 1 }
}

fn shop() -> Value {
    json!({"name": "Small Hours Coffee", "mail": true, "replyTo": "hello@coffee.example"})
}

impl Fixture {
    /// Stores a live transaction of a unit whose e-mails are on.
    pub fn new() -> Self {
        let store = MemoryStore::default();
        store.keep(&SecretKey.name(), json!({"secret": secret()}).to_string().as_bytes(), b"null");
        let fixture = Fixture {
            store,
            post: Post::default(),
            clock: FixedClock(Cell::new(NOW_MS)),
            settings: MailSettings { origin: Some(ORIGIN.to_owned()), test_to: None },
            deliveries: Cell::default(),
        };
        fixture.keep_record(&full());
        fixture.keep_profile(&shop());
        fixture
    }

    fn keep_record(&self, record: &Value) {
        self.keep_record_of(&id(), record, None);
    }

    /// Stores a live transaction whose metadata states this number of bytes.
    pub fn keep_record_of(&self, id: &TransactionId, record: &Value, bytes: Option<usize>) {
        let scope = Scope { mode: Mode::Live, unit: "unit".to_owned() };
        let mut metadata = TransactionMetadata::new(scope, &EditKey::from_bytes([1; 20]));
        metadata.bytes = bytes;
        let metadata = serde_json::to_vec(&metadata).unwrap();
        let name = TransactionKey(id).name();
        self.store.keep(&name, record.to_string().as_bytes(), &metadata);
    }

    fn keep_profile(&self, profile: &Value) {
        let name = ProfileKey("unit").name();
        self.store.keep(&name, profile.to_string().as_bytes(), b"null");
    }

    /// Stores `count` counted e-mails to an address, about other transactions.
    fn keep_mailed(&self, email: &str, count: u8) {
        let address = secret().address(email);
        for other in 0..count {
            let id = TransactionId::from_bytes([100 + other; 26]);
            let key = MailedKey { day: TODAY, address: &address, id: &id };
            self.store.keep(&key.name(), b"{}", b"null");
        }
    }

    /// Delivers a message in a new instance.
    pub fn deliver(&self, message: &Message, attempt: u32) -> Outcome {
        block_on(self.deliver_in(&self.instance(), message, attempt))
    }

    pub async fn deliver_in(
        &self,
        instance: &Deliveries,
        message: &Message,
        attempt: u32,
    ) -> Outcome {
        self.deliveries.set(self.deliveries.get() + 1);
        let token = self.deliveries.get().to_string();
        self.notifier(instance).deliver(message, attempt, &token).await
    }

    fn dead_letter(&self) -> Outcome {
        block_on(self.notifier(&self.instance()).dead_letter(&message(), 1))
    }

    pub fn instance(&self) -> Deliveries {
        Deliveries::new(MAX_HELD_BYTES)
    }

    pub fn notifier<'n>(
        &'n self,
        deliveries: &'n Deliveries,
    ) -> Notifier<'n, MemoryStore, Post, FixedClock> {
        let Fixture { store, post: mailer, clock, settings, .. } = self;
        Notifier { store, mailer, clock, settings, deliveries }
    }

    pub fn marker(&self) -> Option<Marker> {
        let value = self.store.value(&NotificationKey(&id()).name())?;
        Some(serde_json::from_str(&value).unwrap())
    }

    pub fn refuse(&self, refusal: MailError) {
        self.post.refusal.replace(Some(refusal));
    }

    pub fn sent(&self) -> usize {
        self.post.letters.borrow().len()
    }

    fn lists_a_failure(&self) -> bool {
        self.lists_a_failure_of(TODAY)
    }

    pub fn lists_a_failure_of(&self, day: &str) -> bool {
        self.store.value(&FailedMailKey { day, id: &id() }.name()).is_some()
    }
}

pub fn done(why: &str) -> Outcome {
    Outcome::Done(why.to_owned())
}

pub fn later(seconds: u32, cause: &str) -> Outcome {
    Outcome::Later { seconds, cause: cause.to_owned() }
}

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
    let rows: [(&str, Change); 9] = [
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
        ("o'hara+shop_1-2~3@coffee.example", "<mailto:o'hara+shop_1-2~3@coffee.example>"),
        ("a?cc=b&c@coffee.example", "<mailto:a%3Fcc%3Db%26c@coffee.example>"),
        ("100%25/#^`{|}@b.example", "<mailto:100%2525%2F%23%5E%60%7B%7C%7D@b.example>"),
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
        };
        assert_eq!(email.headers().list_unsubscribe.as_deref(), Some(uri));
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
        let message = Message { id: id.to_owned(), created_at: created_at.to_owned(), round: 1 };
        assert_eq!(fixture.deliver(&message, 1), done("not a message of this service"));
        assert_eq!((fixture.sent(), fixture.marker()), (0, None));
    }
}

/// A message is sent before its record is written, and a repeated create writes the record again.
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
            fixture.refuse(MailError::Temporary { code: "E_BUSY".to_owned(), after: None })
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
    let temporary = |after| MailError::Temporary { code: "E_BUSY".to_owned(), after };
    let permanent = MailError::Permanent { code: "E_SUPPRESSED".to_owned() };
    for (refusal, outcome) in [
        (temporary(None), later(300, "E_BUSY")),
        (temporary(Some(7)), later(300, "E_BUSY")), // an earlier attempt would use up the attempts too fast
        (temporary(Some(301)), later(301, "E_BUSY")),
        (temporary(Some(999_999)), later(43_200, "E_BUSY")),
        (permanent, done("E_SUPPRESSED")),
    ] {
        let fixture = Fixture::new();
        let is_failed = matches!(refusal, MailError::Permanent { .. });
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
    let temporary = |code: &str, after| Err(MailError::Temporary { code: code.to_owned(), after });
    let quota = |code: &str, after| Err(MailError::Quota { code: code.to_owned(), after });
    let permanent = |code: &str| Err(MailError::Permanent { code: code.to_owned() });
    let about = |name: &str| json!({"name": name, "message": format!("<{EMAIL}>")}).to_string();
    type Row<'r> = (u16, Option<&'r str>, String, Result<String, MailError>);
    let rows: [Row<'_>; 20] = [
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
        (429, Some("Wed, 21 Oct 2026 07:28:00 GMT"), about("q"), temporary("q", None)),
        (429, Some("-1"), about("q"), temporary("q", None)),
        (500, None, "<html>".to_owned(), temporary("status-500", None)),
        (503, None, r#"{"name":7}"#.to_owned(), temporary("status-503", None)),
    ];
    for (status, retry_after, body, expected) in rows {
        let answer = resend_answer(status, retry_after, body.as_bytes());
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

/// The mail service has accepted the e-mail, so that another attempt would send it twice.
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

// ---- The create --------------------------------------------------------------------------------

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
            service.settings.mails_tests = true;
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

// ---- Support -----------------------------------------------------------------------------------

const HOUR: u64 = 60 * 60_000;
/// [`CREATED`], in milliseconds since 1970.
const CREATED_MS: u64 = 1_795_222_923_000;

fn asked() -> Value {
    json!([{"type": "MessagingServiceA", "status": "Pending"}, {"type": "Email", "status": "Pending"}])
}

impl Fixture {
    /// Stores a live transaction that asked for an e-mail an hour ago.
    pub fn asked() -> Self {
        let fixture = Fixture::new();
        fixture.keep_record(&with(&[("/notifications", asked())]));
        fixture.clock.0.set(CREATED_MS + HOUR);
        fixture
    }

    fn edit_metadata(&self, change: impl Fn(&mut Value)) {
        let name = TransactionKey(&id()).name();
        let mut metadata = self.store.metadata(&name).remove(0);
        change(&mut metadata);
        let value = self.store.value(&name).unwrap();
        self.store.keep(&name, value.as_bytes(), metadata.to_string().as_bytes());
    }

    fn keep_marker(&self, marker: &Value) {
        self.store.keep(&NotificationKey(&id()).name(), marker.to_string().as_bytes(), b"null");
    }

    fn keep_queued(&self, round: u32, until: &str) {
        let queued = json!({"round": round, "at": CREATED, "until": until}).to_string();
        self.store.keep(&QueuedMailKey(&id()).name(), queued.as_bytes(), b"null");
    }

    fn record(&self) -> transactions::Record {
        block_on(transactions::get(&self.store, id().as_str())).unwrap()
    }

    pub fn status(&self) -> Value {
        let status = block_on(notifications::status(&self.store, &self.clock, &self.record()));
        serde_json::to_value(status.unwrap()).unwrap()
    }

    /// Queues the next sending of the e-mail. Returns the queued message.
    fn resend(&self) -> Result<Message, String> {
        let (ada, record, queue) = (test_operator(), self.record(), MemoryQueue::default());
        ada.clock.0.set(self.clock.0.get());
        let resend = async || {
            let mail = notifications::status(&self.store, &self.clock, &record).await?;
            let message = notifications::next_message(&self.store, &record, &mail).await?;
            let (author, rounds) = (ada.author(), QueuedRounds::default());
            let resent =
                notifications::queue_round(&self.store, None, &author, &queue, &rounds, &message);
            assert_eq!(resent.await?.outcome, Resent::Queued);
            Ok(message)
        };
        let resent = block_on(resend()).map_err(|error: OperatorError| error.to_string());
        assert_eq!(queue.messages.take(), resent.iter().cloned().collect::<Vec<_>>());
        resent
    }
}

#[test]
fn the_state_of_an_email_is_computed_from_what_is_stored() {
    type Change = fn(&mut Fixture);
    let state = |state: &str| json!({"state": state});
    let failed = |reason: &str| json!({"state": "failed", "reason": reason});
    let sent = json!({"state": "sent", "round": 1, "at": "2026-11-21T02:02:03.000Z", "attempts": 1,
                      "providerId": "mail-1", "language": "en"});
    let refused = json!({"state": "failed", "reason": "no-more-attempts", "round": 1,
                         "at": "2026-11-21T02:02:03.000Z"});
    let skipped = json!({"state": "skipped", "reason": "no-origin", "round": 1,
                         "at": "2026-11-21T02:02:03.000Z", "attempts": 1});
    let queued = |round: u32| {
        json!({"state": "waiting", "round": round, "at": "2026-11-21T02:02:03.000Z",
               "until": "2026-11-21T02:03:03.000Z"})
    };
    let rows: [(Value, Change); 24] = [
        (queued(2), |fixture| drop(fixture.resend())),
        (queued(2), |fixture| {
            fixture.dead_letter();
            fixture.resend().unwrap();
        }),
        (queued(3), |fixture| {
            fixture.resend().unwrap();
            fixture.resend().unwrap();
        }),
        (sent.clone(), |fixture| {
            fixture.keep_queued(1, "2026-11-21T02:03:03Z");
            fixture.deliver(&message(), 1);
        }),
        (failed("unknown"), |fixture| {
            fixture.keep_queued(1, "2026-11-21T02:03:03Z");
            fixture.clock.0.set(CREATED_MS + 26 * HOUR);
        }),
        (state("waiting"), |fixture| {
            fixture.store.keep(&QueuedMailKey(&id()).name(), b"[]", b"null");
        }),
        (state("waiting"), |_| {}),
        (state("not-asked"), |fixture| fixture.keep_record(&full())),
        (state("off"), |fixture| fixture.keep_profile(&json!({"name": "Small Hours Coffee"}))),
        (state("off"), |fixture| fixture.store.remove(&ProfileKey("unit").name())),
        (state("test"), |fixture| fixture.edit_metadata(|it| it["mode"] = "test".into())),
        (sent.clone(), |fixture| drop(fixture.deliver(&message(), 1))),
        (skipped, |fixture| {
            fixture.settings.origin = None;
            fixture.deliver(&message(), 1);
        }),
        (refused, |fixture| drop(fixture.dead_letter())),
        (failed("unsent"), |fixture| {
            fixture.edit_metadata(|it| it["summary"]["mail"] = "unsent".into())
        }),
        (sent, |fixture| {
            fixture.edit_metadata(|it| it["summary"]["mail"] = "unsent".into());
            fixture.deliver(&message(), 1);
        }),
        (state("waiting"), |fixture| fixture.clock.0.set(CREATED_MS + 24 * HOUR - 1)),
        (failed("unknown"), |fixture| fixture.clock.0.set(CREATED_MS + 24 * HOUR)),
        (failed("unknown"), |fixture| fixture.clock.0.set(CREATED_MS + 30 * 24 * HOUR - 1)),
        (state("forgotten"), |fixture| fixture.clock.0.set(CREATED_MS + 30 * 24 * HOUR)),
        (state("test"), |fixture| {
            fixture.edit_metadata(|it| it["mode"] = "test".into());
            fixture.clock.0.set(CREATED_MS + 24 * HOUR);
        }),
        (state("erased"), |fixture| {
            fixture.edit_metadata(|it| it["summary"]["erased"] = CREATED.into())
        }),
        (failed("damaged"), |fixture| fixture.keep_marker(&json!({"state": "canary"}))),
        (failed("damaged"), |fixture| fixture.keep_profile(&json!({"mail": true}))),
    ];
    for (index, (expected, change)) in rows.into_iter().enumerate() {
        let mut fixture = Fixture::asked();
        change(&mut fixture);
        assert_eq!(fixture.status(), expected, "row {index}");
    }
    let fixture = Fixture::asked();
    fixture.store.set_failing(Some("notification:"));
    let status = block_on(notifications::status(&fixture.store, &fixture.clock, &fixture.record()));
    assert!(status.is_err(), "a store that fails is never taken for an absent marker");
}

#[test]
fn failures_are_listed_by_day_with_their_current_state() {
    let fixture = Fixture::asked();
    let keep = |day: &str, id: &TransactionId| {
        fixture.store.keep(&FailedMailKey { day, id }.name(), b"{}", b"null");
    };
    let list_after = |day: Option<&str>, limit, after: Option<String>| {
        let query = FailedQuery { day: day.map(str::to_owned), limit, after };
        let failures =
            block_on(notifications::failed(&fixture.store, &fixture.clock, &query)).unwrap();
        let days: Vec<_> = failures.failed.iter().map(|mail| mail.day.clone()).collect();
        (days.join(" "), failures.more, serde_json::to_value(failures.failed).unwrap())
    };
    let list = |day, limit| list_after(day, limit, None);
    fixture.dead_letter();
    let [early, late] = ["2026-11-19", "2026-11-21"];
    let absent = TransactionId::from_bytes([1; 26]);
    [(early, &absent), (early, &id())].into_iter().for_each(|(day, id)| keep(day, id));
    let shown = |mail: Value| {
        json!({"id": id().as_str(), "mode": "live", "unit": "unit", "createdAt": CREATED, "recipient": "m…@b…",
               "mail": mail})
    };
    let (days, more, failed) = list(None, 20);
    assert_eq!((&*days, more), ("2026-11-21 2026-11-19 2026-11-19", false));
    assert_eq!(failed[0]["now"], shown(fixture.status()));
    let problem =
        format!("there is no transaction {absent} here: check that it belongs to this environment");
    let lost = failed.as_array().unwrap().iter().find(|it| it["id"] == absent.as_str()).unwrap();
    assert_eq!(*lost, json!({"day": early, "id": absent.as_str(), "problem": problem}));
    assert_eq!(list(Some(early), 20).0, "2026-11-19 2026-11-19");
    assert_eq!((list(None, 1).0, list(None, 1).1), (late.to_owned(), true));

    let again = Message { round: 2, ..message() };
    assert_eq!(fixture.deliver(&again, 1), done("sent"));
    assert_eq!(list(None, 1).2[0]["now"]["mail"]["state"], "sent");
    fixture.store.take_lists();
    fixture.store.set_page_length(2); // as if there were thousands
    assert_eq!((list(None, 1).0, list(None, 20).0), (late.to_owned(), days));
    let lists = fixture.store.take_lists();
    assert_eq!(lists[1].prefix, "mail-failed:2026-11-21:", "not from the oldest on");
    fixture.store.take_lists();
    list(Some(late), 20);
    assert_eq!(fixture.store.take_lists().len(), 1);

    let after = |day: &str, id: &TransactionId| Some(format!("{day}:{id}"));
    for page_length in [1_000, 2, 1] {
        fixture.store.set_page_length(page_length);
        let rest = list_after(None, 1, after(late, &id()));
        assert_eq!((&*rest.0, rest.1, &rest.2[0]["id"]), (early, true, &json!(id().as_str())));
        let rest = list_after(None, 1, after(early, &id()));
        assert_eq!((&*rest.0, rest.1, &rest.2[0]["id"]), (early, false, &json!(absent.as_str())));
        assert_eq!(list_after(None, 1, after(early, &absent)).0, "");
    }
}

#[test]
fn a_mail_is_sent_once_more_as_the_next_round_and_recorded_first() {
    type Change = fn(&Fixture);
    let next = |round| Message { round, ..message() };
    let rows: [(u32, Change); 4] = [
        (2, |_| {}),
        (2, |fixture| drop(fixture.dead_letter())),
        (2, |fixture| fixture.edit_metadata(|it| it["summary"]["mail"] = "unsent".into())),
        (4, |fixture| drop(fixture.deliver(&Message { round: 3, ..message() }, 1))),
    ];
    for (round, change) in rows {
        let fixture = Fixture::asked();
        change(&fixture);
        let sent = fixture.sent();
        assert_eq!(fixture.resend(), Ok(next(round)));
        assert_eq!(fixture.deliver(&next(round), 1), done("sent"));
        assert_eq!(
            fixture.deliver(&message(), 1),
            done("sent or skipped before"),
            "an older round"
        );
        assert_eq!((fixture.sent(), &fixture.status()["round"]), (sent + 1, &json!(round)));
        let name =
            fixture.store.names().into_iter().find(|name| name.starts_with("audit:")).unwrap();
        let change: Value = serde_json::from_str(&fixture.store.value(&name).unwrap()).unwrap();
        assert_eq!(
            (&change["command"], &change["on"]),
            (&json!("emails resend"), &json!([id().as_str()]))
        );
        assert!(!change.to_string().contains(EMAIL));
    }
    let off = "the e-mails of the unit `unit` are off: `units set unit --mail on` turns them on";
    let refusals: [(&str, Change); 4] = [
        ("its create did not ask for an e-mail", |fixture| fixture.keep_record(&full())),
        (off, |fixture| fixture.keep_profile(&json!({"name": "Small Hours Coffee"}))),
        (off, |fixture| fixture.store.remove(&ProfileKey("unit").name())),
        ("its recipient was erased on 2026-11-21T01:02:03Z", |fixture| {
            fixture.edit_metadata(|it| it["summary"]["erased"] = CREATED.into());
        }),
    ];
    for (why, change) in refusals {
        let fixture = Fixture::asked();
        change(&fixture);
        let problem = format!("the e-mail of {} cannot be sent: {why}", id());
        assert_eq!(fixture.resend(), Err(problem));
        assert!(!fixture.store.names().iter().any(|name| name.starts_with("audit:")), "{why}");
    }
    let fixture = Fixture::asked();
    fixture.store.set_failing(Some("audit:"));
    assert_eq!(
        fixture.resend(),
        Err("the store did not answer, or refused the request".to_owned())
    );
}

#[test]
fn a_preview_is_the_mail_that_would_be_sent() {
    let fixture = Fixture::asked();
    let preview = |fixture: &Fixture| {
        block_on(notifications::preview(&fixture.store, &fixture.clock, &fixture.record()))
    };
    let shown = preview(&fixture).unwrap();
    fixture.deliver(&message(), 1);
    assert_eq!(shown.subject, fixture.post.letters.borrow()[0].1);
    assert_eq!((&*shown.to, shown.reply_to.as_deref()), ("m…@b…", Some("hello@coffee.example")));
    let link = "https://service.example/timeline/ptran_1?edit_key=secret";
    assert!(shown.text.contains(link) && shown.html.contains(link));
    let masked =
        block_on(notifications::masked_preview(&fixture.store, &fixture.clock, &fixture.record()))
            .unwrap();
    let text = format!("{masked:?}");
    assert!(text.contains(notifications::NOWHERE) && shown.text.contains("Mara"));
    assert!(!text.contains("Mara") && !text.contains("secret"), "{text}");
    fixture.store.remove(&ProfileKey("unit").name());
    assert_eq!(preview(&fixture).unwrap().sender, "Impact Pledge");
    fixture.keep_record(&with(&[("/timelineUrl", Value::Null)]));
    assert!(preview(&fixture).unwrap_err().to_string().ends_with("no timeline address"));
}

/// The hash of an address is personal data: anybody who has the address can compare it with the hash.
#[test]
fn an_erase_forgets_whom_a_mail_was_sent_to() {
    let fixture = Fixture::asked();
    let address = secret().address(EMAIL);
    let others = TransactionId::from_bytes([8; 26]);
    let other = MailedKey { day: "2026-11-21", address: &address, id: &others }.name();
    fixture.store.keep(&other, b"{}", b"null");
    let has_hash = |fixture: &Fixture| {
        let names = fixture.store.names().into_iter().filter(|name| *name != other);
        let texts = names.map(|name| format!("{name}{}", fixture.store.value(&name).unwrap()));
        texts.collect::<String>().contains(&address)
    };
    let erase = |fixture: &Fixture| {
        let ada = test_operator();
        ada.clock.0.set(fixture.clock.0.get());
        block_on(transactions::erase(&fixture.store, None, &ada.author(), &fixture.record()))
            .unwrap()
            .outcome
    };
    fixture.edit_metadata(|it| it["summary"]["createdAt"] = CREATED.into());
    fixture
        .post
        .refusal
        .replace(Some(MailError::Temporary { code: "E_BUSY".to_owned(), after: None }));
    fixture.deliver(&message(), 1); // counted, but without a marker
    fixture.clock.0.set(CREATED_MS + 40 * HOUR);
    fixture.post.refusal.take();
    fixture.deliver(&message(), 2);
    assert!(has_hash(&fixture));
    erase(&fixture);
    assert!(!has_hash(&fixture), "{:?}", fixture.store.names());
    assert_eq!(fixture.status(), json!({"state": "erased"}));
    assert!(fixture.store.value(&other).is_some(), "of another transaction");
    assert_eq!(fixture.deliver(&Message { round: 2, ..message() }, 1), done("erased"));
    assert_eq!((fixture.sent(), has_hash(&fixture)), (1, false));

    // A delivery that still saw the record leaves its marker and count. The next erasure removes them.
    fixture.keep_record(&with(&[("/notifications", asked())]));
    fixture.deliver(&Message { round: 3, ..message() }, 1);
    assert!(has_hash(&fixture));
    fixture.keep_record(&with(&[
        ("/notifications", asked()),
        ("/pledges/0/recipient/email", "erased@erased.invalid".into()),
    ]));
    erase(&fixture);
    assert!(!has_hash(&fixture), "{:?}", fixture.store.names());
}

#[test]
fn the_link_of_a_mail_begins_with_the_public_origin_whatever_the_record_has() {
    let page = "/timeline/ptran_a?edit_key=b";
    for origin in [
        ORIGIN,
        "https://evil.example",
        "http://pledge.example:8080",
        "https://pledge.example.evil.example",
        "https://pledge.example@evil.example",
        "http://[::1]:8787",
    ] {
        let fixture = Fixture::new();
        fixture.keep_record(&with(&[("/timelineUrl", json!(format!("{origin}{page}")))]));
        assert!(matches!(fixture.deliver(&message(), 1), Outcome::Done(_)));
        let texts = fixture.post.texts.borrow();
        let links: Vec<_> = texts[0].lines().filter(|line| line.contains("://")).collect();
        assert_eq!(links, [format!("{ORIGIN}{page}")], "{origin}");
    }
}
