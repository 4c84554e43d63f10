//! Simulates operators who credit orders: in full, in part, or with two simultaneous credits that together
//! exceed the charge. An operator may request each credit several times, with one operation ID. An operator's
//! process may be killed between any two steps.

use crate::books::Books;
use crate::changes::{BY, WantedCredit};
use crate::exact::{exact, exact_text};
use crate::kv::{OPERATOR, Record};
use crate::ledger_sums::kept_quantities;
use crate::months::SHOP;
use crate::times::APART_MS;
use futures_executor::block_on;
use impact_pledge::office::audit::rule::Author;
use impact_pledge::office::credits::rows;
use impact_pledge::office::credits::rule as credits;
use impact_pledge::office::credits::rule::{Credit, CreditRequest, OfferingQuantity, Part};
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::office::shared::rule::operation_id::OperationId;
use impact_pledge::pledges::settlement::{Month, ScopeMonth};
use impact_pledge::pledges::store::{Key as _, SettlementKey};
use num_bigint::BigUint;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Of 1,000 credits, the number that are for orders of the shop `SHOP`, once the shop has orders. In the
/// simulation, only commands mark the months of this shop as paid.
const OF_SHOP: u64 = 700;
/// The maximum number of requests for one credit. All of them are sent within a period picked from
/// `WITHIN_MS`.
const ASKED: u64 = 3;
const WITHIN_MS: &[u64] = &[1_000, 50_000, 200_000];

/// Returns 60 % of a number. Two credits of this size exceed the whole.
fn most_of(number: &BigUint) -> BigUint {
    number * 6_u8 / 10_u8
}

impl Books {
    /// Starts people who credit a random order.
    pub fn credit_order(self: &Rc<Self>) {
        let Some((id, record)) = self.pick_order() else { return };
        let charge = exact(record.json()["charge"]["amount"].as_str().unwrap_or("0"));
        let cents = exact_text(&most_of(&charge), 2);
        let quantities: Vec<_> = kept_quantities(record.json()).into_iter().collect();
        let (offering, quantity) = &quantities[self.random.index(quantities.len())];
        let most = OfferingQuantity {
            offering: offering.clone(),
            quantity: exact_text(&most_of(quantity), 0),
        };
        let part = |amount: &str, quantities| Some(Part { amount: amount.to_owned(), quantities });
        match self.random.below(10) {
            0..3 => self.want_credit(&id, None, 1_000),
            3..6 => {
                // two of 60 % at once
                self.want_credit(&id, part(&cents, vec![most.clone()]), 1_000);
                self.want_credit(&id, part(&cents, vec![most]), 1_000);
            }
            6 => (0..2).for_each(|_| self.want_credit(&id, part("0", vec![most.clone()]), 1_000)),
            7 => self.want_credit(&id, part(&format!("1{cents}"), vec![]), 1_000),
            _ => {
                let amount = format!("0.{:02}", self.random.below(100));
                self.want_credit(&id, part(&amount, vec![]), 30_000);
            }
        }
    }

    /// Starts people who credit all orders that the shop `SHOP` placed in a month.
    pub fn credit_all(self: &Rc<Self>, month: &str) {
        for (name, record) in self.kv.last_of("transaction:") {
            let is_of = record.json()["createdAt"].as_str().unwrap_or_default().starts_with(month);
            if is_of && is_own(&record) {
                self.want_credit(name.trim_start_matches("transaction:"), None, 1_000);
            }
        }
    }

    /// Starts a person who credits one cent of a random order. The first request is sent within `within_ms`.
    pub fn credit_a_cent(self: &Rc<Self>, within_ms: u64) {
        if let Some((id, _)) = self.pick_order() {
            let part = Part { amount: "0.01".to_owned(), quantities: vec![] };
            self.want_credit(&id, Some(part), within_ms);
        }
    }

    /// Picks a random transaction from KV, most often one of the shop `SHOP`. In the simulation, only
    /// commands mark the months of this shop as paid.
    fn pick_order(&self) -> Option<(String, Rc<Record>)> {
        let mut orders = self.kv.last_of("transaction:");
        if self.random.chance(OF_SHOP) && orders.iter().any(|(_, record)| is_own(record)) {
            orders.retain(|(_, record)| is_own(record));
        }
        let index = self.random.index(orders.len().max(1));
        let (name, record) = orders.into_iter().nth(index)?;
        Some((name.strip_prefix("transaction:")?.to_owned(), record))
    }

