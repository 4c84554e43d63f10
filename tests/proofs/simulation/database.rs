//! The simulated database of the ledger, which behaves like D1. It runs one transaction after the other, and each
//! takes effect completely or not at all. It may answer late, be busy, or give no answer. Some transactions without
//! an answer are committed, at once or later.

use crate::executor::Time;
use crate::kv::Kv;
use crate::random::Random;
use crate::rule::Wrong;
use crate::times::SLEEP_MS;
use futures_executor::block_on;
use futures_util::future::{Either, select};
use impact_pledge::office::shared::rows::port::{
    Ledger, LedgerError, QueryFuture, Rows, Statement,
};
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::pending;
use std::pin::pin;
use std::rc::Rc;
use support::ledger::SqliteLedger;

/// How long the Worker's adapter waits for an answer to one attempt. It makes up to `ATTEMPTS` attempts.
pub const DATABASE_MS: u64 = 5_000;
const ATTEMPTS: usize = 3;
/// The maximum time from a transaction's arrival to its commit.
pub const LATEST_MS: u64 = 20_000;
/// In simulations with faults, the number of attempts in 1,000 that fail. `OUTAGES` is the number of such
/// failures in 1,000 that begin a period in which all attempts fail.
const FAILING: u64 = 60;
const OUTAGES: u64 = 50;
const OUTAGE_MS: u64 = 60_000;

/// The statement that deletes all rows. `WORKS` is a part of the statement that saves the progress of a
/// reconciliation pass.
const EMPTIES: &str = "DELETE FROM transactions";
const WORKS: &str = "cursor = ?1 ->> '$.cursor'";
/// The beginning of the statement that changes records that several people may change.
const CHANGES: &str = "INSERT INTO published";
/// Minimum time that a lease must still last after its renewal, in milliseconds. A reconciliation pass
/// renews its lease whenever it saves its progress. The minimum is shorter than a full lease, to allow for
/// the time that saving takes.
const LEAST_LEASE_MS: u64 = 130_000;

/// Of 1,000 answers, the number after which the caller's computer sleeps.
const SLEEPS: u64 = 4;
/// Of 1,000 answers, the number that are delayed by up to `SLOW_MS` milliseconds because the caller is slow.
/// Callers may be slow until [`Database::slow_until_ms`].
const SLOW: u64 = 100;
const SLOW_MS: u64 = 3_000;

/// A fault of one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DatabaseFault {
    /// The database returns an error and commits nothing.
    Busy,
    /// The database returns an error although it commits the transaction.
    AnswerLost,
    /// The database does not answer and commits nothing.
    Silent,
    /// The database does not answer, and commits the transaction now or later.
    Late,
}

const FAULTS: &[DatabaseFault] =
    &[DatabaseFault::Busy, DatabaseFault::AnswerLost, DatabaseFault::Silent, DatabaseFault::Late];

/// Returns the rows of an SQL query, each as JSON.
pub fn json(sqlite: &SqliteLedger, sql: &str) -> Vec<Value> {
    sqlite.sql(sql).iter().map(|row| serde_json::from_str(row).unwrap()).collect()
}

type Answer = Result<Vec<Rows>, LedgerError>;

/// Statements that have not been committed yet.
struct Transaction {
    statements: Vec<Statement>,
    answer: Rc<RefCell<Option<Answer>>>,
}

/// Compares the record of a name with the database, and returns what is wrong.
pub type MarkCheck = fn(&SqliteLedger, &str, &Value) -> Wrong;

/// A change of a record.
pub struct RowVersion {
    /// The name of the change's entry in the audit log.
    pub change: String,
    /// The record; `None` if the change removed it.
    pub content: Option<Value>,
    pub committed_ms: u64,
}

pub struct Database {
    kv: Rc<Kv>,
    time: Rc<Time>,
    random: Rc<Random>,
    sqlite: Option<SqliteLedger>,
    on_the_way: RefCell<BTreeMap<(u64, u64), Transaction>>,
    count: Cell<u64>,
    fails_until_ms: Cell<u64>,
    /// The end of the period in which callers may be slow.
    pub slow_until_ms: Cell<u64>,
    pub faults: RefCell<BTreeMap<DatabaseFault, usize>>,
    /// Describes a violation: somebody took the lease before it ended. `short` describes another violation:
    /// somebody went on working although their lease was about to end.
    pub taken: RefCell<Option<String>>,
    pub short: RefCell<Option<String>>,
    /// How many times all rows were deleted.
    pub emptied: Cell<usize>,
    /// The changes of each record that several people may change, by the record's name, oldest first.
    pub published: RefCell<BTreeMap<String, Vec<RowVersion>>>,
    /// Whether the database was set back to an earlier time. Then changes are no longer noted.
    pub is_set_back: Cell<bool>,
    /// Compares a payment with what is due when its month is marked as paid. `mismarked` describes the first violation.
    pub check_mark: Cell<Option<MarkCheck>>,
    pub mismarked: RefCell<Option<String>>,
}

