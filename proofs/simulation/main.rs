//! The service over a Workers KV that is eventually consistent and fails, with everything that is
//! not determined decided by a seed.
//!
//! `SEED=7 cargo test --test simulation` plays one seed again; `npm run simulate -- --minutes 10`
//! plays new ones. With `RECORD` set, each is printed for `replay.mjs`, which plays it on the Worker's wasm.

#![expect(clippy::indexing_slicing, reason = "a test that meets the unexpected should panic")]
#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected should panic")]
#![expect(clippy::panic, reason = "a violation is shown with its seed and its trace")]

mod executor;
mod invariants;
mod isolate;
mod kv;
mod payload;
mod planted;
mod random;
mod recording;
mod schedules;
mod simulation;
mod trace;

use kv::{FAULT_KINDS, Fault};
use planted::{BUGS, Bug};
use schedules::Enumeration;
use simulation::Simulation;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How many seeds `cargo test` plays.
const SEEDS: u64 = 100;
/// How many seeds are tried when a planted bug is no longer found by its own.
const SEEDS_PER_BUG: u64 = 300;

/// The sums over all seeds.
#[derive(Default)]
struct Tally {
    seeds: u64,
    requests: usize,
    faults: BTreeMap<Fault, usize>,
    statuses: BTreeMap<u16, usize>,
}

impl Tally {
    fn add(&mut self, simulation: &Simulation) {
        self.seeds += 1;
        self.requests += simulation.exchanges.borrow().len();
        simulation
            .faults()
            .into_iter()
            .for_each(|fault| *self.faults.entry(fault).or_default() += 1);
        for answer in simulation.exchanges.borrow().iter().filter_map(|one| one.answer.as_ref()) {
            *self.statuses.entry(answer.status).or_default() += 1;
        }
    }

    fn show(&self, started: Instant) {
        let an_hour = self.requests as f64 / started.elapsed().as_secs_f64() * 3_600.0;
        let Tally { seeds, requests, .. } = self;
        let faults: usize = self.faults.values().sum();
        println!("{seeds} seeds, {requests} requests ({an_hour:.0} an hour), {faults} faults");
    }
}

/// Plays a seed; the first violation comes with its trace.
fn play(seed: u64, bug: Option<Bug>) -> Result<Simulation, String> {
    let simulation = Simulation::run(seed, bug, records());
    let verdict = invariants::check(&simulation);
    verdict.map_err(|violation| {
        let trace = trace::trace(&simulation, violation.exchange);
        let request = violation.exchange.map(|number| format!(" in #{number}")).unwrap_or_default();
        let invariant = violation.invariant;
        format!("seed {seed}: \"{invariant}\" is violated{request}: {}\n{trace}", violation.text)
    })?;
    Ok(simulation)
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("`{variable}` must be a number, not `{text}`")))
}

/// Whether seeds are to be printed, each as a line of JSON.
fn records() -> bool {
    std::env::var_os("RECORD").is_some()
}

/// Plays the one seed of `SEED`, or new ones from `FROM` on for `MINUTES`, or the first `SEEDS`.
#[test]
fn no_seed_violates_an_invariant() {
    let (from, started) = (number("FROM").unwrap_or_default(), Instant::now());
    let minutes = number("MINUTES").map(|minutes| Duration::from_secs(60 * minutes));
    let seeds = match (number("SEED"), minutes) {
        (Some(seed), _) => seed..seed + 1,
        (None, Some(_)) => from..u64::MAX,
        (None, None) => from..from + number("SEEDS").unwrap_or(SEEDS),
    };
    let (mut tally, mut shown) = (Tally::default(), started);
    for seed in seeds {
        let simulation = play(seed, None).unwrap_or_else(|failure| panic!("{failure}"));
        tally.add(&simulation);
        if records() {
            println!("{}", simulation.recording.line(seed));
        }
        if minutes.is_some() && shown.elapsed() > Duration::from_secs(5) {
            shown = Instant::now();
            tally.show(started);
        }
        if minutes.is_some_and(|minutes| started.elapsed() >= minutes) {
            break;
        }
    }
    tally.show(started);
    println!("faults: {:?}; answers: {:?}", tally.faults, tally.statuses);
    if tally.seeds >= SEEDS {
        assert_eq!(tally.faults.len(), FAULT_KINDS, "a fault that does not happen proves nothing");
        assert!(
            tally.statuses.keys().eq(&[200, 400, 401, 404, 422, 500, 503]),
            "the same of answers"
        );
    }
}

#[test]
fn a_seed_decides_everything() {
    for seed in 0..3 {
        let [one, other] = [false, true].map(|records| Simulation::run(seed, None, records));
        assert!(trace::trace(&one, None) == trace::trace(&other, None), "seed {seed}");
    }
}

#[test]
fn planted_bugs_are_found() {
    let finds = |seed: u64, bug: Bug| play(seed, Some(bug)).is_err();
    let missed = BUGS.iter().filter(|(bug, seed)| !finds(*seed, *bug));
    let first = |bug: Bug| (0..SEEDS_PER_BUG).find(|seed| finds(*seed, bug));
    let missed: Vec<_> = missed.map(|(bug, _)| (bug, first(*bug))).collect();
    assert!(missed.is_empty(), "not found by their seeds, but by these first: {missed:?}");
}

/// The API key takes no part: the schedules of two keys come to the same as those of one.
#[test]
fn no_schedule_of_creates_violates_an_invariant() {
    let expected = Enumeration {
        schedules: 1_922_850,
        states: 17_482,
        executions: 4_018,
        ends: 5_182,
        split_ends: 970,
    };
    for creations in [schedules::ONE_KEY, schedules::TWO_KEYS] {
        assert_eq!(
            schedules::enumerate(creations),
            expected,
            "check the new counts, then set them"
        );
    }
}
