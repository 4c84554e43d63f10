//! Simulates what operators and the cron do to the ledger while requests run. Also makes the ledger complete at
//! the end of the simulation.

use crate::books::{Books, Settlement};
use crate::callers::{Action, Exchange, Scope};
use crate::due_rules::wrong_mark;
use crate::ledger_moments::watch;
use crate::ledger_rows::{completed_ms, rows};
use crate::ledger_rules::UNSENT;
use crate::months::{DAY_MS, ENDS};
use crate::simulation::Simulation;
use impact_pledge::office::shared::rule::coverage::Coverage;
use impact_pledge::office::system::rows::reconcile::PassTiming;
use impact_pledge::pledges::settlement::Month;
use std::rc::Rc;

/// The number of steps in 1,000 in which a reconciliation pass starts. The next constants are the rates of
/// other events.
const PASSES: u64 = 80;
const CHANGES: u64 = 120;
const PUBLICATIONS: u64 = 150;
const ERASURES: u64 = 150;
const KILLS: u64 = 60;
const RESETS: u64 = 30;
const PHANTOMS: u64 = 40;
const REBUILDS: u64 = 3;
const REPEATS: u64 = 25;
const CREDITS: u64 = 60;
const FULFILMENTS: u64 = 50;
const PEOPLE: u64 = 50;
const UPDATES: u64 = 60;
const HEALINGS: u64 = 40;
const ORDERS: u64 = 300;
const CATCH_UPS: u64 = 60;
const BUYERS: u64 = 30;
/// Of 1,000 simulations, the number that remove earlier months from the ledger at their end.
const KEEPS: u64 = 300;
/// Of 1,000 simulations that end in February, the number that go on until April with an excess of credits.
const EXCESSES: u64 = 300;
/// The minimum age of a transaction that the operator erases, in milliseconds. It includes 10 s for the
/// difference between two clocks.
const ERASABLE_MS: u64 = 310_000;
/// The maximum time for which one reconciliation pass blocks others, in milliseconds. `LAST_PASSES` is the
/// number of passes that are tried at the end of a simulation. Some of these may fail because of earlier
/// faults.
const LEASE_MS: u64 = 240_000;
const LAST_PASSES: usize = 30;

impl Simulation {
    /// Starts the ledger's events of one simulation step. Each event happens at random.
    pub fn keep_books(&mut self) {
        let Some(books) = self.books.clone() else { return };
        books.database.check_mark.set(Some(wrong_mark));
        let happens = |per_mille| books.random.chance(per_mille);
        if happens(PASSES) {
            (0..=books.random.below(2)).for_each(|_| books.reconcile());
        }
        if happens(CHANGES) {
            books.change_team();
        }
        if happens(PUBLICATIONS) {
            books.publish();
        }
        if happens(ERASURES) {
            self.erase_for_good(&books);
        }
        if happens(REBUILDS) {
            books.rebuild();
        }
        if happens(REPEATS) {
            books.want_key();
        }
        if happens(CREDITS) {
            books.credit_order();
        }
        if happens(FULFILMENTS) {
            books.fulfil();
        }
        if happens(PEOPLE) {
            books.change_people();
        }
        if happens(UPDATES) {
            books.change_updates();
        }
        if happens(HEALINGS) {
            books.heal();
        }
        self.orders_reach_the_service(&books);
        if happens(ORDERS) {
            books.send_order();
        }
        if happens(CATCH_UPS) {
            books.catch_up();
        }
        if happens(BUYERS) {
            books.erase_buyer();
        }
        if happens(PHANTOMS) {
            books.haunt();
        }
        if happens(RESETS) {
            books.keep_earlier();
        }
        if happens(KILLS) {
            books.kill();
        }
        watch(self, &books);
    }

