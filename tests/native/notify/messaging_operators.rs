//! Tests the operators' functions for messages that messaging services deliver.

use super::{CREATED, Fixture, done, id, message, secret};
use crate::timeline::{EMAIL, with};
use futures_executor::block_on;
use impact_pledge::buyer::adapters::AdapterName;
use impact_pledge::buyer::delivery::SendError;
use impact_pledge::office::mails::rule as notifications;
use impact_pledge::office::mails::rule::{
    BatchQuery, BatchStep, FailedQuery, QueuedRounds, Resendable, Resent, Status,
};
use impact_pledge::office::orders::rule as transactions;
use impact_pledge::pledges::service::Message;
use impact_pledge::pledges::store::{Key as _, NotificationKey};
use impact_pledge::pledges::types::NotificationService;
use impact_pledge::pledges::types::NotificationService::{
    Email, MessagingServiceA, MessagingServiceB, MessagingServiceC,
};
use serde_json::{Value, json};
use std::{iter, slice};
use support::ledger::SqliteLedger;
use support::service::{MemoryQueue, ORIGIN, test_operator};

const CREATED_MS: u64 = 1_795_222_923_000;
const HOUR: u64 = 3_600_000;
const DAY: &str = "2026-11-21";

/// Returns a fixture with a live transaction that requested three notification services an hour ago. E-mails
/// and MessagingServiceA are switched on. Only MessagingServiceA has an adapter.
fn fixture() -> Fixture {
    let fixture = Fixture::new();
    let asked = json!([
        {"type": "MessagingServiceB", "status": "Pending"},
        {"type": "MessagingServiceA", "status": "Pending"},
        {"type": "Email", "status": "Pending"},
    ]);
    fixture.keep_record(&with(&[("/notifications", asked)]));
    fixture.keep_profile(&json!({"name": "Small Hours Coffee", "mail": true,
                                 "messagingServices": ["MessagingServiceA"]}));
    fixture
        .adapters
        .attached
        .borrow_mut()
        .push(AdapterName { service: MessagingServiceA, is_live: true });
    fixture.clock.0.set(CREATED_MS + HOUR);
    fixture
}

fn record(fixture: &Fixture) -> transactions::Record {
    block_on(transactions::get(&fixture.store, id().as_str())).unwrap()
}

fn status(fixture: &Fixture, service: NotificationService) -> Status {
    block_on(notifications::status(&fixture.store, &fixture.clock, &record(fixture), service))
        .unwrap()
}

fn states(fixture: &Fixture) -> Value {
    let statuses =
        block_on(notifications::statuses(&fixture.store, &fixture.clock, &record(fixture)));
    let row = |status: &Status| json!([status.service, status.state, status.reason]);
    let (mail, messages) = statuses.unwrap();
    iter::once(&mail).chain(&messages).map(row).collect()
}

fn to(service: NotificationService, round: u32) -> Message {
    Message { service, round, ..message() }
}

fn fail(fixture: &Fixture, service: NotificationService) {
    let refusal = SendError::Permanent { code: "status-422".to_owned() };
    fixture.adapters.refusal.replace(Some(refusal));
    fixture.deliver(&to(service, 1), 1);
    fixture.adapters.refusal.take();
}

#[test]
fn each_requested_service_has_a_state_of_its_own() {
    let fixture = fixture();
    assert_eq!(
        states(&fixture),
        json!([
            ["Email", "waiting", null],
            ["MessagingServiceA", "waiting", null],
            ["MessagingServiceB", "off", null],
        ])
    );
    fixture.deliver(&message(), 1);
    fail(&fixture, MessagingServiceA);
    fixture.deliver(&to(MessagingServiceB, 1), 1);
    assert_eq!(
        states(&fixture),
        json!([
            ["Email", "sent", null],
            ["MessagingServiceA", "failed", "status-422"],
            ["MessagingServiceB", "skipped", "service-off"],
        ])
    );
    let of_a = serde_json::to_value(status(&fixture, MessagingServiceA)).unwrap();
    assert_eq!(of_a["service"], "MessagingServiceA");
    assert!(serde_json::to_value(status(&fixture, Email)).unwrap().get("service").is_none());
    assert_eq!(
        serde_json::to_value(status(&fixture, MessagingServiceC)).unwrap(),
        json!({"service": "MessagingServiceC", "state": "not-asked"})
    );
}

#[test]
fn what_never_reached_the_queue_is_known_by_service() {
    let fixture = fixture();
    let name = format!("transaction:{}", id());
    let mut metadata = fixture.store.metadata(&name).remove(0);
    metadata["summary"]["unsent"] = json!("AZ");
    let value = fixture.store.value(&name).unwrap();
    fixture.store.keep(&name, value.as_bytes(), metadata.to_string().as_bytes());
    assert_eq!(
        states(&fixture),
        json!([
            ["Email", "waiting", null],
            ["MessagingServiceA", "failed", "unsent"],
            ["MessagingServiceB", "off", null],
        ])
    );
}

