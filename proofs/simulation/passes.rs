//! The reconciliation, as a cron begins it and a person: in parts, several at once, and killed at any moment. And the erasures
//! that race with it.

use crate::books::{Books, Erasure};
use crate::kv::{Namespace, OPERATOR};
use impact_pledge::ledger::{self, Entry, Origin, Reached, When};
use impact_pledge::operator::audit::Author;
use impact_pledge::operator::transactions;
use impact_pledge::pledge::TransactionId;
use impact_pledge::quantities::Quantities;
use impact_pledge::store::Recorded;
use std::cell::RefCell;
use std::rc::Rc;

/// Calls of KV and database that an invocation has.
const CALLS: &[u32] = &[6, 12, 30, 1_000];
/// How many invocations a cron begins for a pass, and how long it pauses between them.
const INVOCATIONS: u64 = 5;
const PAUSE_MS: u64 = 30_000;

impl Books {
    /// Begins a pass or goes on with one, by some invocations.
    pub fn reconcile(self: &Rc<Self>) {
        let books = Rc::clone(self);
        let when = self.random.pick(&[When::Due, When::Now, When::Now]);
        self.spawn_killable(async move {
            for _ in 0..=books.random.below(INVOCATIONS) {
                let calls = books.random.pick(CALLS);
                if matches!(books.invoke(when, calls).await, Some(Reached::Complete | Reached::NotDue)) {
                    return;
                }
                books.sleep(books.random.below(PAUSE_MS)).await;
            }
        });
    }

    /// One invocation; `None` if it fails.
    pub async fn invoke(&self, when: When, calls: u32) -> Option<Reached> {
        let number = self.passes.borrow().len();
        self.passes.borrow_mut().push(None);
        let (store, clock, holder) = (self.namespace(OPERATOR), self.clock(), format!("cron {number}"));
        self.note(format!("{holder} begins {when:?}, {calls} calls, {} names a page", store.page_length));
        let reached =
            ledger::reconcile(&self.database, &store, &clock, (&holder, when), calls).await;
        let reached = reached.map(|(reached, _)| reached);
        self.note(format!("{holder} reaches {reached:?}"));
        self.count(format!("pass: {}", match &reached {
            Ok(reached) => format!("{reached:?}"),
            Err(error) => format!("{error:?}").chars().take(11).collect(),
        }));
        let found = reached.as_ref().ok().copied();
        self.passes.borrow_mut()[number] = Some(reached.map_err(|error| format!("{error:?}")));
        found
    }

    /// Erases a transaction, which somebody wrote, and tells the ledger.
    pub fn erase(self: &Rc<Self>, id: String, writer: usize, erased: &Rc<RefCell<Vec<(String, u64)>>>) {
        let (books, erased) = (Rc::clone(self), Rc::clone(erased));
        let number = self.erasures.borrow().len();
        self.erasures.borrow_mut().push(Erasure { id: id.clone(), done_ms: None, told_ms: None });
        self.note(format!("the operator begins to erase {id}"));
        self.spawn_killable(async move {
            let store = books.namespace(writer);
            if let Err(problem) = books.erase_record(&store, &id).await {
                books.note(format!("{id} is not erased: {problem}"));
                return;
            }
            let done_ms = books.now_ms();
            books.note(format!("{id} is erased"));
            books.count("erasures");
            erased.borrow_mut().push((id.clone(), done_ms));
            books.erasures.borrow_mut()[number].done_ms = Some(done_ms);
            if books.erase_row(&store, &id).await.is_some() {
                books.count("erasures that the ledger confirmed");
                books.erasures.borrow_mut()[number].told_ms = Some(books.now_ms());
            }
        });
    }

    async fn erase_record(&self, store: &Namespace, id: &str) -> Result<(), String> {
        let clock = self.clock();
        let work = async {
            let author = Author::new("ops", &clock, &*self.random)?;
            let record = transactions::get(store, id).await?;
            transactions::erase(store, &author, &record).await
        };
        work.await.map(drop).map_err(|error| error.to_string())
    }

    /// Writes the row of an erased transaction, as its record was just written.
    async fn erase_row(&self, store: &Namespace, id: &str) -> Option<()> {
        let written = {
            let calls = store.calls.list.borrow();
            let is_its = |name: &str| name.strip_prefix("transaction:") == Some(id);
            let mut puts = calls.iter().filter(|call| call.operation == "put" && is_its(&call.name));
            puts.next_back()?.written.clone()?
        };
        let recorded = Recorded::from_metadata(TransactionId::parse(id)?, &written.metadata_json()).ok()?;
        let value: impact_pledge::pledge::RetrievedPledgeTransaction<'_> =
            serde_json::from_slice(&written.value).ok()?;
        let impacts = value.pledges.iter().map(|pledge| &pledge.impact);
        let entry = Entry::new(&recorded, Quantities::of(impacts, usize::MAX)?)?;
        let now_ms = impact_pledge::handle::Clock::now_ms(&self.clock());
        ledger::write(&self.database, &[entry], Origin::Message, now_ms).await.ok().map(drop)
    }
}
