//! Simulates the queue of notifications, its consumer, a mail service and the adapter of a messaging service,
//! all with random failures.
//!
//! - The queue delivers a message at least once: late, in any order, and some messages twice. It refuses some
//!   messages, and accepts others without an answer. It also loses a few, because no platform promises to
//!   lose none.
//! - The consumer has several instances at each location, and each instance runs several deliveries at once.
//!   An instance may end at any moment with all its deliveries. A single delivery may also end without any
//!   notice to its instance. In both cases, the messages are delivered again.
//! - After [`RETRIES`] further deliveries, a message moves to the dead letter queue, which delivers it in the
//!   same way.
//! - The mail service may refuse an e-mail, ask to wait, not answer, or send the e-mail and not answer. It
//!   never accepts a few of the e-mails. The adapter behaves in the same way.

use crate::executor::{Executor, Time};
use crate::isolate::SkewedClock;
use crate::kv::{Calls, Fault, Kv, LOCATIONS, OPERATOR};
use crate::namespace::Namespace;
use crate::payload::MESSENGER;
use crate::random::Random;
use futures_util::future::{Either, select};
use impact_pledge::buyer::adapters::AdapterName;
use impact_pledge::buyer::delivery::{
    AdapterState, Deliveries, MAX_RETRIES, MailSettings, Mailer, Messenger, Notifier, Outcome,
    OutgoingEmail, OutgoingMessage, SendError,
};
use impact_pledge::pledges::service::{Message, Outbox, PutFuture};
use impact_pledge::pledges::store::StoreError;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::{pending, poll_fn};
use std::mem::forget;
use std::pin::pin;
use std::rc::{Rc, Weak};
use std::task::Poll;
use support::service::ORIGIN;

/// The recipient of e-mails for transactions of test keys.
pub const TESTER: &str = "tester@service.example";
/// The maximum numbers of redeliveries of a message. Each simulation picks one of them: the number in
/// `wrangler.toml`, or the smaller number of a queue that was created long ago.
const RETRIES: &[u32] = &[MAX_RETRIES, MAX_RETRIES, 3];
/// The maximum number of times that the dead letter queue delivers a message again.
const DEAD_RETRIES: u32 = 10;
/// The number of consumer instances at each location.
const INSTANCES: usize = 2;
/// The maximum number of bytes that an instance's deliveries may hold. Each delivery counts as at least 4
/// KiB, so at most [`HOLDERS`] deliveries hold bytes at the same time.
const MAX_BYTES: usize = HOLDERS * 4 * 1024;
/// How many deliveries of an instance may hold a record or an e-mail at the same time.
pub const HOLDERS: usize = 2;
/// How long the Worker's adapter waits until the queue confirms a message.
pub const PUT_MS: u64 = 2_000;
/// How long the adapter waits for the mail service.
const SEND_MS: u64 = 10_000;
/// The delay with which a new message is delivered for the first time.
const DELAY_MS: u64 = 60_000;
/// A time that is longer than all waits of a message together, including those in the dead letter queue.
pub const ALL_WAITS_MS: u64 = 20 * 24 * 60 * 60 * 1_000;
/// The number of the first delivery task. Lower numbers belong to requests.
pub const FIRST_TASK: usize = 1 << 40;

const QUEUE_FAULTS: &[Fault] = &[Fault::ErrorBefore, Fault::Hang, Fault::HangKept];

/// A fault of the mail service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MailFault {
    /// The service refuses the e-mail temporarily.
    Busy,
    /// The service asks the sender to wait.
    Limited,
    /// The quota of the day is used up.
    Quota,
    /// The service refuses the e-mail permanently.
    Refused,
    /// The service does not answer, and sends nothing.
    Silent,
    /// The service does not answer, but sends the e-mail.
    AnswerLost,
}

const MAIL_FAULTS: &[MailFault] = &[
    MailFault::Busy,
    MailFault::Limited,
    MailFault::Quota,
    MailFault::Refused,
    MailFault::Silent,
    MailFault::AnswerLost,
];

/// One delivery of a message.
pub struct Delivery {
    pub message: Message,
    pub attempt: u32,
    /// Whether the dead letter queue makes this delivery.
    pub is_dead: bool,
    /// Whether the queue delivers the message again although the consumer has not asked for it. This happens if
    /// the queue duplicated the message, if the consumer ended, or if the consumer's answer was lost.
    pub is_again: bool,
    /// The number of the consumer's instance. `ahead_ms` is how far the clock of this instance is ahead.
    pub instance: usize,
    pub ahead_ms: i64,
    pub begun_ms: u64,
    pub ended_ms: Option<u64>,
    /// The outcome; `None` if the consumer ended first.
    pub outcome: Option<Outcome>,
    pub fault: Option<MailFault>,
    pub calls: Rc<Calls>,
}

