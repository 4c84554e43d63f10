//! Tests e-mail deliveries that run at the same time, in one instance or in several. Also tests deliveries after the
//! day's quota is used up.

use crate::notify::{Fixture, TODAY, done, id, later, message, secret};
use crate::timeline::{EMAIL, full, with};
use futures_executor::block_on;
use futures_util::future::{join, join_all};
use impact_pledge::buyer::delivery::{Deliveries, Notifier, Outcome, SendError};
use impact_pledge::pledges::service::Message;
use impact_pledge::pledges::store::{
    Key, ListPage, ListingStore, MailedKey, QueuedMailKey, Store, StoreError, Stored, StoredValue,
    TransactionKey,
};
use impact_pledge::pledges::time::{date_time, day_of, parse_ms};
use impact_pledge::pledges::types::{NotificationService, TransactionId};
use serde_json::{Value, json};
use std::cell::Cell;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Waker};
use support::memory::MemoryStore;
use support::service::{NOW_MS, yield_now};

const ENDED: &str = "sent or skipped before";
const HELD: &str = "another delivery may be sending it";
const SECOND: u64 = 1_000;
const MIB: usize = 1024 * 1024;

fn other(number: u8) -> TransactionId {
    TransactionId::from_bytes([100 + number; 26])
}

/// Stores a further transaction, with its own recipient, and returns the message about it. `bytes` is the
/// size that the transaction's metadata states.
fn message_of(fixture: &Fixture, number: u8, bytes: usize) -> Message {
    let email = json!(format!("buyer-{number}@example.org"));
    let record = with(&[("/pledges/0/recipient/email", email)]);
    fixture.keep_record_of(&other(number), &record, bytes);
    Message { id: other(number).into_string(), ..message() }
}

fn round(round: u32) -> Message {
    Message { round, ..message() }
}

/// Polls a future once, so that it runs until its first wait.
fn begin(future: &mut (impl Future + Unpin)) {
    let context = &mut Context::from_waker(Waker::noop());
    assert!(Pin::new(future).poll(context).is_pending());
}

fn is_later(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Later { .. })
}

// ---- In one instance -----------------------------------------------------------------------------

#[test]
fn messages_of_one_round_in_one_instance_are_one_mail_whatever_workers_kv_shows() {
    for round_number in [1, 2] {
        let fixture = Fixture::new();
        fixture.store.set_hidden(Some("notification:"));
        fixture.store.freeze_lists(true);
        let (instance, message) = (fixture.instance(), round(round_number));
        let together = (0..40).map(|_| fixture.deliver_in(&instance, &message, 1));
        let outcomes = block_on(join_all(together));
        assert_eq!(outcomes.iter().filter(|outcome| **outcome == done("sent")).count(), 1);
        assert_eq!(outcomes.iter().filter(|outcome| **outcome == done(ENDED)).count(), 39);
        assert_eq!(block_on(fixture.deliver_in(&instance, &message, 2)), done(ENDED));
        assert_eq!(fixture.sent(), 1, "round {round_number}");
    }
}

#[test]
fn messages_of_several_transactions_run_side_by_side_and_rounds_of_one_in_turn() {
    let fixture = Fixture::new();
    let instance = fixture.instance();
    let others: Vec<_> = (0..10).map(|number| message_of(&fixture, number, 1_000)).collect();
    let rounds = [round(1), round(2)];
    let all = others.iter().chain(&rounds).map(|message| fixture.deliver_in(&instance, message, 1));
    let outcomes = block_on(join_all(all));
    assert!(outcomes.iter().all(|outcome| *outcome == done("sent")), "{outcomes:?}");
    assert_eq!((fixture.sent(), fixture.post.most.get()), (12, 11));
}

