//! Random numbers that a seed determines.

use std::cell::Cell;

pub struct Random(Cell<u64>);

impl Random {
    pub fn of(seed: u64) -> Self {
        Random(Cell::new(seed))
    }

    /// Returns a number below `end`, by SplitMix64.
    pub fn below(&self, end: usize) -> usize {
        self.0.set(self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15));
        let mut mixed = self.0.get();
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).unwrap()
    }
}
