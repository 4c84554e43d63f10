//! Simulates the ledger's queue and its consumer. Messages arrive late, in any order, and in batches. Some
//! arrive twice, and a few are lost. The consumer may end at any time: before its write, after its write, or
//! while its answer is sent.

use crate::books::{Books, Handed};
use crate::kv::{Fault, OPERATOR};
use crate::ledger_rows::completed_ms;
use crate::mail::PUT_MS;
use crate::namespace::Namespace;
use futures_util::future::{Either, select};
use impact_pledge::office::system::rows::receive;
use impact_pledge::office::system::rows::receive::{Delivered, Verdict};
use impact_pledge::pledges::scope::{Mode, Scope};
use impact_pledge::pledges::service::{LedgerQueue, mark_unsent};
use impact_pledge::pledges::store::{ReceivedKey, Recorded, StoreError};
use impact_pledge::pledges::time::{date_time, parse_ms};
use impact_pledge::pledges::types::TransactionId;
use serde_json::{Value, json};
use std::future::pending;
use std::pin::pin;
use std::rc::Rc;
use support::service::SECRET;

/// The maximum number of messages in a batch. The queue collects messages for up to `BATCH_MS` milliseconds.
const BATCH: usize = 10;
const BATCH_MS: u64 = 5_000;
/// The maximum number of deliveries of a message.
const MOST_ATTEMPTS: u32 = 101;
/// Of 1,000 messages, the queue refuses `REFUSED` and delivers `TWICE` twice. `BARE` are sent without their
/// quantities, as if these were too large for a message.
const REFUSED: u64 = 50;
const TWICE: u64 = 200;
const BARE: u64 = 200;
/// Of 1,000 refused messages, the number after which a cron job soon runs. The cron job finds the record that
/// notes the refusal.
const CRONS: u64 = 500;
/// Of 1,000 messages about transactions that were never created, the number that violate a database constraint.
/// Such a message cannot become a row.
const WRONG: u64 = 300;
/// Of 1,000 batches, the number for which the consumer ends too early. `UNHEARD` is the number of confirmations
/// in 1,000 that are lost.
pub const KILLED: u64 = 100;
pub const UNHEARD: u64 = 50;

/// Gives one request access to the simulated queue of the ledger.
pub struct SimulatedLedgerQueue {
    pub books: Rc<Books>,
    pub isolate: usize,
    pub store: Namespace,
}

impl LedgerQueue for SimulatedLedgerQueue {
    /// Sends a message in a separate task, as the Worker's queue does. The task runs until its work is done. It
    /// ends earlier if its isolate ends.
    fn send(&self, mut message: Recorded) {
        let (books, store) = (Rc::clone(&self.books), self.store.clone());
        if books.random.chance(BARE) {
            message.summary.quantities = None;
        }
        let body = serde_json::to_value(&message).unwrap();
        let (exchange, at_ms) = (self.store.calls.exchange, books.now_ms());
        let (message_body, calls) = (body.clone(), Rc::clone(&store.calls));
        let handed = Handed { exchange, at_ms, message: message_body, is_refused: false, calls };
        let number = self.books.handed.borrow().len();
        self.books.handed.borrow_mut().push(handed);
        let task = self.books.spawn(async move {
            let is_taken = books.put(body).await;
            books.handed.borrow_mut()[number].is_refused = !is_taken;
            if !is_taken {
                mark_unsent(&store, &message.id).await;
                if books.random.chance(CRONS) {
                    books.keep_up_soon();
                }
            }
        });
        self.books.handing.borrow_mut().insert((self.isolate, task));
    }

    /// Sends a message about a delivery of a shop system. If the queue refuses it, the cron finds the delivery.
    fn send_received(&self, received: &ReceivedKey) {
        let (books, body) = (Rc::clone(&self.books), json!({ "received": received.id() }));
        let task = self.books.spawn(async move {
            books.put(body).await;
        });
        self.books.handing.borrow_mut().insert((self.isolate, task));
    }
}

impl Books {
    /// Sends a message to the queue. Returns whether the queue confirmed it.
    async fn put(self: &Rc<Self>, body: Value) -> bool {
        let faults = [Fault::ErrorBefore, Fault::Hang, Fault::HangKept];
        let fault = self.chance(REFUSED).then(|| self.random.pick(&faults));
        let taking = async {
            self.kv.travel().await;
            match fault {
                Some(Fault::ErrorBefore) => return Err(StoreError::Unavailable),
                Some(Fault::Hang) => pending().await,
                _ => self.enqueue(&body),
            }
            if fault.is_some() { pending().await } else { Ok(()) }
        };
        self.kv.time.within(PUT_MS, taking).await.is_ok()
    }