#[test]
fn an_email_that_hangs_delays_only_its_own_transaction() {
    let fixture = Fixture::new();
    let instance = fixture.instance();
    fixture.post.hangs.set(true);
    let (message, next) = (message(), round(2));
    let hanging = fixture.deliver_in(&instance, &message, 1);
    let others = async {
        yield_now().await;
        let began_ms = fixture.clock.0.get();
        let outcome = fixture.deliver_in(&instance, &next, 1).await;
        assert_eq!(outcome, later(60, "another delivery of this transaction is still running"));
        assert_eq!(fixture.clock.0.get() - began_ms, 20 * SECOND);
        fixture.post.hangs.set(false);
        let other = message_of(&fixture, 1, 1_000);
        assert_eq!(fixture.deliver_in(&instance, &other, 1).await, done("sent"));
    };
    assert_eq!(block_on(join(hanging, others)).0, done("sent"));
}

/// A delivery stops without notice, as if the platform had ended it. At first, another delivery of the same
/// message has to wait for it. After a while, the other delivery sends the e-mail.
#[test]
fn a_delivery_that_is_lost_gives_its_turn_back_after_a_while() {
    let fixture = Fixture::new();
    let instance = fixture.instance();
    let message = message();
    fixture.post.hangs.set(true);
    let mut lost = Box::pin(fixture.deliver_in(&instance, &message, 1));
    begin(&mut lost);
    mem::forget(lost);
    fixture.post.hangs.set(false);
    fixture.post.sending.take();
    assert!(is_later(&block_on(fixture.deliver_in(&instance, &message, 2))));
    fixture.clock.0.set(fixture.clock.0.get() + 240 * SECOND);
    assert_eq!(block_on(fixture.deliver_in(&instance, &message, 3)), done("sent"));
}

#[test]
fn orders_of_one_buyer_that_come_together_are_five_mails_whatever_workers_kv_lists() {
    let fixture = Fixture::new();
    fixture.store.freeze_lists(true);
    let instance = fixture.instance();
    let messages: Vec<_> = (0..12)
        .map(|number| {
            fixture.keep_record_of(&other(number), &full(), 1_000);
            Message { id: other(number).into_string(), ..message() }
        })
        .collect();
    let outcomes =
        block_on(join_all(messages.iter().map(|one| fixture.deliver_in(&instance, one, 1))));
    let skipped = outcomes.iter().filter(|outcome| **outcome == done("daily-limit")).count();
    assert_eq!((fixture.sent(), skipped), (5, 7));
}

// ---- Bytes ---------------------------------------------------------------------------------------

/// A store whose values take some time to read. During that time, deliveries hold the values' bytes.
struct SlowStore<'s> {
    store: &'s MemoryStore,
    deliveries: &'s Deliveries,
    most: Cell<usize>,
    reading: Cell<usize>,
    most_reading: Cell<usize>,
}

/// The bytes of a stored value. A transaction's value also has the store, because it takes some time to read.
struct SlowValue<'s>(Vec<u8>, Option<&'s SlowStore<'s>>);

impl StoredValue for SlowValue<'_> {
    async fn read(self, _: u32) -> Result<Vec<u8>, StoreError> {
        let SlowValue(value, Some(store)) = self else { return Ok(self.0) };
        store.reading.set(store.reading.get() + 1);
        store.most_reading.set(store.most_reading.get().max(store.reading.get()));
        store.most.set(store.most.get().max(store.deliveries.bytes()));
        for _ in 0..5 {
            yield_now().await;
        }
        store.reading.set(store.reading.get() - 1);
        Ok(value)
    }
}

impl<'s> Store for &'s SlowStore<'s> {
    type Value = SlowValue<'s>;

    async fn get<K: Key>(
        &self,
        key: &K,
    ) -> Result<Option<Stored<SlowValue<'s>, K::Metadata>>, StoreError> {
        let found = self.store.get(key).await?;
        let slow = (K::PREFIX == TransactionKey::PREFIX).then_some(*self);
        Ok(found
            .map(|Stored { value, metadata }| Stored { value: SlowValue(value, slow), metadata }))
    }

    async fn put<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
    ) -> Result<(), StoreError> {
        self.store.put(key, value, metadata).await
    }
}

impl<'s> ListingStore for &'s SlowStore<'s> {
    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, StoreError> {
        self.store.list(prefix, cursor).await
    }
}

