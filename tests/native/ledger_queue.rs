//! Tests the ledger's queue: which create requests send a message, and what happens if the queue refuses the message.

use futures_executor::block_on;
use impact_pledge::pledges::auth::ApiKey;
use impact_pledge::pledges::quantities::MAX_MESSAGE_BYTES;
use impact_pledge::pledges::scope::{Mode, Scope};
use impact_pledge::pledges::service::{LedgerQueue, mark_unsent};
use impact_pledge::pledges::store::{
    Key as _, LedgerUnsentKey, ListingStore as _, ReceivedKey, Recorded, TransactionKey,
};
use impact_pledge::pledges::types::TransactionId;
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::mem::take;
use std::pin::Pin;
use std::rc::Rc;
use support::memory::MemoryStore;
use support::service::{
    LIVE_UNIT, NOW_MS, PATH, SECRET, TestRequest, TestService, UNIT, minimal, repeatable, seeded,
};

/// The maximum size of a message in Cloudflare's queues, in bytes.
const QUEUE_BYTES: usize = 128_000;

type Sending = Pin<Box<dyn Future<Output = ()>>>;

/// A queue that records each message, together with the names of all records that the store has at that moment.
/// The queue accepts or refuses messages only in [`finish`](Self::finish).
struct NotingQueue {
    store: Rc<MemoryStore>,
    takes: Cell<bool>,
    messages: RefCell<Vec<(Recorded, Vec<String>)>>,
    sending: RefCell<Vec<Sending>>,
}

impl LedgerQueue for NotingQueue {
    fn send(&self, message: Recorded) {
        let (store, id, is_put) = (Rc::clone(&self.store), message.id.clone(), self.takes.get());
        self.messages.borrow_mut().push((message, store.names()));
        if !is_put {
            self.sending
                .borrow_mut()
                .push(Box::pin(async move { mark_unsent(&*store, &id).await }));
        }
    }

    fn send_received(&self, _: &ReceivedKey) {}
}

impl NotingQueue {
    /// Returns the messages since the last call, as JSON.
    fn taken(&self) -> Vec<Value> {
        take(&mut *self.messages.borrow_mut()).iter().map(|(message, _)| json!(message)).collect()
    }

    /// Waits until all messages that are being sent are accepted or refused.
    fn finish(&self) {
        take(&mut *self.sending.borrow_mut()).into_iter().for_each(block_on);
    }
}

/// Creates a service on an existing store. Returns the service, and the ledger queue that it uses.
fn over(store: &Rc<MemoryStore>) -> (TestService<MemoryStore>, Rc<NotingQueue>) {
    let mut service = TestService::over(store, "");
    let (messages, sending) = (RefCell::default(), RefCell::default());
    let store = Rc::clone(store);
    let queue = Rc::new(NotingQueue { store, takes: Cell::new(true), messages, sending });
    service.ledger = Some(Rc::clone(&queue) as Rc<dyn LedgerQueue>);
    (service, queue)
}

fn bench() -> (TestService<MemoryStore>, Rc<NotingQueue>) {
    over(&seeded().store)
}

fn marks(store: &MemoryStore) -> Vec<(String, Option<u64>)> {
    let page = block_on(store.list(LedgerUnsentKey::PREFIX, None)).unwrap();
    page.records.into_iter().map(|record| (record.name, record.expiration)).collect()
}

fn order(pledges: &[Value]) -> Value {
    let mut order = minimal();
    order["pledges"] = json!(pledges);
    order
}

fn pledge(amount: f64, offering: &str) -> Value {
    json!({ "impact": { "amount": amount, "offeringId": offering } })
}

// ---- The message ---------------------------------------------------------------------------------