thread_local! {
    /// Databases to reuse. Clearing a database is faster than creating one.
    static FREE: RefCell<Vec<SqliteLedger>> = const { RefCell::new(vec![]) };
}

impl Drop for Database {
    fn drop(&mut self) {
        FREE.with_borrow_mut(|free| free.extend(self.sqlite.take()));
    }
}

impl Database {
    pub fn new(kv: &Rc<Kv>, random: &Rc<Random>) -> Self {
        let sqlite = FREE.with_borrow_mut(Vec::pop).unwrap_or_default();
        sqlite.clear();
        Database {
            kv: Rc::clone(kv),
            time: Rc::clone(&kv.time),
            random: Rc::clone(random),
            sqlite: Some(sqlite),
            on_the_way: RefCell::default(),
            count: Cell::default(),
            fails_until_ms: Cell::default(),
            slow_until_ms: Cell::default(),
            faults: RefCell::default(),
            taken: RefCell::default(),
            short: RefCell::default(),
            emptied: Cell::default(),
            published: RefCell::default(),
            is_set_back: Cell::default(),
            check_mark: Cell::default(),
            mismarked: RefCell::default(),
        }
    }

    /// Returns the database in its current state.
    pub fn sqlite(&self) -> &SqliteLedger {
        self.arrive();
        self.sqlite.as_ref().unwrap()
    }

    /// Returns the rows of an SQL query, each as JSON.
    pub fn json(&self, sql: &str) -> Vec<Value> {
        json(self.sqlite(), sql)
    }

    /// Commits the transactions that are due, in the order of their arrival.
    fn arrive(&self) {
        loop {
            let mut on_the_way = self.on_the_way.borrow_mut();
            let Some(first) = on_the_way.first_entry() else { return };
            if first.key().0 > self.time.now_ms() {
                return;
            }
            let ((at_ms, _), transaction) = first.remove_entry();
            drop(on_the_way);
            self.commit(at_ms, &transaction);
        }
    }

    fn commit(&self, at_ms: u64, Transaction { statements, answer }: &Transaction) {
        let sqlite = self.sqlite.as_ref().unwrap();
        let touches = |it: &Statement| it.sql.contains("lease = ") || it.sql.contains(WORKS);
        let before = statements.iter().any(touches).then(|| lease(sqlite));
        let answers = block_on(sqlite.run(statements));
        let is_made = |part: &str| {
            let is_its = |(statement, rows): (&Statement, &Rows)| {
                statement.sql.contains(part) && !rows.is_empty()
            };
            answers.as_ref().is_ok_and(|all| statements.iter().zip(all).any(is_its))
        };
        if statements.iter().any(|statement| statement.sql == EMPTIES) && answers.is_ok() {
            self.emptied.set(self.emptied.get() + 1);
        }
        let is_change = |it: &Statement| it.sql.starts_with(CHANGES);
        if statements.iter().any(is_change) && answers.is_ok() && !self.is_set_back.get() {
            self.note_changes(at_ms);
        }
        let is_work = is_made(WORKS);
        answer.replace(Some(answers));
        let Some(before) = before else { return };
        let after = lease(sqlite);
        if before.is_taken_by(&after, at_ms) {
            let text = format!("at {at_ms} ms {after:?} takes it from {before:?}");
            self.taken.borrow_mut().get_or_insert(text);
        }
        if is_work && after.ends_soon(at_ms) {
            let text = format!("at {at_ms} ms {after:?} goes on");
            self.short.borrow_mut().get_or_insert(text);
        }
    }

    /// Whether a record is there, according to its row.
    pub fn is_there(&self, name: &str) -> bool {
        let all = self.published.borrow();
        all.get(name).and_then(|all| all.last()).is_some_and(|last| last.content.is_some())
    }

    /// Whether, at some time since `since_ms`, a record was there (`true`) or had been removed (`false`).
    pub fn was(&self, name: &str, is_there: bool, since_ms: u64) -> bool {
        let all = self.published.borrow();
        let versions = all.get(name).map_or(&[][..], Vec::as_slice);
        let replaced = versions.iter().skip(1).map(|next| next.committed_ms).chain([u64::MAX]);
        let mut own = versions
            .iter()
            .zip(replaced)
            .filter(|(version, _)| version.content.is_some() == is_there);
        own.any(|(_, replaced_ms)| replaced_ms >= since_ms)
    }

