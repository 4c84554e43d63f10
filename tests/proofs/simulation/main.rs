//! Runs the service on a simulated Workers KV that is eventually consistent and sometimes fails. A seed
//! determines every random decision. Also runs create requests that race, in every possible order of their
//! calls.
//!
//! `SEED=7 cargo test --test simulation` runs one seed again. `npm run prove -- simulation` runs new seeds:
//! `SEEDS` or `MINUTES` sets how many, and `SEED` sets the first seed.

#![expect(clippy::indexing_slicing, reason = "a test that meets the unexpected should panic")]
#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected should panic")]
#![expect(clippy::panic, reason = "a violation is shown with its seed and its trace")]

mod bookkeeping;
mod books;
mod callers;
mod case;
mod changes;
mod credit_rules;
mod credits;
mod database;
mod delivery_rules;
mod due_rules;
mod exact;
mod executor;
mod fulfilments;
mod invariants;
mod isolate;
mod keeping;
mod kv;
mod ledger_moments;
mod ledger_queue;
mod ledger_rows;
mod ledger_rules;
mod ledger_sums;
mod mail;
mod mail_rules;
mod months;
mod namespace;
mod order_api;
mod order_bodies;
mod order_rules;
mod order_settling;
mod order_state;
mod orders;
mod passes;
mod payload;
mod payments;
mod people;
mod published_rules;
mod publishing;
mod random;
mod record_changes;
mod repeats;
mod rule;
mod set_back;
mod settling;
mod simulation;
mod times;
mod trace;
mod updates;

use kv::{FAULT_KINDS, Fault};
use random::Random;
use simulation::{Racer, Simulation};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Mutex;
use std::thread::{available_parallelism, scope};
use std::time::{Duration, Instant};

/// The number of seeds that `cargo test` runs.
const SEEDS: u64 = 100;
const SHOWN: Duration = Duration::from_secs(5);
/// Outcomes of messages. Each must occur in at least one of the simulations.
const CAUSES: &[&str] = &[
    "sent",
    "sent or skipped before",
    "erased",
    "a later create's record",
    "no such record yet",
    "the store does not answer",
    "E_BUSY",
    "E_RATE_LIMIT",
    "E_DAILY_LIMIT_EXCEEDED",
    "another delivery may be sending it",
    "another delivery of this transaction is still running",
    "E_SUPPRESSED",
    "no-answer",
    "its consumer ended",
    "failed",
];

/// Events of the ledger. Each must occur in at least one of the simulations.
const EVENTS: &[&str] = &[
    "a consumer ended",
    "a message came again",
    "a message was lost",
    "a message was received",
    "a pass: Busy",
    "a pass: Complete",
    "a pass: NotDue",
    "a pass: Part",
    "a pass: Unavailable",
    "a change: Done",
    "a change: Not",
    "a change: Unsure",
    "a copy: confirmed",
    "a copy: the cron fails",
    "a copy: written again",
    "a message was refused",
    "a payment: Done",
    "a payment: Not",
    "a payment: a mistake",
    "a rebuild",
    "a record is healed",
    "a reset",
    "a credit: again",
    "a credit: booked later",
    "a credit: granted",
    "a credit: refused",
    "a credit: unsure",
    "a delivery: 200",
    "a delivery: 503",
    "a fulfilment: recorded",
    "a fulfilment: refused",
    "a fulfilment: removed",
    "a person: Done",
    "a person: Not",
    "a person: Unsure",
    "an excess is carried",
    "an order: credited",
    "an order: held",
    "an order: known",
    "an order: pledged",
    "an order: skipped",
    "an order: the answer is lost",
    "an order: unreadable, and tried again",
    "an attempt that ended",
    "an erasure",
    "an update: made",
    "an update: made, but not shown yet",
    "an update: refused",
    "an update: unsure",
    "earlier months are removed",
    "orders: caught up",
    "orders: the cron fails",
    "sums of days are stored",
    "the database: AnswerLost",
    "the database: Busy",
    "the database: Late",
    "the database: Silent",
];

/// What happened in the simulations of all threads, and how often.
#[derive(Default)]
struct Tally {
    next: u64,
    seeds: u64,
    requests: usize,
    faults: BTreeMap<Fault, usize>,
    statuses: BTreeMap<u16, usize>,
    /// The outcomes of messages, by cause.
    deliveries: BTreeMap<String, usize>,
    /// The events of the ledger.
    events: BTreeMap<String, usize>,
    violation: Option<String>,
}

impl Tally {
    fn add(&mut self, simulation: &Simulation) {
        let exchanges = simulation.exchanges.borrow();
        self.seeds += 1;
        self.requests += exchanges.len();
        for fault in simulation.faults() {
            *self.faults.entry(fault).or_default() += 1;
        }
        for answer in exchanges.iter().filter_map(|exchange| exchange.answer.as_ref()) {
            *self.statuses.entry(answer.status).or_default() += 1;
        }
        for delivery in simulation.post.deliveries.borrow().iter() {
            *self.deliveries.entry(delivery.cause().to_owned()).or_default() += 1;
        }
        for (event, count) in simulation.books.iter().flat_map(|books| books.counts()) {
            *self.events.entry(event).or_default() += count;
        }
    }

