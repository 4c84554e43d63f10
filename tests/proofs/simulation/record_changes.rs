//! Simulates people who change a record that several people may change: a unit's membership of a team, or a month's
//! payment (`settling.rs`). The ledger's row is the record. A person may send a request several times, with one operation
//! ID. A request may be killed between any two of its steps, and the person's computer may sleep.

use crate::books::Books;
use crate::changes::{BY, Heard, RecordChange};
use crate::kv::OPERATOR;
use crate::publishing::Drowsy;
use impact_pledge::office::audit::rule::Author;
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::office::shared::rule::operation_id::OperationId;
use impact_pledge::office::shops::rule::teams;
use std::rc::Rc;

/// The maximum number of people who change one record at the same time.
const TOGETHER: u64 = 4;
/// The maximum number of requests for one change. All of them are sent within a period picked from `WITHIN_MS`.
const ASKED: u64 = 2;
const WITHIN_MS: &[u64] = &[2_000, 50_000, 200_000];
/// Of 1,000 answers of the ledger, the number after which the computer of a person sleeps.
pub const DROWSY: u64 = 60;

const TEAM: &str = "crew";
/// The units that join and leave the team. No other part of the simulation changes these memberships.
const UNITS: &[&str] = &["unit_1", "unit_2"];
/// A part of the error message if a unit was removed, but its copy in KV was not.
const LEFT: &str = "was removed from the team";

impl Books {
    /// Starts several people who change the same membership at about the same time.
    pub fn change_team(self: &Rc<Self>) {
        let unit = self.random.pick(UNITS);
        for _ in 0..=self.random.below(TOGETHER) {
            let is_added = self.random.chance(500);
            let change = self.want_record(&format!("member:{TEAM}:{unit}"), is_added);
            let asking = Rc::clone(self);
            self.request(change, WITHIN_MS[0], "a change", move |id| {
                let asking = Rc::clone(&asking);
                async move { asking.ask_for_member(id, unit, is_added).await }
            });
        }
    }

    /// Records that a person wants to change a record. Returns the number of the change.
    pub fn want_record(&self, name: &str, is_added: bool) -> usize {
        let id = OperationId::new(&self.clock(), &*self.random);
        let id = OperationId::parse(id.as_str()).unwrap(); // as a form sends it
        let mut changes = self.record_changes.borrow_mut();
        let name = name.to_owned();
        changes.push(RecordChange { name, is_added, id, open: 0, is_done: false });
        changes.len() - 1
    }

    /// Sends the requests for a change. The first one is sent within `first_ms`. `kind` names the change in the counts of
    /// events.
    pub fn request<F: Future<Output = (Heard, String)> + 'static>(
        self: &Rc<Self>,
        number: usize,
        first_ms: u64,
        kind: &'static str,
        ask: impl Fn(OperationId) -> F + 'static,
    ) {
        let (within_ms, ask) = (self.random.pick(WITHIN_MS), Rc::new(ask));
        for asked in 0..=self.random.below(ASKED) {
            let latest_ms = if asked == 0 { first_ms } else { within_ms };
            let (books, ask) = (Rc::clone(self), Rc::clone(&ask));
            self.spawn_killable(async move {
                books.sleep(books.random.below(latest_ms)).await;
                books.attempt(books.answer(number, kind, &*ask)).await;
            });
        }
    }

    /// Sends one request for a change, and records the answer.
    pub async fn answer<F: Future<Output = (Heard, String)>>(
        &self,
        number: usize,
        kind: &str,
        ask: impl Fn(OperationId) -> F,
    ) {
        let id = {
            let change = &mut self.record_changes.borrow_mut()[number];
            change.open += 1;
            change.id.clone()
        };
        let (heard, text) = ask(id).await;
        let change = &mut self.record_changes.borrow_mut()[number];
        let what = if change.is_added { "to add" } else { "to remove" };
        self.note(format!("change {number}, {what} {}: {heard:?}, {text}", change.name));
        self.count(format!("{kind}: {heard:?}"));
        match heard {
            Heard::Done => change.is_done = true,
            Heard::Not => change.open -= 1,
            Heard::Unsure => {}
        }
    }

    /// Changes a team as the operators' commands and pages do.
    async fn ask_for_member(&self, id: OperationId, unit: &str, is_added: bool) -> (Heard, String) {
        let (clock, store, units) = (self.clock(), self.namespace(OPERATOR), [unit.to_owned()]);
        let author = Author::new(BY, &clock, &*self.random).unwrap().with_operation(id);
        let ledger = &Drowsy { books: self, per_mille: DROWSY };
        let told = match is_added {
            true => {
                let added = teams::add(&store, ledger, &author, TEAM, &units).await;
                added.map(|added| added.outcome.already.is_empty())
            }
            false => teams::remove(&store, ledger, &author, TEAM, &units).await.map(|_| true),
        };
        match told {
            // An earlier request of this person may have added it.
            Ok(false) => (Heard::Unsure, "so already".to_owned()),
            told => heard(told.map(drop)),
        }
    }
}

/// Returns what a person learns from an answer, with the text of an error.
pub fn heard(told: Result<(), OperatorError>) -> (Heard, String) {
    let Err(error) = told else { return (Heard::Done, String::new()) };
    let text = error.to_string();
    match error {
        OperatorError::Invalid(_) if text.contains(LEFT) => (Heard::Done, text),
        OperatorError::Invalid(_) | OperatorError::Repeated(_) => (Heard::Not, text),
        _ => (Heard::Unsure, text),
    }
}