    fn enqueue(self: &Rc<Self>, body: &Value) {
        if self.chance(self.lost) {
            self.count("a message was lost");
            return;
        }
        for _ in 0..if self.chance(TWICE) { 2 } else { 1 } {
            self.carry(Delivered { body: body.clone(), attempt: 1 }, self.lateness_ms());
        }
    }

    fn lateness_ms(&self) -> u64 {
        let most_ms = match self.random.below(100) {
            0..90 => 5_000,
            90..98 => 600_000,
            _ => 3 * 24 * 3_600_000,
        };
        self.random.below(most_ms)
    }

    /// Delivers a message after `wait_ms` milliseconds. Messages that are ready at the same time are
    /// delivered together.
    fn carry(self: &Rc<Self>, message: Delivered, wait_ms: u64) {
        let books = Rc::clone(self);
        self.spawn(async move {
            books.sleep(wait_ms).await;
            if let Some(received) = message.body["received"].as_str() {
                return books.read_order(received, &message).await;
            }
            books.ready.borrow_mut().push(message);
            if books.is_consumer_due.replace(true) {
                return;
            }
            books.sleep(books.random.below(BATCH_MS)).await;
            books.is_consumer_due.set(false);
            let waiting = books.ready.take();
            for batch in waiting.chunks(BATCH) {
                books.consume(batch).await;
            }
        });
    }

    async fn consume(self: &Rc<Self>, batch: &[Delivered]) {
        let (store, clock) = (self.namespace(OPERATOR), self.clock());
        let passes = || (self.database.emptied.get(), completed_ms(&self.database));
        let passes_before = passes();
        let receiving = pin!(receive::receive(&self.database, &store, &clock, batch));
        let ends_ms = if self.chance(KILLED) { self.random.below(3_000) } else { u64::MAX >> 1 };
        let verdicts = match select(receiving, self.kv.time.sleep(ends_ms)).await {
            Either::Left((verdicts, _)) => verdicts,
            Either::Right(_) => {
                self.count("a consumer ended");
                batch.iter().for_each(|message| self.again(message, self.random.below(60_000)));
                return;
            }
        };
        let has_spoilt = store.calls.list.borrow().iter().any(|call| call.fault.is_some());
        for (message, verdict) in batch.iter().zip(verdicts) {
            match verdict {
                Verdict::Done if self.chance(UNHEARD) => self.again(message, 0),
                Verdict::Done if has_spoilt || passes() != passes_before => {}
                Verdict::Done => self.check_done(&message.body),
                Verdict::Later(seconds) => self.again(message, u64::from(seconds) * 1_000),
            }
        }
    }

    pub fn again(self: &Rc<Self>, Delivered { body, attempt }: &Delivered, wait_ms: u64) {
        self.count("a message came again");
        if *attempt < MOST_ATTEMPTS {
            let message = Delivered { body: body.clone(), attempt: attempt + 1 };
            self.carry(message, wait_ms + self.random.below(5_000));
        }
    }

    /// Checks that the transaction of an acknowledged message has a row. A later create request or an
    /// erasure may have changed the row. If there is no row, the ledger's table `findings` must name the
    /// transaction.
    fn check_done(&self, body: &Value) {
        self.count("a message was received");
        let id = body["id"].as_str().unwrap_or_default();
        let created_at = body["summary"]["createdAt"].as_str();
        let created = created_at.and_then(parse_ms).unwrap_or_default();
        let is_there = format!(
            "SELECT count(*) FROM transactions WHERE id = '{id}' AND (created >= {created} OR erased IS NOT NULL)"
        );
        let is_named = format!("SELECT count(*) FROM findings WHERE name = '{id}'");
        let mut sqls = [is_there, is_named].into_iter();
        if sqls.all(|sql| self.database.sqlite().sql(&sql) == ["0"]) {
            self.blame("a message that is done is a row", body.to_string());
        }
    }

    /// Queues a message about a transaction that was never created, as can happen after a restore of KV. Some
    /// of these messages violate a constraint of the tables.
    pub fn haunt(self: &Rc<Self>) {
        let scope = Scope { mode: Mode::Test, unit: "unit_1".to_owned() };
        let number = self.random.below(3);
        let unique = [self.random.below(256) as u8; 16];
        let id = TransactionId::new(&SECRET, &scope, &format!("order-{number}"), unique);
        let created_at = date_time(crate::times::EPOCH_MS + self.now_ms());
        self.note(format!("a message comes about {id}, which never was"));
        let mut message = json!({
            "id": id.as_str(), "mode": "test", "unit": "unit_1",
            "summary": {
                "createdAt": created_at, "amount": "66.00", "currencyCode": "EUR",
                "lookup": { "order": "0".repeat(32), "email": "0".repeat(32) }, "quantities": [["tree", 1_000_000]],
            },
        });
        if self.random.chance(WRONG) {
            self.count("a message was refused");
            message["summary"]["unpriced"] = json!(u64::MAX); // SQLite has no such integer
        }
        self.enqueue(&message);
    }
}
