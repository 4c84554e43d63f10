//! Simulates people who change the same fact at the same time: a unit's membership of a team, or a month's
//! payment. Each person claims the fact in the ledger, writes its record to KV, and confirms the claim. Any
//! of them may be killed. Membership is changed by the operators' functions, and payment by single steps.

use crate::books::Books;
use crate::changes::{Claimant, Heard};
use crate::kv::OPERATOR;
use crate::namespace::Namespace;
use impact_pledge::office::audit::rule::Author;
use impact_pledge::office::shared::rows::claims;
use impact_pledge::office::shared::rows::claims::{
    Change, ClaimOutcome, Fact, Kind, ObservedFact, TargetState,
};
use impact_pledge::office::shops::rule::teams;
use impact_pledge::pledges::service::Clock as _;
use impact_pledge::pledges::store::{
    Key, NoMetadata, OperatorStore as _, Store as _, StoreError, StoredValue as _,
};
use std::borrow::Cow;
use std::rc::Rc;

/// The maximum number of people who change one fact at the same time.
const TOGETHER: u64 = 4;
/// Of 1,000 people, the number that give up their change.
const GIVES_UP: u64 = 200;

const TEAM: &str = "crew";
/// The facts that are changed. Each row has the name of the fact's record and, for a membership, the unit that
/// joins or leaves the team. No other part of the simulation changes these facts.
const FACTS: &[(&str, Option<&str>)] = &[
    ("settlement:test:unit_1:2025-12", None),
    ("member:crew:unit_1", Some("unit_1")),
    ("member:crew:unit_2", Some("unit_2")),
];

/// Records the end of a change when this guard is dropped. This happens even if the change's task is killed.
pub struct Ending(Rc<Books>, usize);

impl Drop for Ending {
    fn drop(&mut self) {
        let Ending(books, number) = self;
        books.end(*number);
        books.claimants.borrow_mut()[*number].ended_ms = Some(books.now_ms());
    }
}

impl Books {
    /// Starts several people who change the same fact at about the same time.
    pub fn change_fact(self: &Rc<Self>) {
        let (name, unit) = self.random.pick(FACTS);
        for _ in 0..=self.random.below(TOGETHER) {
            self.change(name, unit, self.random.chance(500));
        }
    }

    /// Starts the simulation of a person, who waits a short time and then changes a fact.
    fn change(self: &Rc<Self>, name: &'static str, unit: Option<&'static str>, is_added: bool) {
        let books = Rc::clone(self);
        let (number, ending) = self.announce(name, is_added);
        self.spawn_killable(async move {
            books.sleep(books.random.below(2_000)).await;
            let (heard, answer) = match unit {
                Some(unit) => books.change_team(unit, is_added).await,
                None => books.change_by_steps(number, name, is_added).await,
            };
            let what = if is_added { "to add" } else { "to take back" };
            books.note(format!("change {number}, {what} {name}: {heard:?}, {answer}"));
            books.count(format!("a change: {heard:?}"));
            books.claimants.borrow_mut()[number].heard = heard;
            drop(ending);
        });
    }

    /// Records that a person begins to change a fact. The returned guard records the end of the change.
    pub fn announce(self: &Rc<Self>, name: &str, is_added: bool) -> (usize, Ending) {
        let number = self.claimants.borrow().len();
        self.claimants.borrow_mut().push(Claimant {
            name: name.to_owned(),
            is_added,
            begun_ms: self.now_ms(),
            is_ours: false,
            heard: Heard::Unsure,
            ended_ms: None,
        });
        (number, Ending(Rc::clone(self), number))
    }

    /// Changes a team as the operators' commands and pages do.
    async fn change_team(&self, unit: &str, is_added: bool) -> (Heard, String) {
        let (clock, store, units) = (self.clock(), self.namespace(OPERATOR), [unit.to_owned()]);
        let (author, ledger) = (Author::new("ops", &clock, &*self.random).unwrap(), &self.database);
        let told = match is_added {
            true => {
                let added = teams::add(&store, ledger, &author, TEAM, &units).await;
                added.map(|added| added.outcome.already.is_empty())
            }
            false => teams::remove(&store, ledger, &author, TEAM, &units).await.map(|_| true),
        };
        match told {
            Ok(true) => (Heard::Done, String::new()),
            Ok(false) => (Heard::Not, "so already".to_owned()),
            Err(error) => {
                let text = error.to_string();
                let is_unsure = text.contains("it is not certain");
                (if is_unsure { Heard::Unsure } else { Heard::Not }, text)
            }
        }
    }

