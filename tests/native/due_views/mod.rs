//! Compares what every page and command says is due with an independent model, after each step of random
//! histories. The steps are orders (also late ones), orders that move to another month, credits, payments and
//! undone payments, deleted records, and months that the ledger no longer keeps.
//!
//! `CASES=2000 cargo test --test native due_views` plays more histories, `SEED=7` plays one.

use crate::credits::{Bench, MINUTE, bench};
use crate::ledger::store_days;
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::settlement::{Month, ScopeMonth};
use impact_pledge::pledges::store::{Key as _, PriceListKey, PriceListVersionKey};
use serde_json::json;
use std::collections::BTreeMap;
use std::env;
use support::service::{LIVE_UNIT, UNIT};
use support::stores::scope;

mod model;
mod random;
mod steps;
mod views;

use model::{Model, Order, name};
use random::Random;

/// The number of histories that the test plays if `CASES` is not set, and the number of steps in each.
const CASES: u64 = 16;
const STEPS: usize = 14;
const DAY: u64 = 24 * 60 * MINUTE;
/// The API keys of the two shops: the live and the test transactions of one unit.
const SHOPS: [(Mode, &str); 2] = [(Mode::Live, LIVE_UNIT), (Mode::Test, UNIT)];

#[test]
fn every_page_and_command_says_the_same_is_due_after_each_step_of_a_history() {
    let number = |name| env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds = match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("CASES").unwrap_or(CASES),
    };
    let mut reached = BTreeMap::new();
    for seed in seeds {
        let mut history = History::new(seed);
        history.play();
        for step in history.reached {
            *reached.entry(step).or_insert(0) += 1;
        }
    }
    for step in ["credit of a late order", "delete", "keep-from", "move", "undo"] {
        assert!(
            reached.contains_key(step) || number("SEED").is_some(),
            "no history reaches: {step}"
        );
    }
}

struct History {
    seed: u64,
    bench: Bench,
    model: Model,
    random: Random,
    /// The steps so far, for the message if the test fails.
    steps: Vec<String>,
    reached: Vec<&'static str>,
}

impl History {
    fn new(seed: u64) -> Self {
        let history = History {
            seed,
            bench: bench(),
            model: Model::default(),
            random: Random::of(seed),
            steps: Vec::new(),
            reached: Vec::new(),
        };
        history.bench.at(time(0, 10));
        history.set_prices();
        history
    }

    /// Stores the price list as `prices set` does, with a version that exports read.
    fn set_prices(&self) {
        let time = "2026-01-01T00:00:00.000Z";
        let list =
            json!({ "currencyCode": "USD", "unitPrices": { "tree": "0.50" }, "prices": time });
        for (mode, _) in SHOPS {
            let of = PriceListKey::of_mode(mode);
            for name in [of.name(), PriceListVersionKey { of, time }.name()] {
                self.bench.store().keep(&name, list.to_string().as_bytes(), b"null");
            }
        }
    }

    fn play(&mut self) {
        for _ in 0..STEPS {
            self.later();
            self.step();
            self.compare(&[self.random.below(self.model.now + 1)]);
        }
        self.pay_and_forget();
    }

    fn step(&mut self) {
        match self.random.below(18) {
            0..4 => drop(self.order(self.model.now)),
            4..6 => self.order_late(),
            6..9 => self.credit(),
            9..12 => self.mark(),
            12 => self.undo(),
            13 => self.keep_from(self.random.below(self.model.now + 2)),
            14 => self.delete(),
            15 => self.repeat_in_this_month(),
            _ => self.next_month(),
        }
    }

    /// Ends a history with the months that once caused a bug: an excess of credits was given twice. In a month
    /// without orders, a paid order and a late order are credited. The next month takes the excess of these
    /// credits. Both months are marked as paid, and then the ledger stops keeping them.
    fn pay_and_forget(&mut self) {
        self.keep_from(self.model.kept_from.min(self.model.now));
        let credited = self.order(self.model.now);
        let Order { shop, cents, .. } = self.model.orders[credited];
        self.next_month();
        self.mark_all();
        let late = self.order_of(shop, self.model.now - 1);
        self.credit_order(late, self.model.orders[late].cents);
        self.credit_order(credited, cents);
        self.next_month();
        self.order_of(shop, self.model.now);
        self.next_month();
        self.mark_all();
        self.order_of(shop, self.model.now);
        self.keep_from(self.model.now);
        self.next_month();
        self.compare(&(0..=self.model.now).collect::<Vec<_>>());
    }

    fn did(&mut self, step: &'static str, of: String) {
        self.steps.push(format!("{step} {of}"));
        self.reached.push(step);
    }

    /// Lets half an hour pass. The month stays the same. Often stores the sums of the days that have ended.
    fn later(&self) {
        let now_ms = self.bench.clock().0.get() + 30 * MINUTE;
        self.bench.at(now_ms);
        if !self.steps.len().is_multiple_of(3) {
            store_days(&self.bench.ledger, now_ms);
        }
    }
}

impl std::fmt::Display for History {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "seed {}: {:?}", self.seed, self.steps)
    }
}

/// Returns a time in a month, in milliseconds since 1970. Month 0 is January 2026.
fn time(month: usize, day: u64) -> u64 {
    let (begin_ms, _) = Month::parse(&name(month)).unwrap().span_ms().unwrap();
    begin_ms + day * DAY
}

fn of(shop: usize, month: usize) -> ScopeMonth {
    let month = Month::parse(&name(month)).unwrap();
    ScopeMonth { scope: scope("unit_dev", SHOPS[shop].0), month }
}
