//! Simulates reconciliation passes that crons and people start. A pass runs in parts. Several passes run at
//! once, and may be killed at any time. Also simulates erasures that happen meanwhile.

use crate::books::{Books, Erasure};
use crate::kv::{Call, OPERATOR};
use crate::ledger_rules::UNSENT;
use crate::namespace::Namespace;
use impact_pledge::office::audit::rule::Author;
use impact_pledge::office::orders::rule as transactions;
use impact_pledge::office::system::rows::reconcile;
use impact_pledge::office::system::rows::reconcile::{PassOutcome, PassTiming};
use impact_pledge::office::system::rows::upkeep;
use impact_pledge::office::system::rows::upkeep::Limits;
use std::cell::RefCell;
use std::rc::Rc;

/// The possible limits on the KV and database calls of one invocation.
const CALLS: &[u32] = &[6, 12, 30, 1_000];
/// The maximum number of invocations that are started for one pass. The pause between two of them is at most
/// `PAUSE_MS`.
const INVOCATIONS: u64 = 5;
const PAUSE_MS: u64 = 30_000;
/// How long after its start a cron may begin further steps, in milliseconds. `SOON_MS` is the maximum delay
/// of a cron that should start at once.
const CRON_MS: u64 = 10_000;
const SOON_MS: u64 = 4_000;
/// A part of the error message if a transaction was erased, but not its row in the ledger.
const LEFT: &str = "is erased, but its row in the ledger is not";

impl Books {
    /// Starts or continues a reconciliation pass with one or more invocations, as a cron or a person does.
    pub fn reconcile(self: &Rc<Self>) {
        let books = Rc::clone(self);
        let when = self.random.pick(&[PassTiming::Due, PassTiming::Now, PassTiming::Now]);
        self.spawn_killable(async move {
            for _ in 0..=books.random.below(INVOCATIONS) {
                let calls = books.random.pick(CALLS);
                if matches!(
                    books.invoke(when, calls).await,
                    Some(PassOutcome::Complete | PassOutcome::NotDue)
                ) {
                    return;
                }
                books.sleep(books.random.below(PAUSE_MS)).await;
            }
        });
    }

    /// Starts a cron within a few seconds.
    pub fn keep_up_soon(self: &Rc<Self>) {
        let books = Rc::clone(self);
        self.spawn_killable(async move {
            books.sleep(books.random.below(SOON_MS)).await;
            let _ = books.invoke(PassTiming::Due, 30).await;
        });
    }

    /// Runs one invocation of a reconciliation pass, and returns how far the pass has come. Returns `None` if
    /// the invocation fails.
    pub async fn invoke(&self, when: PassTiming, calls: u32) -> Option<PassOutcome> {
        let number = self.passes.borrow().len();
        self.passes.borrow_mut().push(None);
        let (store, clock, holder) =
            (self.namespace(OPERATOR), self.clock(), format!("cron {number}"));
        self.note(format!(
            "{holder} begins {when:?}, {calls} calls, {} names a page",
            store.page_length
        ));
        let (database, emptied) = (&self.database, self.database.emptied.get());
        let reached = match when {
            PassTiming::Now => {
                let pass = reconcile::reconcile(database, &store, &clock, (&holder, when), calls);
                pass.await.map(|(reached, _)| reached)
            }
            PassTiming::Due => {
                let limits = Limits { calls, milliseconds: CRON_MS };
                let upkeep = upkeep::keep_up(database, &store, &clock, &holder, limits).await;
                if upkeep.as_ref().is_ok_and(|upkeep| upkeep.days > 0) {
                    self.count("sums of days are stored");
                }
                upkeep.map(|upkeep| upkeep.reached)
            }
        };
        self.note(format!("{holder} reaches {reached:?}"));
        self.count(match &reached {
            Ok(reached) => format!("a pass: {reached:?}"),
            Err(error) => format!("a pass: {error:?}"),
        });
        if emptied == self.database.emptied.get() {
            self.check_marks(&store);
        }
        let found = reached.as_ref().ok().copied();
        self.passes.borrow_mut()[number] = Some(reached.map_err(|error| format!("{error:?}")));
        found
    }

    /// Checks that marks are not removed too early. A mark is the record of a message that the queue refused.
    /// It may be removed in two cases: the ledger has the transaction's row or a finding about it, or a KV call
    /// about the transaction failed.
    fn check_marks(&self, store: &Namespace) {
        let calls = store.calls.list.borrow();
        for call in calls.iter().filter(|call| call.operation == "remove") {
            let Some(id) = call.name.strip_prefix(UNSENT) else { continue };
            let is_its = |other: &&Call| other.name.ends_with(id);
            let has_spoilt = calls.iter().filter(is_its).any(|other| other.fault.is_some());
            let there = format!(
                "SELECT 1 FROM transactions WHERE id = '{id}' UNION SELECT 1 FROM findings WHERE name = '{id}'"
            );
            if !has_spoilt && self.database.sqlite().sql(&there).is_empty() {
                self.blame("a mark stays until its row is there", id.to_owned());
            }
        }
    }

    /// Forgets the confirmed erasures, and the copies of the rows of paid months. Both are out of date,
    /// because the ledger was emptied.
    pub fn forget(&self) {
        self.settlements.borrow_mut().clear();
        self.erasures.borrow_mut().iter_mut().for_each(|erasure| erasure.told_ms = None);
    }

    /// Erases a transaction, and updates its row in the ledger.
    pub fn erase(
        self: &Rc<Self>,
        id: String,
        writer: usize,
        erased: &Rc<RefCell<Vec<(String, u64)>>>,
    ) {
        let (books, erased) = (Rc::clone(self), Rc::clone(erased));
        let number = self.erasures.borrow().len();
        self.erasures.borrow_mut().push(Erasure { id: id.clone(), done_ms: None, told_ms: None });
        self.note(format!("the operator begins to erase {id}"));
        self.spawn_killable(async move {
            let store = books.namespace(writer);
            let told = books.erase_record(&store, &id).await;
            books.note(format!("{id}: {told:?}"));
            let is_done = told.as_ref().map_or_else(|problem| problem.contains(LEFT), |()| true);
            if is_done {
                let now_ms = books.now_ms();
                books.count(if told.is_ok() {
                    "an erasure"
                } else {
                    "an erasure that left the row"
                });
                erased.borrow_mut().push((id.clone(), now_ms));
                let told_ms = told.is_ok().then_some(now_ms);
                books.erasures.borrow_mut()[number] =
                    Erasure { id, done_ms: Some(now_ms), told_ms };
            }
        });
    }

    async fn erase_record(&self, store: &Namespace, id: &str) -> Result<(), String> {
        let clock = self.clock();
        let work = async {
            let author = Author::new("ops", &clock, &*self.random)?;
            let record = transactions::get(store, id).await?;
            transactions::erase(store, &self.database, &author, &record).await
        };
        work.await.map(drop).map_err(|error| error.to_string())
    }
}
