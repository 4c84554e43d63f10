//! The simulated ledger: its queue with the consumer, its database, and the operators' actions. It has a
//! separate random generator, so that it does not change the random decisions for the service.

use crate::changes::{PersonChange, RecordChange, UpdateAttempt, WantedCredit};
use crate::database::Database;
use crate::executor::Executor;
use crate::isolate::SkewedClock;
use crate::kv::{Calls, Kv, LOCATIONS};
use crate::ledger_rows::Watch;
use crate::namespace::Namespace;
use crate::order_state::Orders;
use crate::random::Random;
use futures_util::future::{Either, select};
use impact_pledge::office::fulfilment::rows::fulfilments::NewFulfilment;
use impact_pledge::office::payments::rule::usage::MonthUsage;
use impact_pledge::office::system::rows::receive::Delivered;
use impact_pledge::office::system::rows::reconcile::PassOutcome;
use impact_pledge::office::updates::rows::updates::UpdateRow;
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::rc::{Rc, Weak};

/// The number of the ledger's first task. Other tasks have lower numbers.
pub const FIRST_BOOKS_TASK: usize = 1 << 50;
/// Of 1,000 messages, the number that the ledger's queue loses. Each simulation picks one of these values.
const LOST: &[u64] = &[50, 50, 500];
/// Of 1,000 attempts of an operation, the number that end without an answer. They end within `ENDS_WITHIN_MS`.
const ENDS: u64 = 60;
const ENDS_WITHIN_MS: u64 = 1_000;
/// The possible values for the maximum number of names on a page of a KV list.
const PAGE_LENGTHS: &[usize] = &[1, 2, 5, 1_000];

/// A message to the ledger that a create request sent.
pub struct Handed {
    pub exchange: usize,
    pub at_ms: u64,
    pub message: Value,
    /// Whether the queue refused the message. `calls` has the KV calls that the service then made.
    pub is_refused: bool,
    pub calls: Rc<Calls>,
}

/// The result of one reconciliation call. It is `None` while the call runs, and stays `None` if the call was killed.
pub type Pass = Option<Result<PassOutcome, String>>;

/// An erasure of a transaction by the operator.
pub struct Erasure {
    pub id: String,
    /// When the transaction's record was erased. `told_ms` is when the erasure of its row was confirmed.
    pub done_ms: Option<u64>,
    pub told_ms: Option<u64>,
}

/// A copy of a month's rows, made when the month was marked as paid.
pub struct Settlement {
    pub at_ms: u64,
    pub mode: &'static str,
    pub unit: &'static str,
    pub rows: BTreeMap<String, Value>,
}

/// What is due, as the ledger answered at the end of a simulation. The first answer is for all months together.
/// Each further answer is for one month.
pub type Told = Vec<Result<Vec<MonthUsage>, String>>;

pub struct Books {
    pub kv: Rc<Kv>,
    pub random: Rc<Random>,
    pub database: Database,
    /// The executor. The reference is weak, because the executor's tasks hold this struct.
    executor: Weak<Executor>,
    task_count: Cell<usize>,
    /// The numbers of the tasks of operators and crons. Only these tasks can be killed.
    killable: RefCell<BTreeSet<usize>>,
    /// The tasks that send messages. Each is the number of its isolate, and its own number.
    pub handing: RefCell<BTreeSet<(usize, usize)>>,
    pub handed: RefCell<Vec<Handed>>,
    /// The messages that wait for a consumer.
    pub ready: RefCell<Vec<Delivered>>,
    /// Whether a consumer is about to receive the waiting messages.
    pub is_consumer_due: Cell<bool>,
    /// Of 1,000 messages, the number that the queue loses.
    pub lost: u64,
    pub passes: RefCell<Vec<Pass>>,
    pub erasures: RefCell<Vec<Erasure>>,
    pub settlements: RefCell<Vec<Settlement>>,
    /// The changes that people want to make to the units of a team, and to payments of months.
    pub record_changes: RefCell<Vec<RecordChange>>,
    pub credits: RefCell<Vec<Rc<WantedCredit>>>,
    /// The recorded fulfilments by ID. The `bool` says whether somebody was told that the fulfilment was
    /// removed.
    pub fulfilments: RefCell<BTreeMap<String, (NewFulfilment, bool)>>,
    pub people: RefCell<Vec<PersonChange>>,
    pub orders: Orders,
    pub updates: RefCell<Vec<UpdateAttempt>>,
    /// The changes of updates that were confirmed to a person. The key is the update's ID and the revision that
    /// the person saw. The value is the operation, and the update after the change.
    pub heard_updates: RefCell<BTreeMap<(String, u64), (String, UpdateRow)>>,
    /// What shops owe, as the ledger answered at the end of the simulation.
    pub dues: RefCell<Told>,
    /// Like `dues`, but while the ledger keeps only later months.
    pub kept_dues: RefCell<Told>,
    /// Texts about the ledger's events, with their times, for the printed trace.
    pub events: RefCell<Vec<(u64, String)>>,
    /// The first violation that was found.
    pub wrong: RefCell<Option<(&'static str, String)>>,
    pub watch: RefCell<Watch>,
    /// Whether rows of an earlier time are kept, which will come back at the end.
    pub has_earlier: Cell<bool>,
    /// How often each event happened.
    counts: RefCell<BTreeMap<String, usize>>,
}

impl Books {
    pub fn new(kv: &Rc<Kv>, executor: &Rc<Executor>) -> Self {
        let random = Rc::new(Random::new(kv.random.below(u64::MAX)));
        let lost = random.pick(LOST);
        Books {
            kv: Rc::clone(kv),
            database: Database::new(kv, &random),
            random,
            executor: Rc::downgrade(executor),
            task_count: Cell::default(),
            killable: RefCell::default(),
            handing: RefCell::default(),
            handed: RefCell::default(),
            ready: RefCell::default(),
            is_consumer_due: Cell::default(),
            lost,
            passes: RefCell::default(),
            erasures: RefCell::default(),
            settlements: RefCell::default(),
            record_changes: RefCell::default(),
            credits: RefCell::default(),
            fulfilments: RefCell::default(),
            people: RefCell::default(),
            orders: Orders::default(),
            updates: RefCell::default(),
            heard_updates: RefCell::default(),
            dues: RefCell::default(),
            kept_dues: RefCell::default(),
            events: RefCell::default(),
            wrong: RefCell::default(),
            watch: RefCell::default(),
            has_earlier: Cell::default(),
            counts: RefCell::default(),
        }
    }

