//! Simulates operators and managers who add and remove people of shops. Several of them change the same
//! person. Some send a request more than once, with the same operation ID. A request may be killed between
//! any two of its steps.

use crate::books::Books;
use crate::changes::{Heard, PersonChange};
use crate::database::LATEST_MS;
use crate::kv::OPERATOR;
use crate::rule::Wrong;
use crate::simulation::Simulation;
use crate::times::LATEST_WRITE_MS;
use futures_executor::block_on;
use impact_pledge::office::audit::rule::Author;
use impact_pledge::office::people::rows::changes::Removable;
use impact_pledge::office::people::rows::people::PersonRole;
use impact_pledge::office::people::rows::people::parse_place;
use impact_pledge::office::people::rule as people;
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::office::shared::rule::once::was_done;
use impact_pledge::office::shared::rule::operation_id::OperationId;
use impact_pledge::pledges::auth::KeyLevel;
use std::cell::Cell;
use std::rc::Rc;

const PLACES: &[&str] = &["unit:unit_1", "team:crew"];
const ADDRESSES: &[&str] = &["ada@shop.example", "bob@shop.example"];
/// Of 1,000 changes, the number that add a person. The other changes remove a person. `ASKED` is the maximum
/// number of requests for one change.
const ADDITIONS: u64 = 550;
const ASKED: u64 = 3;
/// The periods within which the requests for one change are sent, in milliseconds. Each change picks one of
/// them at random.
const WITHIN_MS: &[u64] = &[2_000, 30_000, 200_000];

fn place_of(text: &str) -> KeyLevel {
    parse_place(text).unwrap()
}

impl Books {
    /// Starts several simulated people who add or remove the same person of a shop.
    pub fn change_people(self: &Rc<Self>) {
        let (place, address) = (self.random.pick(PLACES), self.random.pick(ADDRESSES));
        for _ in 0..=self.random.below(2) {
            let role = self.random.pick(&[PersonRole::Manager, PersonRole::Viewer]);
            let role = self.random.chance(ADDITIONS).then_some(role);
            let id = OperationId::new(&self.clock(), &*self.random);
            let id = OperationId::parse(id.as_str()).unwrap(); // as a form sends it
            let (within_ms, is_kept) = (self.random.pick(WITHIN_MS), Rc::default());
            for _ in 0..=self.random.below(ASKED) {
                let (books, id, is_kept) = (Rc::clone(self), id.clone(), Rc::clone(&is_kept));
                self.spawn_killable(async move {
                    books.sleep(books.random.below(within_ms)).await;
                    let change = books.change_person((id, &is_kept), (place, address), role);
                    books.attempt(change).await;
                });
            }
        }
    }

    async fn change_person(
        self: &Rc<Self>,
        (id, is_kept): (OperationId, &Cell<bool>),
        (place, address): (&'static str, &'static str),
        role: Option<PersonRole>,
    ) {
        let (ending, was_kept) = (self.announce_person(place, address, role), is_kept.get());
        let (clock, store) = (self.clock(), self.namespace(OPERATOR));
        let author = Author::new("ops", &clock, &*self.random).unwrap().with_operation(id.clone());
        let (ledger, at) = (&self.database, place_of(place));
        let told = match role {
            Some(role) => {
                let added = people::add(&store, ledger, &author, (&at, address), role).await;
                added.map(|added| added.before.is_none() && !added.outcome.already)
            }
            None => {
                let which = self.random.pick(&[Removable::All, Removable::NotTheLast]);
                let removed = people::remove(ledger, &author, (&at, address), which).await;
                removed.map(|removed| removed.before.is_none())
            }
        };
        let heard = match &told {
            Ok(true) => Heard::Done,
            Ok(false) | Err(OperatorError::Invalid(_) | OperatorError::Repeated(_)) => Heard::Not,
            Err(_) => Heard::Unsure,
        };
        self.note(format!("{address} of {place} becomes {role:?} by {id}: {heard:?}, {told:?}"));
        self.count(format!("a person: {heard:?}"));
        self.people.borrow_mut()[ending.1].heard = heard;
        drop(ending);
        if heard == Heard::Done {
            if was_kept {
                self.blame("what is done is not done again", format!("{id} for {address}"));
            }
            let kept = block_on(was_done(self.database.sqlite(), &author));
            is_kept.set(kept.unwrap().is_some());
        }
        self.check_removed();
    }

    /// Records the beginning of a request. The returned guard records the end of the request when the guard
    /// is dropped.
    fn announce_person(
        self: &Rc<Self>,
        place: &'static str,
        address: &'static str,
        role: Option<PersonRole>,
    ) -> Ending {
        let number = self.people.borrow().len();
        let (begun_ms, heard, ended_ms) = (self.now_ms(), Heard::Unsure, None);
        let change = PersonChange { place, address, role, begun_ms, heard, ended_ms };
        self.people.borrow_mut().push(change);
        Ending(Rc::clone(self), number)
    }

    /// Checks that a removed person can no longer sign in. Skips people who may have been added again since.
    pub fn check_removed(&self) {
        let changes = self.people.borrow();
        let removals = changes.iter().filter(|it| it.role.is_none() && it.heard == Heard::Done);
        for removal in removals {
            let is_addition =
                |other: &&PersonChange| other.role.is_some() && other.concerns(removal);
            let mut additions = changes.iter().filter(is_addition);
            if additions.any(|it| it.may_be_since(removal.begun_ms, LATEST_MS)) {
                continue;
            }
            if let Some(role) = self.role_of(removal.place, removal.address) {
                let text = format!("{} is a {role:?} of {}", removal.address, removal.place);
                self.blame("a removed person may not sign in", text);
            }
        }
    }

    /// Returns the role with which a person may sign in now; `None` if the person may not.
    fn role_of(&self, place: &str, address: &str) -> Option<PersonRole> {
        let place = place_of(place);
        let memberships = block_on(people::of_person(self.database.sqlite(), address));
        memberships.unwrap().into_iter().find(|own| own.place == place).map(|own| own.role)
    }
}

/// Records the end of a request when this guard is dropped. This happens even if the request's task is killed.
struct Ending(Rc<Books>, usize);

impl Drop for Ending {
    fn drop(&mut self) {
        let Ending(books, number) = self;
        books.people.borrow_mut()[*number].ended_ms = Some(books.now_ms());
    }
}

// ---- In the end ------------------------------------------------------------------------------------

/// Checks that a person has the role of the last change that was confirmed. Skips people whom another change
/// may have affected since.
pub fn a_person_is_what_people_heard(_: &Simulation, books: &Books) -> Wrong {
    let changes = books.people.borrow();
    let done = changes.iter().filter(|change| change.heard == Heard::Done);
    done.into_iter().find_map(|change| {
        let others = changes.iter().filter(|it| it.concerns(change) && !std::ptr::eq(*it, change));
        let is_last =
            !others.into_iter().any(|other| other.may_be_since(change.begun_ms, LATEST_WRITE_MS));
        let role = books.role_of(change.place, change.address);
        (is_last && role != change.role).then(|| {
            let PersonChange { place, address, role: told, begun_ms, .. } = change;
            format!("{address} of {place} became {told:?} at {begun_ms} ms, and is {role:?}")
        })
    })
}