/// An instance of the consumer.
pub struct Consumer {
    number: usize,
    location: usize,
    is_newer: bool,
    clock: SkewedClock,
    deliveries: Deliveries,
    has_ended: Cell<bool>,
    /// Whether a delivery of this instance ended without notice. The instance still counts that delivery as
    /// running.
    pub has_lost: Cell<bool>,
}

impl Consumer {
    /// Waits until the instance ends.
    async fn end(&self) {
        poll_fn(|_| if self.has_ended.get() { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    /// Returns the bytes that the instance's deliveries hold.
    pub fn bytes(&self) -> usize {
        self.deliveries.bytes()
    }
}

impl Delivery {
    /// Returns the cause that the consumer gave for its outcome. If the consumer ended before an outcome,
    /// says so.
    pub fn cause(&self) -> &str {
        match &self.outcome {
            Some(Outcome::Done(cause) | Outcome::Later { cause, .. }) => cause,
            None => "its consumer ended",
        }
    }
}

/// Returns the part of a record's name that identifies a notification: the transaction's ID and, unless the
/// service is e-mail, the service's name.
pub fn subject(message: &Message) -> String {
    let Message { id, service, .. } = message;
    if service.is_email() { id.clone() } else { format!("{id}:{}", service.name()) }
}

/// A notification that the mail service or the adapter accepted.
pub struct Sent {
    pub delivery: usize,
    pub at_ms: u64,
    pub to: String,
}

pub struct Post {
    kv: Rc<Kv>,
    time: Rc<Time>,
    random: Rc<Random>,
    /// The executor. The reference is weak, because the executor's tasks hold this struct.
    executor: Weak<Executor>,
    /// The texts of all queued messages.
    pub texts: RefCell<Vec<String>>,
    /// The messages that the queue did not confirm.
    pub refused: RefCell<Vec<Message>>,
    /// The [subjects](subject) of the messages that the queue lost.
    pub lost: RefCell<Vec<String>>,
    pub deliveries: RefCell<Vec<Delivery>>,
    pub sent: RefCell<Vec<Sent>>,
    /// The running instances.
    pub consumers: RefCell<Vec<Rc<Consumer>>>,
    consumer_count: Cell<usize>,
    /// The notifications that were tried at least once. The value is `true` if the service refuses the
    /// notification every time.
    poison: RefCell<BTreeMap<String, bool>>,
    task_count: Cell<usize>,
}

impl Post {
    pub fn new(kv: &Rc<Kv>, executor: &Rc<Executor>) -> Self {
        let post = Post {
            kv: Rc::clone(kv),
            time: Rc::clone(&kv.time),
            random: Rc::clone(&kv.random),
            executor: Rc::downgrade(executor),
            texts: RefCell::default(),
            refused: RefCell::default(),
            lost: RefCell::default(),
            deliveries: RefCell::default(),
            sent: RefCell::default(),
            consumers: RefCell::default(),
            consumer_count: Cell::default(),
            poison: RefCell::default(),
            task_count: Cell::default(),
        };
        let consumers = (0..INSTANCES * LOCATIONS).map(|number| post.consumer(number % LOCATIONS));
        let consumers = consumers.collect();
        post.consumers.replace(consumers);
        post
    }

    fn consumer(&self, location: usize) -> Rc<Consumer> {
        self.consumer_count.set(self.consumer_count.get() + 1);
        let ahead_ms = self.random.below(10_000) as i64 - 5_000;
        Rc::new(Consumer {
            number: self.consumer_count.get(),
            location,
            is_newer: self.random.chance(250),
            clock: SkewedClock { time: Rc::clone(&self.time), ahead_ms },
            deliveries: Deliveries::new(MAX_BYTES),
            has_ended: Cell::default(),
            has_lost: Cell::default(),
        })
    }

    /// Ends an instance with all its deliveries. A new instance takes its place.
    fn end(&self, ended: &Consumer) {
        ended.has_ended.set(true);
        let new = self.consumer(ended.location);
        let mut consumers = self.consumers.borrow_mut();
        let place = consumers.iter_mut().find(|one| one.number == ended.number);
        place.into_iter().for_each(|place| *place = Rc::clone(&new));
    }

    /// Queues a message from a request or the operator, and delivers it after this delay. Loses a few
    /// messages.
    pub fn enqueue(self: &Rc<Self>, message: &Message, delay_ms: u64) {
        if self.chance(20) {
            self.lost.borrow_mut().push(subject(message));
            return;
        }
        let copies = if self.chance(200) { 2 } else { 1 };
        for copy in 0..copies {
            let task = FIRST_TASK + self.task_count.get();
            self.task_count.set(self.task_count.get() + 1);
            let (message, is_copy) = (message.clone(), copy > 0);
            let delivering = Rc::clone(self).deliver_all(message, delay_ms, is_copy);
            self.executor.upgrade().unwrap().spawn(task, delivering);
        }
    }

    async fn put(self: &Rc<Self>, message: &Message, calls: &Calls) -> bool {
        self.texts.borrow_mut().push(serde_json::to_string(message).unwrap());
        let fault = self.kv.fault("queue", QUEUE_FAULTS);
        let call = calls.begin("queue", &subject(message), fault, None);
        let taking = async {
            self.kv.travel().await;
            match fault {
                Some(Fault::ErrorBefore) => return Err(StoreError::Unavailable),
                Some(Fault::Hang) => pending().await,
                _ => self.enqueue(message, DELAY_MS),
            }
            if fault == Some(Fault::HangKept) { pending().await } else { Ok(()) }
        };
        let is_taken = self.time.within(PUT_MS, taking).await.is_ok();
        calls.end(call, |_| {});
        if !is_taken {
            self.refused.borrow_mut().push(message.clone());
        }
        is_taken
    }

    /// Randomly decides whether a fault happens. `per_mille` is the probability in thousandths.
    fn chance(&self, per_mille: u64) -> bool {
        self.kv.conditions.get().faults > 0 && self.random.chance(per_mille)
    }

    fn lateness_ms(&self) -> u64 {
        let most_ms = if self.random.chance(50) { 600_000 } else { 5_000 };
        self.random.below(most_ms)
    }

    // ---- The consumer ----------------------------------------------------------------------------

    async fn deliver_all(self: Rc<Self>, message: Message, delay_ms: u64, is_copy: bool) {
        let (mut wait_ms, mut is_again) = (delay_ms, is_copy);
        let retries = self.random.pick(RETRIES);
        for is_dead in [false, true] {
            for attempt in 1..=if is_dead { DEAD_RETRIES } else { retries } + 1 {
                self.time.sleep(wait_ms + self.lateness_ms()).await;
                let outcome = self.deliver(&message, (attempt, is_dead, is_again)).await;
                is_again = is_copy;
                wait_ms = match outcome {
                    Some(Outcome::Later { seconds, .. }) => u64::from(seconds) * 1_000,
                    Some(Outcome::Done(_)) if !self.chance(50) => return,
                    _ => {
                        is_again = true;
                        0
                    }
                };
            }
            wait_ms = 0;
        }
        self.lost.borrow_mut().push(subject(&message));
    }

    async fn deliver(
        &self,
        message: &Message,
        (attempt, is_dead, is_again): (u32, bool, bool),
    ) -> Option<Outcome> {
        let (exchange, time) = (OPERATOR, Rc::clone(&self.time));
        let calls = Rc::new(Calls { exchange, time, list: RefCell::default() });
        let consumer = {
            let consumers = self.consumers.borrow();
            Rc::clone(&consumers[self.random.index(consumers.len())])
        };
        let number = self.deliveries.borrow().len();
        self.deliveries.borrow_mut().push(Delivery {
            message: message.clone(),
            attempt,
            is_dead,
            is_again,
            instance: consumer.number,
            ahead_ms: consumer.clock.ahead_ms,
            begun_ms: self.time.now_ms(),
            ended_ms: None,
            outcome: None,
            fault: None,
            calls: Rc::clone(&calls),
        });
        let delivering =
            Box::pin(self.consume(message, (attempt, is_dead), number, calls, &consumer));
        let outcome = match select(pin!(self.break_off(&consumer)), delivering).await {
            Either::Right((outcome, _)) => Some(outcome),
            Either::Left((true, delivering)) => {
                consumer.has_lost.set(true);
                forget(delivering); // the platform stops polling it, and its instance waits
                None
            }
            Either::Left((false, _)) => None,
        };
        let delivery = &mut self.deliveries.borrow_mut()[number];
        delivery.outcome.clone_from(&outcome);
        delivery.ended_ms = Some(self.time.now_ms());
        outcome
    }

    /// Waits until this delivery is broken off, which rarely happens. Returns `true` if only this delivery was
    /// broken off, and `false` if its whole instance ended.
    async fn break_off(&self, consumer: &Consumer) -> bool {
        if !self.chance(50) {
            consumer.end().await;
            return false;
        }
        match select(pin!(consumer.end()), self.time.sleep(self.random.below(3_000))).await {
            Either::Left(_) => false,
            Either::Right(_) if self.random.chance(500) => true,
            Either::Right(_) => {
                self.end(consumer);
                false
            }
        }
    }

    async fn consume(
        &self,
        message: &Message,
        (attempt, is_dead): (u32, bool),
        delivery: usize,
        calls: Rc<Calls>,
        consumer: &Consumer,
    ) -> Outcome {
        let Consumer { location, is_newer, clock, deliveries, .. } = consumer;
        let (kv, location, is_newer) = (Rc::clone(&self.kv), *location, *is_newer);
        let store = &Namespace { kv, location, calls, is_newer, page_length: usize::MAX };
        let mailer = &SimulatedMailer { post: self, delivery };
        let settings =
            &MailSettings { origin: Some(ORIGIN.to_owned()), test_to: Some(TESTER.to_owned()) };
        let notifier = Notifier { store, mailer, messenger: mailer, clock, settings, deliveries };
        match is_dead {
            true => notifier.dead_letter(message, attempt).await,
            false => notifier.deliver(message, attempt, &delivery.to_string()).await,
        }
    }
}

/// The queue of notifications as one request sees it.
pub struct SimulatedQueue {
    pub post: Rc<Post>,
    pub calls: Rc<Calls>,
}

impl Outbox for SimulatedQueue {
    fn put<'m>(&'m self, message: &'m Message) -> PutFuture<'m> {
        Box::pin(self.post.put(message, &self.calls))
    }
}

// ---- The mail service ------------------------------------------------------------------------------

/// The mail service, or the messaging service's adapter, as one delivery sees it. Calls have the same
/// deadline as in the Worker.
struct SimulatedMailer<'p> {
    post: &'p Post,
    delivery: usize,
}

impl SimulatedMailer<'_> {
    fn fault(&self) -> Option<MailFault> {
        let Post { deliveries, poison, random, .. } = self.post;
        let subject = subject(&deliveries.borrow()[self.delivery].message);
        let is_poison = *poison.borrow_mut().entry(subject).or_insert_with(|| self.post.chance(50));
        match is_poison {
            true => Some(MailFault::Busy),
            false => self.post.chance(150).then(|| random.pick(MAIL_FAULTS)),
        }
    }

    async fn answer(&self, to: &str, fault: Option<MailFault>) -> Result<String, SendError> {
        let temporary = |code: &str, after| SendError::Temporary { code: code.to_owned(), after };
        self.post.kv.travel().await;
        match fault {
            Some(MailFault::Busy) => return Err(temporary("E_BUSY", None)),
            Some(MailFault::Limited) => return Err(temporary("E_RATE_LIMIT", Some(3))),
            Some(MailFault::Quota) => {
                let code = "E_DAILY_LIMIT_EXCEEDED".to_owned();
                return Err(SendError::Quota { code, after: None });
            }
            Some(MailFault::Refused) => {
                return Err(SendError::Permanent { code: "E_SUPPRESSED".to_owned() });
            }
            Some(MailFault::Silent) => pending().await,
            Some(MailFault::AnswerLost) | None => {}
        }
        let (delivery, at_ms) = (self.delivery, self.post.time.now_ms());
        self.post.sent.borrow_mut().push(Sent { delivery, at_ms, to: to.to_owned() });
        self.post.kv.travel().await;
        if fault.is_some() { pending().await } else { Ok("mail-1".to_owned()) }
    }
}

impl Mailer for SimulatedMailer<'_> {
    async fn send(&self, email: &OutgoingEmail<'_>) -> Result<String, SendError> {
        self.send_to(email.to).await
    }
}

impl Messenger for SimulatedMailer<'_> {
    fn adapter(&self, address: AdapterName) -> AdapterState {
        if address.service == MESSENGER { AdapterState::Attached } else { AdapterState::Absent }
    }

    async fn send_message(&self, message: &OutgoingMessage<'_>) -> Result<(), SendError> {
        let body: serde_json::Value = serde_json::from_slice(message.body).unwrap();
        self.send_to(body["recipient"]["email"].as_str().unwrap()).await.map(drop)
    }
}

impl SimulatedMailer<'_> {
    async fn send_to(&self, to: &str) -> Result<String, SendError> {
        let fault = self.fault();
        self.post.deliveries.borrow_mut()[self.delivery].fault = fault;
        let deadline = self.post.time.sleep(SEND_MS);
        match select(pin!(self.answer(to, fault)), deadline).await {
            Either::Left((answer, _)) => answer,
            Either::Right(_) => {
                Err(SendError::Temporary { code: "no-answer".to_owned(), after: None })
            }
        }
    }
}
