//! Tests the operators' functions for e-mails: state, failures, resend and preview.

use super::{CREATED, Fixture, done, id, message, secret};
use crate::timeline::{EMAIL, full, with};
use futures_executor::block_on;
use impact_pledge::buyer::delivery::{Outcome, SendError};
use impact_pledge::office::mails::rule as notifications;
use impact_pledge::office::mails::rule::{FailedQuery, QueuedRounds, Resent};
use impact_pledge::office::orders::rule as transactions;
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::pledges::service::Message;
use impact_pledge::pledges::store::{
    FailedMailKey, Key as _, MailedKey, NotificationKey, ProfileKey, QueuedMailKey, TransactionKey,
};
use impact_pledge::pledges::types::{NotificationService, TransactionId};
use serde_json::{Value, json};
use support::ledger::SqliteLedger;
use support::service::{MemoryQueue, ORIGIN, test_operator};

const HOUR: u64 = 60 * 60_000;
/// [`CREATED`], in milliseconds since 1970.
const CREATED_MS: u64 = 1_795_222_923_000;

fn asked() -> Value {
    json!([{"type": "MessagingServiceA", "status": "Pending"}, {"type": "Email", "status": "Pending"}])
}

impl Fixture {
    /// Returns a fixture with a live transaction that requested an e-mail an hour ago.
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
        self.store.keep(
            &NotificationKey(&id(), NotificationService::Email).name(),
            marker.to_string().as_bytes(),
            b"null",
        );
    }

    fn keep_queued(&self, round: u32, until: &str) {
        let queued = json!({"round": round, "at": CREATED, "until": until}).to_string();
        self.store.keep(
            &QueuedMailKey(&id(), NotificationService::Email).name(),
            queued.as_bytes(),
            b"null",
        );
    }

    fn record(&self) -> transactions::Record {
        block_on(transactions::get(&self.store, id().as_str())).unwrap()
    }

    pub fn status(&self) -> Value {
        let status = block_on(notifications::status(
            &self.store,
            &self.clock,
            &self.record(),
            NotificationService::Email,
        ));
        serde_json::to_value(status.unwrap()).unwrap()
    }

    /// Resends the e-mail, and returns the message that this puts into the queue.
    fn resend(&self) -> Result<Message, String> {
        let (ada, record, queue) = (test_operator(), self.record(), MemoryQueue::default());
        ada.clock.0.set(self.clock.0.get());
        let resend = async || {
            let mail = notifications::status(
                &self.store,
                &self.clock,
                &record,
                NotificationService::Email,
            )
            .await?;
            let message = notifications::next_message(&self.store, &record, &mail).await?;
            let (author, rounds) = (ada.author(), QueuedRounds::default());
            let ledger = SqliteLedger::default();
            let resent = notifications::queue_round(
                &self.store,
                &ledger,
                &author,
                &queue,
                &rounds,
                &message,
            );
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
    let queued = |round: u32| {
        json!({"state": "waiting", "round": round, "at": "2026-11-21T02:02:03.000Z",
               "until": "2026-11-21T02:03:03.000Z"})
    };
    let cancelled = |status: &Value| {
        let mut status = status.clone();
        status["cancelled"] = CREATED.into();
        status
    };
    let skipped_for = |reason: &str| {
        json!({"state": "skipped", "reason": reason, "round": 1, "at": "2026-11-21T02:02:03.000Z",
               "attempts": 1})
    };
    let rows: [(Value, Change); 28] = [
        (cancelled(&state("waiting")), |fixture| fixture.cancel()),
        (cancelled(&sent), |fixture| {
            fixture.deliver(&message(), 1);
            fixture.cancel();
        }),
        (cancelled(&skipped_for("cancelled")), |fixture| {
            fixture.cancel();
            fixture.deliver(&message(), 1);
        }),
        (state("not-asked"), |fixture| {
            fixture.keep_record(&full());
            fixture.cancel();
        }),
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
            fixture.store.keep(
                &QueuedMailKey(&id(), NotificationService::Email).name(),
                b"[]",
                b"null",
            );
        }),
        (state("waiting"), |_| {}),
        (state("not-asked"), |fixture| fixture.keep_record(&full())),
        (state("off"), |fixture| fixture.keep_profile(&json!({"name": "Small Hours Coffee"}))),
        (state("off"), |fixture| fixture.store.remove(&ProfileKey("unit").name())),
        (state("test"), |fixture| fixture.edit_metadata(|it| it["mode"] = "test".into())),
        (sent.clone(), |fixture| drop(fixture.deliver(&message(), 1))),
        (skipped_for("no-origin"), |fixture| {
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
    let status = block_on(notifications::status(
        &fixture.store,
        &fixture.clock,
        &fixture.record(),
        NotificationService::Email,
    ));
    assert!(status.is_err(), "a store that fails is never taken for an absent marker");
}

#[test]
fn failures_are_listed_by_day_with_their_current_state() {
    let fixture = Fixture::asked();
    let keep = |day: &str, id: &TransactionId| {
        fixture.store.keep(
            &FailedMailKey { day, id, service: NotificationService::Email }.name(),
            b"{}",
            b"null",
        );
    };
    let list_after = |day: Option<&str>, limit, after: Option<String>| {
        let query =
            FailedQuery { day: day.map(str::to_owned), limit, after, ..FailedQuery::default() };
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
        json!({"id": id().as_str(), "mode": "live", "unit": "unit", "reference": "order-10442", "createdAt": CREATED, "recipient": "m…@b…",
               "mail": mail})
    };
    let (days, more, failed) = list(None, 20);
    assert_eq!((&*days, more), ("2026-11-21 2026-11-19 2026-11-19", false));
    assert_eq!(failed[0]["now"], shown(fixture.status()));
    let problem = format!(
        "there is no transaction {absent} in this environment: check the ID and the environment"
    );
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
    let refusals: [(&str, Change); 6] = [
        ("the transaction was cancelled on 2026-11-21T01:02:03Z", |fixture| fixture.cancel()),
        ("the transaction was cancelled on 2026-11-21T01:02:03Z", |fixture| {
            fixture.deliver(&message(), 1);
            fixture.cancel();
        }),
        ("the create request did not ask for an e-mail", |fixture| fixture.keep_record(&full())),
        (off, |fixture| fixture.keep_profile(&json!({"name": "Small Hours Coffee"}))),
        (off, |fixture| fixture.store.remove(&ProfileKey("unit").name())),
        ("the recipient's data was erased on 2026-11-21T01:02:03Z", |fixture| {
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
        block_on(notifications::preview(
            &fixture.store,
            &fixture.clock,
            &fixture.record(),
            NotificationService::Email,
        ))
    };
    let shown = preview(&fixture).unwrap();
    fixture.deliver(&message(), 1);
    assert_eq!(shown.subject, fixture.post.letters.borrow()[0].1);
    assert_eq!((&*shown.to, shown.reply_to.as_deref()), ("m…@b…", Some("hello@coffee.example")));
    let link = "https://service.example/timeline/ptran_1?edit_key=secret";
    assert!(shown.text.contains(link) && shown.html.unwrap().contains(link));
    let masked = block_on(notifications::masked_preview(
        &fixture.store,
        &fixture.clock,
        &fixture.record(),
        NotificationService::Email,
    ))
    .unwrap();
    let text = format!("{masked:?}");
    assert!(text.contains(notifications::NOWHERE) && shown.text.contains("Mara"));
    assert!(!text.contains("Mara") && !text.contains("secret"), "{text}");
    fixture.store.remove(&ProfileKey("unit").name());
    assert_eq!(preview(&fixture).unwrap().sender, "Impact Pledge");
    fixture.keep_record(&with(&[("/timelineUrl", Value::Null)]));
    assert!(preview(&fixture).unwrap_err().to_string().ends_with("no timeline address"));
}

/// The hash of an e-mail address is personal data, so an erasure removes it. Anybody who knows the address
/// can compute the hash, and compare it with a stored one.
#[test]
fn an_erase_forgets_whom_a_mail_was_sent_to() {
    let fixture = Fixture::asked();
    let address = secret().address(EMAIL);
    let others = TransactionId::from_bytes([8; 26]);
    let other = MailedKey {
        day: "2026-11-21",
        address: &address,
        id: &others,
        service: NotificationService::Email,
        is_news: false,
    }
    .name();
    fixture.store.keep(&other, b"{}", b"null");
    let has_hash = |fixture: &Fixture| {
        let names = fixture.store.names().into_iter().filter(|name| *name != other);
        let texts = names.map(|name| format!("{name}{}", fixture.store.value(&name).unwrap()));
        texts.collect::<String>().contains(&address)
    };
    let erase = |fixture: &Fixture| {
        let ada = test_operator();
        ada.clock.0.set(fixture.clock.0.get());
        block_on(transactions::erase(
            &fixture.store,
            &SqliteLedger::default(),
            &ada.author(),
            &fixture.record(),
        ))
        .unwrap()
        .outcome
    };
    fixture.edit_metadata(|it| it["summary"]["createdAt"] = CREATED.into());
    fixture
        .post
        .refusal
        .replace(Some(SendError::Temporary { code: "E_BUSY".to_owned(), after: None }));
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