#[test]
fn failures_are_listed_with_their_service() {
    let fixture = fixture();
    fail(&fixture, MessagingServiceA);
    fixture.refuse(SendError::Permanent { code: "E_SUPPRESSED".to_owned() });
    fixture.deliver(&message(), 1);
    let list = |query: FailedQuery| {
        let query = FailedQuery { limit: 20, ..query };
        let failures =
            block_on(notifications::failed(&fixture.store, &fixture.clock, &query)).unwrap();
        let row = |failed: &notifications::FailedMail| {
            (failed.service, failed.now.clone().unwrap().mail.reason.unwrap(), failed.position())
        };
        failures.failed.iter().map(row).collect::<Vec<_>>()
    };
    let of_mail = (Email, "E_SUPPRESSED".to_owned(), format!("{DAY}:{}", id()));
    let position = format!("{DAY}:{}:MessagingServiceA", id());
    let of_message = (MessagingServiceA, "status-422".to_owned(), position);
    let all = list(FailedQuery::default());
    assert_eq!(all, [of_mail.clone(), of_message.clone()]);
    let after =
        |row: &(_, _, String)| FailedQuery { after: Some(row.2.clone()), ..FailedQuery::default() };
    assert_eq!(list(after(&of_mail)), slice::from_ref(&of_message));
    assert_eq!(list(after(&of_message)), []);
    let of = |service| FailedQuery { service: Some(service), ..FailedQuery::default() };
    assert_eq!(list(of(Email)), [of_mail]);
    assert_eq!(list(of(MessagingServiceA)), [of_message]);
    assert_eq!(list(of(MessagingServiceB)), []);
    let recent = block_on(notifications::recent_failures(&fixture.store, &fixture.clock)).unwrap();
    assert_eq!((recent.count, recent.has_more), (2, false));
}

#[test]
fn a_message_is_resent_as_the_next_round_of_its_service_alone() {
    let fixture = fixture();
    fixture.deliver(&message(), 1);
    fail(&fixture, MessagingServiceA);
    let (ada, queue, rounds) = (test_operator(), MemoryQueue::default(), QueuedRounds::default());
    ada.clock.0.set(fixture.clock.0.get());
    let resend = |service| {
        let status = status(&fixture, service);
        let message =
            block_on(notifications::next_message(&fixture.store, &record(&fixture), &status))
                .map_err(|error| error.to_string())?;
        let done = block_on(notifications::queue_round(
            &fixture.store,
            &SqliteLedger::default(),
            &ada.author(),
            &queue,
            &rounds,
            &message,
        ));
        Ok::<_, String>(done.unwrap().outcome)
    };
    assert_eq!(resend(MessagingServiceA), Ok(Resent::Queued));
    assert_eq!(resend(Email), Ok(Resent::Queued), "a round of another service is not taken");
    assert_eq!(queue.messages.take(), [to(MessagingServiceA, 2), to(Email, 2)]);
    assert_eq!(status(&fixture, MessagingServiceA).queued_round(), Some(2));
    let off = "MessagingServiceB is off for the unit `unit`: `units set unit --messaging-services …` turns it on";
    let refused = |service: &str, why: &str| {
        Err(format!("the message by {service} of {} cannot be sent: {why}", id()))
    };
    assert_eq!(resend(MessagingServiceB), refused("MessagingServiceB", off));
    let not_asked = "the create request did not ask for it";
    assert_eq!(resend(MessagingServiceC), refused("MessagingServiceC", not_asked));
    let mut commands: Vec<_> = fixture
        .store
        .names()
        .iter()
        .filter(|name| name.starts_with("audit:"))
        .map(|name| serde_json::from_str::<Value>(&fixture.store.value(name).unwrap()).unwrap())
        .map(|change| (change["command"].clone(), change["on"].clone()))
        .collect();
    commands.sort_by_key(|(command, _)| command.as_str().map(str::to_owned));
    let on = json!([id().as_str()]);
    assert_eq!(
        commands,
        [(json!("emails resend"), on.clone()), (json!("emails resend (MessagingServiceA)"), on),]
    );
    assert_eq!(fixture.deliver(&to(MessagingServiceA, 2), 1), done("sent"));
}

#[test]
fn all_failures_of_a_day_are_resent_each_once_or_those_of_a_service() {
    let fixture = fixture();
    fail(&fixture, MessagingServiceA);
    fixture.refuse(SendError::Permanent { code: "E_BUSY".to_owned() });
    fixture.deliver(&message(), 1);
    let ada = test_operator();
    ada.clock.0.set(fixture.clock.0.get());
    let resend = |service| {
        let (queue, rounds) = (MemoryQueue::default(), QueuedRounds::default());
        let query =
            BatchQuery { day: Some(DAY.to_owned()), service, count: 10, ..BatchQuery::default() };
        let step = block_on(notifications::resend_batch(
            &fixture.store,
            &SqliteLedger::default(),
            &ada.author(),
            &queue,
            &rounds,
            &query,
        ));
        (step.unwrap().outcome, queue.messages.take())
    };
    let queued = |queued| BatchStep { queued, ..BatchStep::default() };
    assert_eq!(resend(Some(MessagingServiceB)), (queued(0), vec![]));
    assert_eq!(resend(Some(MessagingServiceA)), (queued(1), vec![to(MessagingServiceA, 2)]));
    let rest = BatchStep { queued: 1, before: 1, ..BatchStep::default() };
    assert_eq!(resend(None), (rest, vec![to(Email, 2)]));
}