    /// Notes the records that a transaction has just changed.
    fn note_changes(&self, committed_ms: u64) {
        let sqlite = self.sqlite.as_ref().unwrap();
        let mut published = self.published.borrow_mut();
        let rows = "SELECT json_array(name, change, json(content)) FROM published
WHERE name NOT LIKE 'connection:%'";
        for row in json(sqlite, rows) {
            let Ok((name, change, content)) =
                serde_json::from_value::<(String, String, Option<Value>)>(row)
            else {
                continue;
            };
            let versions = published.entry(name.clone()).or_default();
            if versions.last().is_some_and(|last| last.change == change) {
                continue;
            }
            if let Some(text) =
                content.as_ref().and_then(|it| self.check_mark.get()?(sqlite, &name, it))
            {
                let text = format!("at {committed_ms} ms {text}");
                self.mismarked.borrow_mut().get_or_insert(text);
            }
            versions.push(RowVersion { change, content, committed_ms });
        }
    }

    async fn attempt(&self, statements: &[Statement]) -> Answer {
        let fault = self.fault();
        let travel_ms = match fault {
            Some(DatabaseFault::Late) => self.random.below(LATEST_MS),
            _ => self.travel_ms(),
        };
        let answer = Rc::default();
        if !matches!(fault, Some(DatabaseFault::Busy | DatabaseFault::Silent)) {
            self.count.set(self.count.get() + 1);
            let (statements, answer) = (statements.to_vec(), Rc::clone(&answer));
            let at = (self.time.now_ms() + travel_ms, self.count.get());
            self.on_the_way.borrow_mut().insert(at, Transaction { statements, answer });
        }
        let answering = async {
            self.time.sleep(travel_ms).await;
            self.arrive();
            self.time.sleep(self.travel_ms()).await;
            match fault {
                Some(DatabaseFault::Busy | DatabaseFault::AnswerLost) => None,
                Some(DatabaseFault::Silent | DatabaseFault::Late) => pending().await,
                None => answer.take(),
            }
        };
        match select(pin!(answering), self.time.sleep(DATABASE_MS)).await {
            Either::Left((Some(answer), _)) => answer,
            _ => Err(LedgerError::Unavailable),
        }
    }

    fn fault(&self) -> Option<DatabaseFault> {
        let (may_fail, now_ms) = (self.kv.conditions.get().faults > 0, self.time.now_ms());
        let fails = now_ms < self.fails_until_ms.get() || self.random.chance(FAILING);
        let fault = (may_fail && fails).then(|| self.random.pick(FAULTS))?;
        if self.random.chance(OUTAGES) {
            self.fails_until_ms.set(now_ms + self.random.below(OUTAGE_MS));
        }
        *self.faults.borrow_mut().entry(fault).or_default() += 1;
        Some(fault)
    }

    fn travel_ms(&self) -> u64 {
        let is_slow = self.random.chance(self.kv.conditions.get().slow);
        self.random.below(if is_slow { 2_500 } else { 40 })
    }
}

impl Ledger for Database {
    fn run<'l>(&'l self, statements: &'l [Statement]) -> QueryFuture<'l> {
        Box::pin(async {
            let mut answer = Err(LedgerError::Unavailable);
            for _ in 0..ATTEMPTS {
                answer = self.attempt(statements).await;
                if answer != Err(LedgerError::Unavailable) {
                    break;
                }
            }
            if self.kv.conditions.get().faults > 0 && self.random.chance(SLEEPS) {
                self.time.sleep(self.random.below(SLEEP_MS)).await;
            }
            if self.time.now_ms() < self.slow_until_ms.get() && self.random.chance(SLOW) {
                self.time.sleep(self.random.below(SLOW_MS)).await;
            }
            answer
        })
    }
}

// ---- The lease -----------------------------------------------------------------------------------

/// The holder of the lease for reconciliation, and when the lease ends, in milliseconds since 1970.
#[derive(Debug, serde::Deserialize)]
struct Lease(String, u64);

fn lease(sqlite: &SqliteLedger) -> Lease {
    let rows = sqlite.sql("SELECT json_array(holder, lease) FROM reconciliation");
    serde_json::from_str(&rows[0]).unwrap()
}

impl Lease {
    fn ends_soon(&self, at_ms: u64) -> bool {
        let Lease(_, until_ms) = self;
        *until_ms < crate::times::EPOCH_MS + at_ms + LEAST_LEASE_MS
    }

    /// Whether another holder has taken this lease before its end. Allows for clocks that differ by up to 10
    /// s.
    fn is_taken_by(&self, Lease(other, _): &Lease, at_ms: u64) -> bool {
        let Lease(holder, until_ms) = self;
        let now_ms = crate::times::EPOCH_MS + at_ms;
        !holder.is_empty() && !other.is_empty() && holder != other && *until_ms > now_ms + 10_000
    }
}