/// Delivers messages at the same time. Returns their outcomes, the maximum number of bytes held at once, and the maximum
/// number of records read at once.
fn side_by_side(fixture: &Fixture, sizes: &[usize]) -> (Vec<Outcome>, usize, usize) {
    let deliveries = fixture.instance();
    let (most, reading, most_reading) = (Cell::default(), Cell::default(), Cell::default());
    let slow =
        SlowStore { store: &fixture.store, deliveries: &deliveries, most, reading, most_reading };
    let Fixture { post: mailer, adapters: messenger, clock, settings, .. } = fixture;
    let store = &&slow;
    let notifier = Notifier { store, mailer, messenger, clock, settings, deliveries: &deliveries };
    let numbered = (0..).zip(sizes);
    let messages: Vec<_> =
        numbered.map(|(number, bytes)| message_of(fixture, number, *bytes)).collect();
    let together = messages.iter().map(|one| notifier.deliver(one, 1, &one.id));
    let outcomes = block_on(join_all(together));
    assert_eq!(deliveries.bytes(), 0, "all is given back");
    (outcomes, slow.most.get(), slow.most_reading.get())
}

#[test]
fn records_are_read_side_by_side_within_the_budget_of_the_instance() {
    for (sizes, most_reading) in [
        (vec![1_000; 40], 40), // many small records at once
        (vec![3 * MIB; 8], 1), // few large records at once
        (vec![MIB; 8], 4),
        ([vec![3 * MIB; 4], vec![60_000; 20]].concat(), 21), // large records do not hold up small ones
    ] {
        let fixture = Fixture::new();
        let (outcomes, most, reading) = side_by_side(&fixture, &sizes);
        assert!(outcomes.iter().all(|outcome| *outcome == done("sent")), "{outcomes:?}");
        assert!(most <= 6 * MIB, "{most}");
        assert_eq!(reading, most_reading, "{sizes:?}");
    }
}

// ---- In several ----------------------------------------------------------------------------------

/// Five instances, the maximum, start to deliver the same message at the same moment. Each instance claims the
/// message, before KV's lists show the claims of the other instances.
#[test]
fn of_instances_that_begin_a_round_together_one_sends() {
    let fixture = Fixture::new();
    fixture.store.freeze_lists(true);
    let instances: Vec<_> = (0..5).map(|_| fixture.instance()).collect();
    let message = round(2);
    let together = instances.iter().map(|instance| fixture.deliver_in(instance, &message, 1));
    let outcomes = block_on(join_all(together));
    assert_eq!(fixture.sent(), 1, "{outcomes:?}");
    let held = |outcome: &&Outcome| match outcome {
        Outcome::Later { seconds, cause } => cause == HELD && (31..=90).contains(seconds),
        Outcome::Done(_) => false,
    };
    assert_eq!(outcomes.iter().filter(held).count(), 4, "{outcomes:?}");
    assert_eq!(fixture.deliver(&message, 2), done(ENDED));
}

/// Stores a claim to deliver a message, as if another instance had written it.
fn keep_claim(fixture: &Fixture, day: &str, claim: &Value) {
    let key = MailedKey {
        day,
        address: &secret().address(EMAIL),
        id: &id(),
        service: NotificationService::Email,
        is_news: false,
    };
    fixture.store.keep(&key.name(), claim.to_string().as_bytes(), b"null");
}

#[test]
fn a_claim_keeps_other_deliveries_from_its_round_until_it_ends() {
    let claim = |round: u32, until: &str| json!({"round": round, "until": until, "token": "other"});
    let [past, soon, far] =
        ["2026-01-31T12:00:00.123Z", "2026-01-31T12:00:20.123Z", "2026-02-01T12:00:00Z"];
    for (round_number, claim, held) in [
        (1, claim(1, soon), Some(50)),
        (1, claim(2, soon), Some(50)), // a later round ends this one
        (2, claim(1, soon), None),
        (1, claim(1, past), None),
        (1, claim(1, far), Some(90)), // from an instance with a wrong clock
        (1, claim(1, "soon"), None),
    ] {
        let fixture = Fixture::new();
        keep_claim(&fixture, TODAY, &claim);
        let outcome = fixture.deliver(&round(round_number), 1);
        let expected = held.map_or(done("sent"), |seconds| later(seconds, HELD));
        assert_eq!((outcome, fixture.sent()), (expected, usize::from(held.is_none())), "{claim}");
    }
    for damaged in [json!([]), json!({})] {
        let fixture = Fixture::new();
        keep_claim(&fixture, TODAY, &damaged);
        assert!(is_later(&fixture.deliver(&message(), 1)), "a damaged one is none that has ended");
    }
}

