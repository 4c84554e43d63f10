//! Makes all random decisions. There are two modes: either a seed determines all decisions, or every
//! combination of decisions is tried, one in each run.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng as _, SeedableRng as _};
use impact_pledge::pledges::service::Entropy;
use std::cell::RefCell;

pub struct Random(RefCell<Source>);

enum Source {
    Seed(Box<ChaCha8Rng>),
    Every(Decisions),
}

/// The decisions of one run, each with the number of alternatives that it had.
#[derive(Default)]
struct Decisions {
    list: Vec<(u64, u64)>,
    made: usize,
    is_open: bool,
}

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(RefCell::new(Source::Seed(Box::new(ChaCha8Rng::seed_from_u64(seed)))))
    }

    /// Creates a source of decisions that tries every combination, one in each run. Only decisions made after
    /// a call of [`open`](Self::open) with `true` vary. All other decisions are 0.
    pub fn every() -> Self {
        Random(RefCell::new(Source::Every(Decisions::default())))
    }

    pub fn open(&self, is_open: bool) {
        if let Source::Every(decisions) = &mut *self.0.borrow_mut() {
            decisions.is_open = is_open;
        }
    }

    /// Prepares the run of the next combination; returns `false` if all have been tried.
    pub fn next_run(&self) -> bool {
        let Source::Every(Decisions { list, made, .. }) = &mut *self.0.borrow_mut() else {
            return false;
        };
        *made = 0;
        while let Some((decision, alternatives)) = list.pop() {
            if decision + 1 < alternatives {
                list.push((decision + 1, alternatives));
                return true;
            }
        }
        false
    }

    /// Returns a number below `bound`.
    pub fn below(&self, bound: u64) -> u64 {
        match &mut *self.0.borrow_mut() {
            Source::Seed(generator) => generator.next_u64() % bound,
            Source::Every(Decisions { is_open: false, .. }) => 0,
            Source::Every(Decisions { list, made, .. }) => {
                if *made == list.len() {
                    list.push((0, bound));
                }
                *made += 1;
                list[*made - 1].0
            }
        }
    }

    /// Decides at random whether an event happens, with this probability in 1,000. In the mode that tries all
    /// combinations, both results are tried.
    pub fn chance(&self, per_mille: u64) -> bool {
        let is_seed = matches!(&*self.0.borrow(), Source::Seed(_));
        match is_seed {
            true => self.below(1_000) < per_mille,
            false => per_mille > 0 && self.below(2) == 1,
        }
    }

    pub fn pick<T: Copy>(&self, from: &[T]) -> T {
        from[self.index(from.len())]
    }

    pub fn index(&self, length: usize) -> usize {
        self.below(length as u64) as usize
    }
}

impl Entropy for Random {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill_with(|| self.below(256) as u8);
    }
}