    fn show(&self, started: Instant) {
        let an_hour = self.requests as f64 / started.elapsed().as_secs_f64() * 3_600.0;
        let Tally { seeds, requests, .. } = self;
        let faults: usize = self.faults.values().sum();
        println!("{seeds} seeds, {requests} requests ({an_hour:.0} an hour), {faults} faults");
    }
}

/// Checks all invariants. The error describes the first violation, with the trace that led to it.
fn check(simulation: &Simulation, name: &str) -> Result<(), String> {
    invariants::check(simulation).map_err(|violation| {
        let trace = trace::trace(simulation, violation.exchange);
        let request = violation.exchange.map(|number| format!(" in #{number}")).unwrap_or_default();
        let invariant = violation.invariant;
        format!("{name}: \"{invariant}\" is violated{request}: {}\n{trace}", violation.text)
    })
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("`{variable}` must be a number, not `{text}`")))
}

#[test]
fn no_seed_violates_an_invariant() {
    let (first, started) = (number("SEED"), Instant::now());
    let minutes = number("MINUTES").map(|minutes| Duration::from_secs(60 * minutes));
    let count = match (number("SEEDS"), minutes, first) {
        (Some(seeds), ..) => seeds,
        (None, Some(_), _) => u64::MAX,
        (None, None, first) => first.map_or(SEEDS, |_| 1),
    };
    let end = first.unwrap_or_default().saturating_add(count);
    let tally = Mutex::new(Tally { next: first.unwrap_or_default(), ..Tally::default() });
    let is_over = || minutes.is_some_and(|minutes| started.elapsed() >= minutes);
    let take = || {
        let mut tally = tally.lock().unwrap();
        let is_left = tally.next < end && tally.violation.is_none() && !is_over();
        tally.next += 1;
        is_left.then(|| tally.next - 1)
    };
    let play = || {
        while let Some(seed) = take() {
            let simulation = Simulation::run(seed);
            let verdict = check(&simulation, &format!("seed {seed}"));
            let mut tally = tally.lock().unwrap();
            tally.add(&simulation);
            tally.violation = tally.violation.take().or(verdict.err());
        }
    };
    scope(|threads| {
        let players: Vec<_> =
            (0..available_parallelism().unwrap().get()).map(|_| threads.spawn(play)).collect();
        while minutes.is_some() && players.iter().any(|player| !player.is_finished()) {
            std::thread::park_timeout(SHOWN);
            tally.lock().unwrap().show(started);
        }
    });
    let tally = tally.into_inner().unwrap();
    tally.show(started);
    println!("faults: {:?}; answers: {:?}", tally.faults, tally.statuses);
    println!("deliveries: {:?}", tally.deliveries);
    println!("the ledger: {:?}", tally.events);
    if let Some(violation) = tally.violation {
        panic!("{violation}");
    }
    if count >= SEEDS {
        assert_eq!(tally.faults.len(), FAULT_KINDS, "a fault that does not happen proves nothing");
        let statuses = &[200, 400, 401, 404, 422, 500, 503];
        assert!(tally.statuses.keys().eq(statuses), "a status that is not returned proves nothing");
        let missing = CAUSES.iter().find(|cause| !tally.deliveries.contains_key(**cause));
        assert_eq!(missing, None, "an outcome that does not occur proves nothing");
        let missing = EVENTS.iter().find(|event| !tally.events.contains_key(**event));
        assert_eq!(missing, None, "an event that does not happen proves nothing");
    }
}

#[test]
fn a_seed_decides_everything() {
    for seed in 0..3 {
        let [one, other] = [(); 2].map(|()| trace::trace(&Simulation::run(seed), None));
        assert!(one == other, "seed {seed}");
    }
}

/// Races between create requests that use one idempotency key and begin at the same time. Three numbers stand
/// for each request: its isolate, its API key and its payload.
const RACES: &[(&str, &[Racer])] = &[
    ("a create and its repeat, in two isolates", &[(0, 0, 0), (1, 0, 0)]),
    ("a create and its repeat, in one isolate", &[(0, 0, 0), (0, 0, 0)]),
    ("a create and its repeat by another key of the unit", &[(0, 0, 0), (1, 1, 0)]),
    ("two payloads in two isolates", &[(0, 0, 0), (1, 0, 1)]),
    ("two payloads in one isolate", &[(0, 0, 0), (0, 0, 1)]),
];

/// Runs each race in every possible order of its calls. If KV could return several versions of a record to a
/// read, tries each of them. Long runs also let each call fail in turn, one call per run.
#[test]
fn no_order_of_creates_that_race_violates_an_invariant() {
    let most_faults = usize::from(number("MINUTES").is_some());
    for (name, racers) in RACES {
        let (random, mut runs) = (Rc::new(Random::every()), 0);
        loop {
            let simulation = Simulation::race(&random, racers, most_faults);
            check(&simulation, name).unwrap_or_else(|violation| panic!("{violation}"));
            runs += 1;
            if !random.next_run() {
                break;
            }
        }
        println!("{name}: {runs} runs, failures in each: {most_faults} at most");
    }
}
