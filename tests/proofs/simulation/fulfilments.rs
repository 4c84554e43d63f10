//! Simulates operators who record fulfilments (what was done for pledges) and remove them. They send each
//! request several times with one operation ID, and may be killed between any two steps.

use crate::books::Books;
use crate::exact::exact;
use crate::kv::OPERATOR;
use crate::ledger_rows::credit_rows;
use crate::ledger_sums::pledged_of;
use crate::months::MONTHS;
use crate::rule::Wrong;
use crate::simulation::Simulation;
use futures_executor::block_on;
use impact_pledge::office::audit::rule::Author;
use impact_pledge::office::fulfilment::rows::fulfilments::{Fulfilment, NewFulfilment, get};
use impact_pledge::office::fulfilment::rule as fulfilments;
use impact_pledge::office::shared::rule::operation_id::OperationId;
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::settlement::Month;
use num_bigint::BigUint;
use std::collections::BTreeMap;
use std::rc::Rc;
use support::memory::MemoryStore;

/// The maximum number of requests for one change. All of them are sent within a period picked from
/// `WITHIN_MS`.
const ASKED: u64 = 5;
const WITHIN_MS: &[u64] = &[2_000, 100_000, 400_000];
const OFFERINGS: &[&str] = &["tree", "not-listed", "reef"];
const QUANTITIES: &[&str] = &["1", "2.5", "0.000000000000000004", "1e21"];
/// Of 1,000 changes, the number that remove a recorded fulfilment.
const REMOVALS: u64 = 350;

impl Books {
    /// Starts the simulation of a person who records a fulfilment or removes one.
    pub fn fulfil(self: &Rc<Self>) {
        let recorded: Vec<_> = self.fulfilments.borrow().keys().cloned().collect();
        let removed = (!recorded.is_empty() && self.random.chance(REMOVALS))
            .then(|| recorded[self.random.index(recorded.len())].clone());
        let id = OperationId::new(&self.clock(), &*self.random);
        let id = OperationId::parse(id.as_str()).unwrap(); // as a form sends it
        let new = NewFulfilment {
            mode: self.random.pick(&[Mode::Test, Mode::Live]),
            month: Month::parse(MONTHS[0]).unwrap(),
            offering: self.random.pick(OFFERINGS).to_owned(),
            quantity: self.random.pick(QUANTITIES).to_owned(),
            done_on: "2026-01-30".to_owned(),
            partner: None,
            place: Some(format!("where {id} is")),
            report: None,
        };
        let within_ms = self.random.pick(WITHIN_MS);
        for _ in 0..=self.random.below(ASKED) {
            let (books, id, new, removed) =
                (Rc::clone(self), id.clone(), new.clone(), removed.clone());
            self.spawn_killable(async move {
                books.sleep(books.random.below(within_ms)).await;
                match removed {
                    Some(removed) => books.attempt(books.unfulfil(id, &removed)).await,
                    None => books.attempt(books.record_fulfilment(id, &new)).await,
                }
            });
        }
    }

    async fn record_fulfilment(&self, id: OperationId, new: &NewFulfilment) {
        let (clock, store) = (self.clock(), self.namespace(OPERATOR));
        let author = Author::new("ops", &clock, &*self.random).unwrap().with_operation(id);
        let told = fulfilments::add(&store, &self.database, &author, new).await;
        self.note(format!("the fulfilment {:?}: {told:?}", new.place));
        let Ok(done) = told else { return self.count("a fulfilment: refused") };
        self.count("a fulfilment: recorded");
        let Fulfilment { id, done, .. } = done.outcome;
        self.fulfilments.borrow_mut().entry(id.clone()).or_insert((done, false));
        self.check_fulfilment(&id);
    }

    async fn unfulfil(&self, id: OperationId, removed: &str) {
        let (clock, store) = (self.clock(), self.namespace(OPERATOR));
        let author = Author::new("ops", &clock, &*self.random).unwrap().with_operation(id);
        let told = fulfilments::remove(&store, &self.database, &author, removed).await;
        self.note(format!("{removed} is removed: {told:?}"));
        if told.is_ok() {
            self.count("a fulfilment: removed");
            let mut all = self.fulfilments.borrow_mut();
            all.entry(removed.to_owned()).and_modify(|(_, is_removed)| *is_removed = true);
        }
        self.check_fulfilment(removed);
    }

    /// Checks that a fulfilment in the ledger agrees with the answers that people got about it.
    fn check_fulfilment(&self, id: &str) {
        let told = self.fulfilments.borrow().get(id).cloned();
        let found = block_on(get(self.database.sqlite(), id)).unwrap();
        let (Some((done, is_removed)), found) = (told, found) else { return };
        let is_right = found
            .as_ref()
            .is_some_and(|found| found.done == done && (found.removed.is_some() || !is_removed));
        if !is_right {
            self.blame("a fulfilment is what people were told", format!("{id} is {found:?}"));
        }
    }
}

/// Checks that one operation records at most one fulfilment, and that each fulfilment agrees with the answers
/// that people got.
pub fn an_operation_records_one_fulfilment(_: &Simulation, books: &Books) -> Wrong {
    let twice = "SELECT place FROM fulfilments GROUP BY place HAVING count(*) > 1";
    books.fulfilments.borrow().keys().for_each(|id| books.check_fulfilment(id));
    books.database.sqlite().sql(twice).into_iter().next()
}

/// Checks the open quantities. Each must be the pledged quantity, less the credited and the fulfilled
/// quantities.
pub fn what_is_open_is_what_is_not_done(simulation: &Simulation, books: &Books) -> Wrong {
    let mut expected = BTreeMap::<[String; 3], [BigUint; 3]>::new();
    for (group, (_, quantity)) in pledged_of(&simulation.kv) {
        expected.entry(group).or_default()[0] += quantity;
    }
    for row in credit_rows(&books.database).values() {
        for (offering, quantity) in row.quantities() {
            let group = [row.text("order_month"), row.text("mode"), offering];
            expected.entry(group).or_default()[1] += quantity;
        }
    }
    let counting =
        "SELECT json_array(month, mode, offering, quantity) FROM fulfilments WHERE remover IS NULL";
    for row in books.database.json(counting) {
        let [month, mode, offering, quantity] =
            [0, 1, 2, 3].map(|at| row[at].as_str().unwrap_or_default().to_owned());
        expected.entry([month, mode, offering]).or_default()[2] += exact(&quantity);
    }
    let months: Vec<_> = MONTHS.iter().filter_map(|month| Month::parse(month)).collect();
    let told = block_on(fulfilments::balances(
        &MemoryStore::default(), // it names no other database
        books.database.sqlite(),
        None,
        &months,
        1_000,
    ));
    let told = told.unwrap().balances.into_iter().map(|own| {
        let sums = [own.pledged, own.credited, own.done, own.open, own.surplus];
        let group = [own.month.to_string(), own.mode.name().to_owned(), own.offering];
        (group, sums.map(|sum| exact(&sum)))
    });
    let told: BTreeMap<_, _> = told.collect();
    let none = BigUint::default();
    let balance = |[pledged, credited, done]: [BigUint; 3]| {
        let taken = &credited + &done;
        let less = |a: &BigUint, b: &BigUint| if a > b { a - b } else { none.clone() };
        let (open, surplus) = (less(&pledged, &taken), less(&taken, &pledged));
        [pledged, credited, done, open, surplus]
    };
    let expected: BTreeMap<_, _> =
        expected.into_iter().map(|(group, sums)| (group, balance(sums))).collect();
    crate::ledger_sums::difference(&expected, &told)
}
