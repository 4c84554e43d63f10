//! Randomness that a seed decides.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng as _, SeedableRng as _};
use impact_pledge::handle::Entropy;
use std::cell::RefCell;

pub struct Random(RefCell<ChaCha8Rng>);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(RefCell::new(ChaCha8Rng::seed_from_u64(seed)))
    }

    /// A number below `bound`.
    pub fn below(&self, bound: u64) -> u64 {
        self.0.borrow_mut().next_u64() % bound
    }

    pub fn chance(&self, per_mille: u64) -> bool {
        self.below(1_000) < per_mille
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
        self.0.borrow_mut().fill_bytes(bytes);
    }
}