    async fn change_by_steps(
        self: &Rc<Self>,
        number: usize,
        name: &'static str,
        is_added: bool,
    ) -> (Heard, String) {
        let (clock, store, database) = (self.clock(), self.namespace(OPERATOR), &self.database);
        let not = |why: &str| (Heard::Not, why.to_owned());
        let (change, author) = (format!("audit:{number}"), "ops".to_owned());
        let by = Change { change, author, at: clock.now_ms() };
        let suffix = name.trim_start_matches("settlement:").to_owned();
        let fact = Fact { kind: Kind::Settlement, name: suffix };
        let Ok(seen) = see(&store, &fact, name).await else { return not("KV does not answer") };
        let wanted = if is_added { TargetState::Added } else { TargetState::Removed };
        match claims::claim(database, wanted, &[seen], &by).await.as_deref() {
            Ok([ClaimOutcome::Ours]) => self.begin(number),
            Ok(turns) => return not(&format!("{turns:?}")),
            Err(_) => return not("the ledger does not answer"),
        }
        let facts = std::slice::from_ref(&fact);
        if self.random.chance(GIVES_UP) {
            self.end(number);
            if claims::give_up(database, facts, &by).await.is_ok() {
                self.check_given_up(&by);
            }
            self.change(name, None, false);
            return not("it is given up");
        }
        let record = serde_json::to_vec(&by).unwrap();
        let written = match wanted {
            TargetState::Added => store.put(&Named(name), record, &NoMetadata).await,
            TargetState::Removed => store.remove(&Named(name)).await,
        };
        if written.is_err() {
            return (Heard::Unsure, String::new()); // the record decides later
        }
        self.end(number);
        let ended = claims::confirm(database, facts, &by).await;
        (Heard::Done, format!("{ended:?}"))
    }

    /// Checks that a change that was given up has left no claim.
    fn check_given_up(&self, by: &Change) {
        let own = format!("SELECT name FROM claims WHERE change = '{}'", by.change);
        if let Some(name) = self.database.sqlite().sql(&own).first() {
            let text = format!("{name} of {}", by.change);
            self.blame("a change that is given up holds nothing", text);
        }
    }

    /// Records that a person holds the claim on a fact, and checks that nobody else holds it.
    fn begin(&self, number: usize) {
        self.claimants.borrow_mut()[number].is_ours = true;
        let claimants = self.claimants.borrow();
        let name = &claimants[number].name;
        let is_beside = |(other, claimant): &(usize, &Claimant)| {
            *other != number && claimant.name == *name && claimant.is_ours
        };
        if let Some((other, _)) = claimants.iter().enumerate().find(is_beside) {
            self.blame(
                "of two changes of a fact one is ours",
                format!("{other} and {number} of {name}"),
            );
        }
    }

    fn end(&self, number: usize) {
        self.claimants.borrow_mut()[number].is_ours = false;
    }
}

/// Reads from KV whether a fact's record exists, and which change wrote it.
async fn see(
    store: &Namespace,
    fact: &Fact,
    name: &'static str,
) -> Result<ObservedFact, StoreError> {
    let mut seen = ObservedFact { fact: fact.clone(), is_there: false, change: None };
    if let Some(stored) = store.get(&Named(name)).await? {
        let value = stored.value.read(Named::READ_MS).await?;
        let change = serde_json::from_slice(&value).ok().map(|by: Change| by.change);
        seen = ObservedFact { is_there: true, change, ..seen };
    }
    Ok(seen)
}

/// A KV key that is given as its whole name.
struct Named(&'static str);

impl Key for Named {
    type Metadata = NoMetadata;
    const KIND: &'static str = "fact";
    const PREFIX: &'static str = "";
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0)
    }
}
