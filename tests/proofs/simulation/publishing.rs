//! Simulates the crons that compare the copies in KV with the ledger's rows. Several of them run at once, and may be
//! killed. The computer of a cron may sleep after any answer of the ledger.

use crate::books::Books;
use crate::kv::OPERATOR;
use crate::simulation::Simulation;
use crate::times::SLEEP_MS;
use impact_pledge::office::shared::rows::port::{Ledger, QueryFuture, Statement};
use impact_pledge::office::system::rule::publish;
use std::rc::Rc;

/// The possible limits on the number of copies that a cron compares.
const COPIES: &[usize] = &[1, 3, 100];
/// The maximum number of times that a cron runs, and the maximum pause between two of them.
const RUNS: u64 = 6;
const PAUSE_MS: u64 = 60_000;
/// Of 1,000 answers of the ledger, the number after which the computer of a cron sleeps.
const DROWSY: u64 = 100;
/// The number of crons that run at the end of a simulation, until all copies are confirmed. They run once a minute.
const LAST_RUNS: usize = 40;

/// The ledger, as a process sees it whose computer sleeps now and then.
pub struct Drowsy<'b> {
    pub books: &'b Books,
    /// Of 1,000 answers, the number after which the computer sleeps.
    pub per_mille: u64,
}

impl Ledger for Drowsy<'_> {
    fn run<'l>(&'l self, statements: &'l [Statement]) -> QueryFuture<'l> {
        Box::pin(async {
            let answer = self.books.database.run(statements).await;
            if self.books.chance(self.per_mille) {
                self.books.sleep(self.books.random.below(SLEEP_MS)).await;
            }
            answer
        })
    }
}

impl Books {
    /// Starts one or two crons.
    pub fn publish(self: &Rc<Self>) {
        for _ in 0..=self.random.below(2) {
            let books = Rc::clone(self);
            self.spawn_killable(async move {
                for _ in 0..=books.random.below(RUNS) {
                    books.republish().await;
                    books.sleep(books.random.below(PAUSE_MS)).await;
                }
            });
        }
    }

    pub async fn republish(&self) {
        let (clock, store) = (self.clock(), self.namespace(OPERATOR));
        let ledger = Drowsy { books: self, per_mille: DROWSY };
        let most = self.random.pick(COPIES);
        let told = publish::republish(&store, &ledger, &clock, most).await;
        self.note(format!("a cron compares {most} copies: {told:?}"));
        match told {
            Ok(done) => {
                (0..done.confirmed).for_each(|_| self.count("a copy: confirmed"));
                (0..done.written).for_each(|_| self.count("a copy: written again"));
            }
            Err(_) => self.count("a copy: the cron fails"),
        }
    }

    /// Returns the names of the records whose copies are not confirmed.
    fn unconfirmed(&self) -> Vec<String> {
        self.database.sqlite().sql("SELECT name FROM published WHERE confirmed = 0")
    }
}

impl Simulation {
    /// Runs crons until all copies are confirmed.
    pub fn confirm_copies(&self, books: &Rc<Books>) {
        for _ in 0..LAST_RUNS {
            if books.unconfirmed().is_empty() {
                return;
            }
            let publishing = Rc::clone(books);
            books.spawn(async move { publishing.republish().await });
            self.advance(PAUSE_MS);
        }
        let names = books.unconfirmed();
        if !names.is_empty() {
            books.blame("every copy is confirmed at last", format!("{names:?} are not"));
        }
    }
}
