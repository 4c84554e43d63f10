//! Simulates an operator who lets the ledger keep only later months for a while, and then all months again.
//! Before that, an excess of credits may have been deducted from a paid month.

use crate::books::Books;
use crate::callers::{AUDIT, Action, Ask, KEYS};
use crate::due_rules::dues_follow;
use crate::kv::OPERATOR;
use crate::ledger_moments::watch;
use crate::mail::ALL_WAITS_MS;
use crate::months::{DAY_MS, MONTHS, PAUSE_MS, SHOP, settlement};
use crate::simulation::{PAYLOADS, Simulation};
use impact_pledge::office::audit::rule::Author;
use impact_pledge::office::shared::rule::coverage::Coverage;
use impact_pledge::office::system::rule::kept;
use impact_pledge::pledges::settlement::Month;
use std::cell::OnceCell;
use std::rc::Rc;

/// The maximum time for which an operator asks what is due, in milliseconds.
const ASKING_MS: u64 = 240_000;

/// The virtual times at which orders are placed in March and in April.
const ORDERED_MS: &[u64] = &[33 * DAY_MS, 62 * DAY_MS];
/// The maximum number of orders in one month.
const ORDERS: u64 = 3;

impl Simulation {
    /// Lets March take an excess of credits, in three steps:
    ///
    /// - Credits the paid orders of January. These credits are booked in February.
    /// - Places orders in March and April.
    /// - Marks February and March as paid.
    pub fn use_up_an_excess(&self, books: &Rc<Books>) {
        self.mark_as_paid(books, &MONTHS[..1]);
        books.credit_all(MONTHS[0]);
        for at_ms in ORDERED_MS {
            self.advance(at_ms.saturating_sub(self.time.now_ms()));
            (0..=books.random.below(ORDERS)).for_each(|_| self.order());
        }
        self.advance(ALL_WAITS_MS);
        self.complete_pass(books, || watch(self, books));
        self.mark_as_paid(books, &MONTHS[1..3]);
    }

    fn order(&self) {
        let payload = self.random.index(PAYLOADS);
        let action = Action::Create { name: None, payload, spelling: 0, is_broken: false };
        let is_own = |key: &usize| (KEYS[*key].mode.into(), KEYS[*key].units[0]) == SHOP;
        let key = (AUDIT..KEYS.len()).find(is_own).unwrap();
        self.send_to(&self.pick_isolate(), Ask { key, unit: None, ..self.ask(action) });
        self.advance(PAUSE_MS);
    }

    fn mark_as_paid(&self, books: &Rc<Books>, months: &'static [&'static str]) {
        let marking = Rc::clone(books);
        books.spawn(async move {
            for month in months {
                let change = marking.want_record(&settlement(SHOP, month), true);
                let mark = async |id| marking.mark(id, month, &OnceCell::new()).await;
                marking.answer(change, "a payment", mark).await;
            }
        });
        self.advance(ASKING_MS);
    }

    /// Removes the rows of earlier months from the ledger, and asks what is due. Then brings the rows back.
    pub fn keep_later_months(&self, books: &Rc<Books>) {
        let first = books.random.pick(&MONTHS[1..]);
        self.keep_from(books, Month::parse(first));
        let asking = Rc::clone(books);
        books.spawn(async move {
            let complete_from = Some(format!("{first}-01T00:00:00.000Z"));
            let coverage = Coverage { complete_from, ..Coverage::default() };
            let told = asking.ask_dues(&coverage).await;
            asking.kept_dues.replace(told);
        });
        self.advance(ASKING_MS);
        let wrong = dues_follow(self, books, &books.kept_dues.borrow(), Some(first));
        let wrong = wrong.map(|text| format!("the ledger keeps {first} and later months: {text}"));
        wrong.into_iter().for_each(|text| books.blame("a removed month still counts", text));
        books.count("earlier months are removed");
        self.keep_from(books, None);
    }

    /// Sets the first month that the ledger keeps; `None` for all. Then runs passes until one is complete.
    fn keep_from(&self, books: &Rc<Books>, month: Option<Month>) {
        let keeping = Rc::clone(books);
        books.spawn(async move {
            let (clock, store) = (keeping.clock(), keeping.namespace(OPERATOR));
            let author = Author::new("ops", &clock, &*keeping.random).unwrap();
            kept::keep_from(&store, &keeping.database, &author, month).await.unwrap();
        });
        self.advance(ASKING_MS);
        self.complete_pass(books, || ());
    }
}