#[test]
fn a_create_sends_what_the_ledger_needs_and_no_more() {
    let (service, queue) = bench();
    let pledges =
        [pledge(3.0, "tree"), pledge(0.5, "a-tree"), pledge(2.0, "tree"), pledge(1e-7, "a-tree")];
    for (key, mode) in [(UNIT, Mode::Test), (LIVE_UNIT, Mode::Live)] {
        let create = TestRequest::new("POST", PATH, key)
            .with_body(order(&pledges).to_string().into_bytes())
            .with_header("idempotency-key", "order-1");
        let answer = service.send(&create);
        let scope = Scope { unit: "unit_dev".to_owned(), mode };
        let lookup = SECRET.hashes(&scope, "ORDER-1", "ada@example.org");
        let expected = json!({
            "id": answer.json()["id"], "mode": mode, "unit": "unit_dev", "summary": {
                "createdAt": "2026-01-31T12:00:00.123Z", "amount": "2.50", "currencyCode": "USD",
                "unpriced": 2, "lookup": lookup, "key": ApiKey::new(key).hash().id(),
                "quantities": [["a-tree", "5000001e-7"], ["tree", 5_000_000]],
            },
        });
        assert_eq!(queue.taken(), [expected]);
    }
}

/// A message has the same data as the metadata of its record. The ledger reads the message from its queue, and
/// the metadata in a reconciliation pass.
#[test]
fn a_message_and_the_metadata_of_its_record_are_one() {
    let (service, queue) = bench();
    service.create(UNIT, &minimal());
    let (sent, _) = queue.messages.borrow()[0].clone();
    let read: Recorded = serde_json::from_str(&json!(sent).to_string()).unwrap();
    assert_eq!(read, sent);
    let metadata = &service.store.metadata("transaction:")[0];
    assert_eq!(Recorded::from_metadata(sent.id.clone(), metadata).unwrap(), sent);
}

#[test]
fn invalid_messages_are_refused_and_damaged_quantities_ignored() {
    let (service, queue) = bench();
    service.create(UNIT, &minimal());
    let sent = queue.taken().remove(0);
    let read = |edit: fn(&mut Value)| {
        let mut message = sent.clone();
        edit(&mut message);
        serde_json::from_value::<Recorded>(message)
    };
    let later = read(|it| it["summary"]["later"] = json!([1])).unwrap();
    assert_eq!(json!(later), sent);
    for edit in [
        |it: &mut Value| it["id"] = json!("ptran_canary"),
        |it: &mut Value| it["id"] = json!(7),
        |it: &mut Value| it["mode"] = json!("canary"),
        |it: &mut Value| it["unit"] = json!(null),
        |it: &mut Value| it["summary"] = json!(null),
        |it: &mut Value| it["summary"]["currencyCode"] = json!("CHF"),
    ] {
        assert!(read(edit).is_err());
    }
    for edit in [
        |it: &mut Value| it["summary"]["quantities"] = json!([["tree", -1]]),
        |it: &mut Value| it["summary"]["quantities"] = json!("canary"),
        |it: &mut Value| it["summary"]["quantities"] = json!(null),
        |it: &mut Value| drop(it["summary"].as_object_mut().unwrap().remove("quantities")),
    ] {
        assert_eq!(read(edit).unwrap().summary.quantities, None);
    }
}

#[test]
fn a_message_fits_the_queue_however_many_pledges_it_is_about() {
    for (count, name, in_metadata, in_message) in [
        (1, "t".to_owned(), true, true),
        (500, "t".to_owned(), false, true),
        (11_000, "t".to_owned(), false, false),
        (2, "t".repeat(49_900), false, true),
        (2, "t".repeat(50_100), false, false),
        (1, "\u{1}".repeat(17_000), false, false), // six bytes each
    ] {
        let (service, queue) = bench();
        let pledges: Vec<_> =
            (0..count).map(|index| pledge(1.5, &format!("{index}{name}"))).collect();
        let answer = service.create(UNIT, &order(&pledges));
        assert_eq!(answer.status, 200, "{}", answer.text);
        let metadata = service.store.metadata("transaction:").remove(0);
        assert_eq!(metadata["summary"]["quantities"].is_array(), in_metadata, "{count}");
        let message = queue.taken().remove(0);
        let quantities = &message["summary"]["quantities"];
        assert_eq!(quantities.is_array(), in_message, "{count}");
        assert!(quantities.to_string().len() <= MAX_MESSAGE_BYTES);
        assert!(message.to_string().len() < QUEUE_BYTES);
    }
}

// ---- Which creates send one ----------------------------------------------------------------------