    /// Starts a person who requests one credit, once or several times. The first request is sent within
    /// `first_ms`.
    fn want_credit(self: &Rc<Self>, transaction: &str, part: Option<Part>, first_ms: u64) {
        let id = OperationId::new(&self.clock(), &*self.random);
        let id = OperationId::parse(id.as_str()).unwrap(); // as a form sends it
        let (transaction, reason) = (transaction.to_owned(), "a refund".to_owned());
        let tell_buyer = part.is_none() && self.random.chance(300);
        let request =
            CreditRequest { transaction, part, reason, tell_buyer, was_charged: None, seen: None };
        self.note(format!("the operator wants {request:?} by {id}"));
        let (begun_ms, open, granted) = (self.now_ms(), Cell::default(), RefCell::default());
        let wanted = Rc::new(WantedCredit { id, request, begun_ms, open, granted });
        self.credits.borrow_mut().push(Rc::clone(&wanted));
        let within_ms = self.random.pick(WITHIN_MS);
        for number in 0..=self.random.below(ASKED) {
            let (books, wanted) = (Rc::clone(self), Rc::clone(&wanted));
            let latest_ms = if number == 0 { first_ms } else { within_ms };
            self.spawn_killable(async move {
                books.sleep(books.random.below(latest_ms)).await;
                wanted.open.set(wanted.open.get() + 1);
                books.attempt(books.ask_for_credit(&wanted)).await;
            });
        }
    }

    async fn ask_for_credit(&self, wanted: &WantedCredit) {
        let (clock, store) = (self.clock(), self.namespace(OPERATOR));
        let author = Author::new(BY, &clock, &*self.random).unwrap();
        let author = author.with_operation(wanted.id.clone());
        let told = credits::add(&store, &self.database, &author, &wanted.request).await;
        self.note(format!("the credit by {}: {told:?}", wanted.id));
        match told {
            Ok(done) => {
                wanted.open.set(wanted.open.get() - 1);
                let is_first = done.before.is_none();
                self.count(if is_first { "a credit: granted" } else { "a credit: again" });
                self.check_granted(wanted, &done.outcome);
            }
            Err(OperatorError::Invalid(_) | OperatorError::Repeated(_)) => {
                wanted.open.set(wanted.open.get() - 1);
                self.count("a credit: refused");
            }
            Err(_) => self.count("a credit: unsure"),
        }
    }

    /// Checks that the ledger has the credit that an answer reported, and that all answers report the same
    /// credit.
    fn check_granted(&self, wanted: &WantedCredit, credit: &Credit) {
        let rows = block_on(rows::credits(self.database.sqlite(), &credit.transaction)).unwrap();
        let own = rows.into_iter().find(|row| row.operation == wanted.operation());
        if own.map(Credit::from).as_ref() != Some(credit) {
            self.blame("a credit that is granted is there", format!("{credit:?} is not"));
        }
        let first = wanted.granted.borrow().clone();
        match first {
            Some(first) if first != *credit => {
                let text = format!("{first:?}, and then {credit:?}");
                self.blame("one operation makes one credit", text);
            }
            Some(_) => {}
            None => {
                wanted.granted.replace(Some(credit.clone()));
                self.check_booked(wanted, credit);
            }
        }
    }

    /// Checks a credit that is not booked in the month of its order. The credit must be booked in the
    /// current month, and the order's month must be marked as paid.
    fn check_booked(&self, wanted: &WantedCredit, credit: &Credit) {
        let Credit { order_month, booked_month, .. } = credit;
        if booked_month == order_month {
            return;
        }
        self.count("a credit: booked later");
        let (from_ms, until_ms) = (wanted.begun_ms, self.now_ms());
        let running = [from_ms.saturating_sub(APART_MS), until_ms + APART_MS];
        let running = running.map(|ms| Month::at(virtual_time(ms)));
        let is_settled = self.was_settled_since(credit, from_ms);
        if !running.contains(&Some(*booked_month)) || !is_settled {
            let text = format!("{credit:?} is booked in {booked_month}");
            self.blame("a credit is booked in the right month", text);
        }
    }

    /// Whether the month of the credited order was marked as paid at some time since `from_ms`.
    fn was_settled_since(&self, credit: &Credit, from_ms: u64) -> bool {
        let of = ScopeMonth { scope: credit.scope.clone(), month: credit.order_month };
        self.database.was(&SettlementKey(&of).name(), true, from_ms)
    }
}

/// Whether an order is of the shop `SHOP`.
fn is_own(record: &Record) -> bool {
    let metadata = record.metadata_json();
    (metadata["mode"].as_str(), metadata["unit"].as_str()) == (Some(SHOP.0), Some(SHOP.1))
}

/// Converts a virtual time to milliseconds since 1970.
fn virtual_time(ms: u64) -> u64 {
    crate::times::EPOCH_MS + ms
}