/// The instance ends right after it has claimed a message. The first delivery after the claim expires sends
/// the e-mail.
#[test]
fn a_claim_whose_delivery_was_lost_costs_no_mail() {
    let fixture = Fixture::new();
    let (instance, message) = (fixture.instance(), message());
    fixture.post.hangs.set(true);
    let mut cut = Box::pin(fixture.deliver_in(&instance, &message, 1));
    begin(&mut cut);
    drop(cut);
    fixture.post.hangs.set(false);
    fixture.post.sending.take();
    let Outcome::Later { seconds, .. } = fixture.deliver(&message, 2) else { panic!("it is held") };
    assert_eq!(seconds, 90, "the rest of the claim, and as long as its marker may be unseen");
    fixture.clock.0.set(NOW_MS + u64::from(seconds) * SECOND);
    assert_eq!((fixture.deliver(&message, 3), fixture.sent()), (done("sent"), 1));
}

/// A delivery claims its message, but its instance breaks before the e-mail is sent. The same delivery then
/// starts again in another instance, and its own claim does not block it.
#[test]
fn a_delivery_that_restarts_is_not_blocked_by_its_own_claim() {
    let fixture = Fixture::new();
    let (instance, message) = (fixture.instance(), message());
    let notifier = fixture.notifier(&instance);
    fixture.post.hangs.set(true);
    let mut cut = Box::pin(notifier.deliver(&message, 1, "token"));
    begin(&mut cut);
    drop(cut);
    fixture.post.hangs.set(false);
    fixture.post.sending.take();
    let again = fixture.instance();
    let again = fixture.notifier(&again);
    assert_eq!(block_on(again.deliver(&message, 1, "token")), done("sent"));
}

/// A delivery stops if writing its claim takes too long. Otherwise it could send the e-mail after its claim
/// has expired.
#[test]
fn a_claim_that_takes_long_to_be_written_sends_nothing() {
    let fixture = Fixture::new();
    let (instance, message) = (fixture.instance(), message());
    let delivering = fixture.deliver_in(&instance, &message, 2);
    // The delivery waits before it reads its claim back.
    let slow = async { fixture.clock.0.set(fixture.clock.0.get() + 14 * SECOND) };
    let (outcome, ()) = block_on(join(delivering, slow));
    assert_eq!((outcome, fixture.sent()), (later(300, "the store is slow"), 0));
}

/// A claim never blocks a retry of its own message. It expires before the first retry, which waits at least as
/// long as a claim lasts.
#[test]
fn a_claim_never_keeps_its_own_message_from_the_next_attempt() {
    let fixture = Fixture::new();
    fixture.refuse(SendError::Temporary { code: "E_BUSY".to_owned(), after: None });
    for attempt in 1..=5 {
        let outcome = fixture.deliver(&message(), attempt);
        let Outcome::Later { seconds, cause } = outcome else { panic!("{outcome:?}") };
        assert_eq!(cause, "E_BUSY", "attempt {attempt}");
        fixture.clock.0.set(fixture.clock.0.get() + u64::from(seconds) * SECOND);
    }
}

#[test]
fn a_claim_of_the_last_minute_of_a_day_holds_on_the_next() {
    let fixture = Fixture::new();
    fixture.clock.0.set(parse_ms("2026-02-01T00:00:20Z").unwrap());
    let claim = json!({"round": 1, "until": "2026-02-01T00:00:50Z", "token": "other"});
    keep_claim(&fixture, TODAY, &claim);
    assert_eq!((fixture.deliver(&message(), 1), fixture.sent()), (later(60, HELD), 0));
}