#[test]
fn the_record_is_there_before_its_message_and_the_answer_waits_for_nothing() {
    let (service, queue) = bench();
    queue.takes.set(false);
    let id = service.create(UNIT, &minimal()).json()["id"].as_str().unwrap().to_owned();
    let (_, names) = queue.messages.borrow()[0].clone();
    assert!(names.contains(&format!("transaction:{id}")));
    assert_eq!(marks(&service.store), [], "the queue has not answered yet");
    queue.finish();
    assert_eq!(marks(&service.store), [(format!("ledger-unsent:{id}"), Some(7 * 24 * 60 * 60))]);
}

#[test]
fn nothing_else_differs_without_a_ledger() {
    let plain = seeded();
    let (service, _) = over(&seeded().store);
    for request in [
        repeatable(&minimal()),
        repeatable(&minimal()),
        TestRequest::new("POST", PATH, UNIT).with_body(minimal().to_string().into_bytes()),
    ] {
        let (with, without) = (service.send(&request), plain.send(&request));
        assert_eq!((with.status, with.text), (without.status, without.text));
        assert_eq!(service.store.take_reads(), plain.store.take_reads());
    }
    assert_eq!(service.store.names(), plain.store.names());
    assert_eq!(service.store.metadata(""), plain.store.metadata(""));
}

/// Without a record, no message is sent. Otherwise the ledger would charge for a transaction that does not
/// exist.
#[test]
fn a_record_that_may_not_have_been_kept_sends_nothing() {
    let (service, queue) = bench();
    service.store.set_failing(Some("transaction:"));
    assert_eq!(service.create(UNIT, &minimal()).status, 503);
    service.store.set_failing(None);
    service.store.set_unconfirmed(Some("transaction:"));
    assert_eq!(service.create(UNIT, &minimal()).status, 503);
    assert_eq!(service.send(&repeatable(&minimal())).status, 503);
    service.store.set_unconfirmed(None);
    assert_eq!(service.create(UNIT, &json!({})).status, 400);
    assert_eq!(service.get(UNIT, "ptran_x").status, 404);
    assert_eq!(queue.taken(), [] as [Value; 0]);
}

#[test]
fn a_repeat_sends_one_only_if_it_writes_the_record_again() {
    let (service, queue) = bench();
    let create = repeatable(&minimal());
    assert_eq!(service.send(&create).status, 200);
    let first = queue.taken();
    assert_eq!(first.len(), 1);

    assert_eq!(service.send(&create).headers["idempotent-replayed"], "true");
    let (other, others) = over(&service.store);
    assert_eq!(other.send(&create).headers["idempotent-replayed"], "true");
    let another = order(&[pledge(1.0, "tree")]);
    assert_eq!(other.send(&repeatable(&another)).status, 422);
    assert_eq!((queue.taken().len(), others.taken().len()), (0, 0));

    service.store.set_hidden(Some("idempotency:"));
    let (racing, raced) = over(&service.store);
    racing.clock.0.set(NOW_MS + 1_000);
    assert_eq!(racing.send(&create).headers.get("idempotent-replayed"), None);
    let second = raced.taken();
    assert_eq!((second.len(), &second[0]["id"]), (1, &first[0]["id"]));
    assert_eq!(second[0]["summary"]["createdAt"], "2026-01-31T12:00:01.123Z");
}

/// The transaction's message is sent, because its record is stored. The answer is an error nevertheless,
/// because the replay record may be missing.
#[test]
fn a_create_whose_replay_record_fails_has_sent_its_message() {
    let (service, queue) = bench();
    service.store.set_unconfirmed(Some("idempotency:"));
    assert_eq!(service.send(&repeatable(&minimal())).status, 503);
    assert_eq!(queue.taken().len(), 1);
}

// ---- What the queue does not take ----------------------------------------------------------------

#[test]
fn a_message_that_is_not_taken_is_marked_as_far_as_the_store_works() {
    let store = MemoryStore::default();
    let id = TransactionId::from_bytes([1; 26]);
    let mark = || block_on(mark_unsent(&store, &id));
    store.set_broken(true);
    mark();
    store.set_broken(false);
    assert_eq!(marks(&store), []);
    mark();
    mark();
    let name = LedgerUnsentKey(&id).name();
    assert_eq!(marks(&store).len(), 1);
    assert_eq!(LedgerUnsentKey::parse(&name), Some(id.clone()));
    assert_eq!(LedgerUnsentKey::parse(&TransactionKey(&id).name()), None);
}