    /// Erases a random old transaction as the operator does. Two kinds of transactions are left out:
    ///
    /// - Transactions that request a notification, because another event of the simulation may erase those.
    /// - Transactions whose idempotency key was sent with two payloads, because a retry is then answered from
    ///   the erased record.
    fn erase_for_good(&self, books: &Rc<Books>) {
        let exchanges = self.exchanges.borrow();
        let now_ms = self.time.now_ms();
        let is_only = |own: &Exchange| {
            let is_other = |other: &Exchange| {
                own.ask.name().is_some()
                    && (other.ask.scope(), other.ask.name()) == (own.ask.scope(), own.ask.name())
                    && other.ask.payload() != own.ask.payload()
            };
            !exchanges.iter().any(is_other)
        };
        let ids = exchanges.iter().enumerate().filter_map(|(number, exchange)| {
            let Action::Create { payload, .. } = exchange.ask.action else { return None };
            let is_old = exchange.begun_ms + ERASABLE_MS <= now_ms;
            let asks = self.payloads[payload].services().next().is_some();
            let may_be = is_old && !asks && is_only(exchange);
            let id = exchange.created().filter(|_| may_be)?.json()["id"].as_str()?;
            Some((id, number))
        });
        let ids: Vec<_> = ids.collect();
        if !ids.is_empty() {
            let (id, number) = books.random.pick(&ids);
            books.erase(id.to_owned(), number, &self.erased);
        }
    }

    /// Completes the ledger at the end of a simulation: runs reconciliation until the ledger must equal KV.
    /// Then asks what shops owe, and heals the records of updates. Some
    /// simulations then remove earlier months from the ledger for a while.
    pub fn close_books(&mut self) {
        let Some(books) = self.books.clone() else { return };
        self.complete_ledger(&books);
        if self.time.now_ms() + 2 * DAY_MS < ENDS[1].1 && books.random.chance(EXCESSES) {
            self.use_up_an_excess(&books);
        }
        let asking = Rc::clone(&books);
        books.spawn(async move {
            let told = asking.ask_dues(&Coverage::default()).await;
            asking.dues.replace(told);
            asking.heal_records().await;
        });
        self.advance(LEASE_MS);
        if books.random.chance(KEEPS) {
            self.keep_later_months(&books);
        }
        self.confirm_copies(&books);
        watch(self, &books);
        self.travel_in_time(&books);
    }

    fn complete_ledger(&self, books: &Rc<Books>) {
        for _ in 0..LAST_PASSES {
            if self.kv.last_of(UNSENT).is_empty() {
                break;
            }
            let closing = Rc::clone(books);
            books.spawn(
                async move { closing.invoke(PassTiming::Due, 1_000).await.map_or((), drop) },
            );
            self.advance(LEASE_MS);
        }
        self.complete_pass(books, || watch(self, books));
    }

    /// Runs reconciliation passes until one of those that began after this call is complete. Calls `check`
    /// after each pass.
    pub fn complete_pass(&self, books: &Rc<Books>, check: impl Fn()) {
        let closed_ms = self.time.now_ms(); // an earlier pass may be under way
        for _ in 0..LAST_PASSES {
            self.advance(LEASE_MS);
            let closing = Rc::clone(books);
            books.spawn(
                async move { closing.invoke(PassTiming::Now, 1_000).await.map_or((), drop) },
            );
            self.advance(LEASE_MS);
            check();
            if completed_ms(&books.database).is_some_and(|began_ms| began_ms > closed_ms) {
                return;
            }
        }
    }
}

impl Books {
    /// Copies the rows of a month at the moment when the month is marked as paid.
    pub fn settle(&self, (mode, unit): Scope, month: &str) {
        let mut rows = rows(&self.database);
        rows.retain(|_, row| {
            let own = row["created"].as_u64().and_then(Month::at);
            row["mode"] == mode && row["unit"] == unit && own == Month::parse(month)
        });
        let at_ms = self.now_ms();
        self.settlements.borrow_mut().push(Settlement { at_ms, mode, unit, rows });
    }
}