// ---- The quota of a day --------------------------------------------------------------------------

#[test]
fn a_quota_is_waited_for_until_the_next_day_and_costs_no_mail() {
    let rows = [
        ("2026-01-31T12:00:00Z", None, "2026-02-01T00:05:00Z"),
        ("2026-01-31T12:00:00.001Z", Some(9), "2026-02-01T00:05:00Z"), // the mail service means its rate limit
        ("2026-01-31T12:00:00Z", Some(40_000), "2026-01-31T23:06:40Z"),
        ("2026-01-31T12:00:00Z", Some(999_999), "2026-02-01T12:00:00Z"), // the queue's longest wait
        ("2026-01-31T23:59:00Z", None, "2026-02-01T00:05:00Z"),
        ("2026-01-31T00:01:00Z", None, "2026-01-31T00:05:00Z"),
    ];
    for (now, after, expected) in rows {
        for attempt in [1, 6, 15] {
            let fixture = Fixture::asked();
            fixture.clock.0.set(parse_ms(now).unwrap());
            let code = "E_DAILY_LIMIT_EXCEEDED";
            fixture.refuse(SendError::Quota { code: code.to_owned(), after });
            let outcome = fixture.deliver(&message(), attempt);
            let Outcome::Later { seconds, cause } = &outcome else { panic!("{outcome:?}") };
            assert_eq!((cause.as_str(), fixture.marker()), (code, None));
            assert!(*seconds <= 86_400, "the queue's longest wait");
            let until_ms = fixture.clock.0.get() + u64::from(*seconds) * SECOND;
            let late_ms = until_ms - parse_ms(expected).unwrap();
            assert!(late_ms <= 3 * SECOND, "{now}, {after:?}, attempt {attempt}: {outcome:?}");
            assert!(fixture.lists_a_failure_of(day_of(now)), "the queue may lose it");
            let mail = fixture.status();
            let known = [&mail["state"], &mail["reason"], &mail["round"]];
            assert_eq!(known, [&json!("waiting"), &json!(code), &json!(1)]);

            fixture.clock.0.set(until_ms);
            fixture.post.refuse_nothing();
            assert_eq!(
                (fixture.deliver(&message(), attempt + 1), fixture.sent()),
                (done("sent"), 1)
            );
            assert_eq!(fixture.status()["state"], "sent");
        }
    }
}

/// While the mail service's daily quota is used up, a message is retried shortly after 00:00 UTC and shortly
/// after noon. The service may reset its quota at a time other than midnight.
#[test]
fn a_quota_that_is_still_used_up_on_the_next_day_is_tried_twice_a_day() {
    let fixture = Fixture::new();
    fixture.refuse(SendError::Quota { code: "daily_quota_exceeded".to_owned(), after: None });
    let mut at = vec![];
    for attempt in 1..=6 {
        let Outcome::Later { seconds, .. } = fixture.deliver(&message(), attempt) else { panic!() };
        fixture.clock.0.set(fixture.clock.0.get() + u64::from(seconds) * SECOND);
        at.push(date_time(fixture.clock.0.get())[8..16].to_owned());
    }
    assert_eq!(at, ["01T00:05", "01T12:05", "02T00:05", "02T12:05", "03T00:05", "03T12:05"]);
}

#[test]
fn a_wait_that_cannot_be_noted_is_one_all_the_same() {
    for prefix in ["mail-queued:", "mail-failed:"] {
        let fixture = Fixture::new();
        fixture.store.set_failing(Some(prefix));
        fixture.refuse(SendError::Quota { code: "daily_quota_exceeded".to_owned(), after: None });
        assert_eq!(fixture.deliver(&message(), 1), later(43_500, "daily_quota_exceeded"));
    }
    assert_eq!(
        QueuedMailKey::KEPT_SECONDS,
        Some(3 * 86_400),
        "longer than a wait and its attempts"
    );
}