    pub fn now_ms(&self) -> u64 {
        self.kv.time.now_ms()
    }

    pub async fn sleep(&self, milliseconds: u64) {
        self.kv.time.sleep(milliseconds).await;
    }

    /// Randomly decides whether a fault happens, with this probability in 1,000.
    pub fn chance(&self, per_mille: u64) -> bool {
        self.kv.conditions.get().faults > 0 && self.random.chance(per_mille)
    }

    pub fn note(&self, event: impl Into<String>) {
        self.events.borrow_mut().push((self.now_ms(), event.into()));
    }

    pub fn count(&self, what: impl Into<String>) {
        *self.counts.borrow_mut().entry(what.into()).or_default() += 1;
    }

    /// Returns how often each event happened, including database faults.
    pub fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = self.counts.borrow().clone();
        let faults = self.database.faults.borrow();
        counts.extend(
            faults.iter().map(|(fault, count)| (format!("the database: {fault:?}"), *count)),
        );
        counts
    }

    /// Records a violation.
    pub fn blame(&self, invariant: &'static str, text: String) {
        let text = format!("{text}, at {} ms", self.now_ms());
        self.wrong.borrow_mut().get_or_insert((invariant, text));
    }

    // ---- Tasks -----------------------------------------------------------------------------------

    /// Starts a task. Returns its number.
    pub fn spawn(&self, work: impl Future<Output = ()> + 'static) -> usize {
        let task = FIRST_BOOKS_TASK + self.task_count.get();
        self.task_count.set(self.task_count.get() + 1);
        self.executor.upgrade().unwrap().spawn(task, work);
        task
    }

    /// Starts a task that may be killed.
    pub fn spawn_killable(&self, work: impl Future<Output = ()> + 'static) {
        let task = self.spawn(work);
        self.killable.borrow_mut().insert(task);
    }

    /// Does the work of one attempt. Sometimes breaks the attempt off, as if its computer had stopped.
    pub async fn attempt(&self, work: impl Future<Output = ()>) {
        if !self.chance(ENDS) {
            return work.await;
        }
        let end = self.sleep(self.random.below(ENDS_WITHIN_MS));
        if let Either::Right(_) = select(pin!(work), pin!(end)).await {
            self.count("an attempt that ended");
        }
    }

    /// Kills a random running task of an operator or a cron.
    pub fn kill(&self) {
        let executor = self.executor.upgrade().unwrap();
        let running: BTreeSet<_> = executor.running().into_iter().collect();
        let running: Vec<_> = self.killable.borrow().intersection(&running).copied().collect();
        if !running.is_empty() {
            let task = self.random.pick(&running);
            self.note(format!("the operator's task {task} is killed"));
            executor.cancel(task);
        }
    }

    /// Cancels the tasks in which an isolate sends messages to the ledger.
    pub fn end_isolate(&self, isolate: usize) {
        let executor = self.executor.upgrade().unwrap();
        let mut handing = self.handing.borrow().clone();
        handing.retain(|(own, _)| *own == isolate);
        handing.iter().for_each(|(_, task)| executor.cancel(*task));
    }

    // ---- An invocation of the operator's Worker --------------------------------------------------

    pub fn clock(&self) -> SkewedClock {
        let ahead_ms = self.random.below(10_000) as i64 - 5_000;
        SkewedClock { time: Rc::clone(&self.kv.time), ahead_ms }
    }

    /// Returns KV as a random location sees it. A record that is written through the returned value counts as
    /// written by this exchange.
    pub fn namespace(&self, exchange: usize) -> Namespace {
        let time = Rc::clone(&self.kv.time);
        let calls = Rc::new(Calls { exchange, time, list: RefCell::default() });
        let location = self.random.index(LOCATIONS);
        let page_length = self.random.pick(PAGE_LENGTHS);
        Namespace { kv: Rc::clone(&self.kv), location, calls, is_newer: false, page_length }
    }
}