/// A message about a cancelled transaction must not be sent. So no page counts it as a failure, and no resend
/// queues it.
#[test]
fn a_failure_of_a_cancelled_transaction_is_listed_and_is_not_resent() {
    let fixture = fixture();
    fail(&fixture, MessagingServiceA);
    fixture.cancel();
    let states = || states(&fixture)[1].clone();
    assert_eq!(states(), json!(["MessagingServiceA", "failed", "status-422"]));
    let cancelled = status(&fixture, MessagingServiceA);
    assert_eq!(cancelled.cancelled.as_deref(), Some(CREATED));
    let recent = block_on(notifications::recent_failures(&fixture.store, &fixture.clock)).unwrap();
    assert_eq!(recent.count, 0);
    let found = block_on(notifications::resendable(&fixture.store, &fixture.clock, DAY)).unwrap();
    assert_eq!(found, Resendable::default());
    let ada = test_operator();
    ada.clock.0.set(fixture.clock.0.get());
    let (queue, rounds) = (MemoryQueue::default(), QueuedRounds::default());
    let query = BatchQuery { day: Some(DAY.to_owned()), count: 10, ..BatchQuery::default() };
    let (store, author) = (&fixture.store, ada.author());
    let ledger = SqliteLedger::default();
    let step = notifications::resend_batch(store, &ledger, &author, &queue, &rounds, &query);
    let why = format!(
        "the message by MessagingServiceA of {} cannot be sent: the transaction was cancelled on {CREATED}",
        id()
    );
    let expected = BatchStep { refused: vec![(id().into_string(), why)], ..BatchStep::default() };
    assert_eq!(block_on(step).unwrap().outcome, expected);
    assert!(queue.messages.take().is_empty());
}

#[test]
fn a_preview_is_the_message_that_would_be_sent() {
    let fixture = fixture();
    let preview = block_on(notifications::preview(
        &fixture.store,
        &fixture.clock,
        &record(&fixture),
        MessagingServiceA,
    ))
    .unwrap();
    fixture.deliver(&to(MessagingServiceA, 1), 1);
    let body = &fixture.adapters.got.borrow()[0].2;
    let text = preview.text.replace("https://service.example", ORIGIN); // the preview has the address as recorded
    assert_eq!((&json!(preview.subject), &json!(text)), (&body["title"], &body["text"]));
    assert_eq!((preview.html, preview.reply_to), (None, None));
    let masked = block_on(notifications::masked_preview(
        &fixture.store,
        &fixture.clock,
        &record(&fixture),
        MessagingServiceA,
    ))
    .unwrap();
    assert!(!masked.text.contains("edit_key") && !masked.text.contains("Mara"), "{}", masked.text);
}

#[test]
fn an_erasure_removes_what_each_service_has_left() {
    let fixture = fixture();
    let address = secret().address(EMAIL);
    let name = format!("transaction:{}", id());
    let mut metadata = fixture.store.metadata(&name).remove(0);
    metadata["summary"]["createdAt"] = CREATED.into();
    let value = fixture.store.value(&name).unwrap();
    fixture.store.keep(&name, value.as_bytes(), metadata.to_string().as_bytes());
    for service in [Email, MessagingServiceA] {
        assert_eq!(fixture.deliver(&to(service, 1), 1), done("sent"));
        let key = NotificationKey(&id(), service);
        assert!(fixture.store.value(&key.name()).unwrap().contains(&address));
    }
    let mentions = || {
        let names = fixture.store.names().into_iter();
        let texts = names.map(|name| format!("{name}{}", fixture.store.value(&name).unwrap()));
        texts.filter(|text| text.contains(&address)).count()
    };
    assert_eq!(mentions(), 4, "a marker and a count for each service");
    let ada = test_operator();
    ada.clock.0.set(fixture.clock.0.get());
    block_on(transactions::erase(
        &fixture.store,
        &SqliteLedger::default(),
        &ada.author(),
        &record(&fixture),
    ))
    .unwrap();
    assert_eq!(mentions(), 0);
    let erased = json!([
        ["Email", "erased", null],
        ["MessagingServiceA", "erased", null],
        ["MessagingServiceB", "erased", null],
    ]);
    assert_eq!(states(&fixture), erased);
    assert_eq!(fixture.deliver(&to(MessagingServiceA, 2), 1), done("erased"));
    assert_eq!(fixture.adapters.got.borrow().len(), 1);
}
