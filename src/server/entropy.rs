//! Random bytes of the platform's.

use crate::handle::Entropy;
use std::cell::RefCell;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues)]
    fn get_random_values(bytes: &mut [u8]);
}

/// Bytes drawn at a time: one call per id would be a quarter of a create of 100 pledges.
const POOL_BYTES: usize = 2_048;

thread_local! {
    /// Empty at first: the platform gives no random bytes before there is a request. A new instance
    /// of the module has memory of its own, and so a pool of its own.
    static POOL: RefCell<Pool> = const { RefCell::new(Pool { bytes: [0; POOL_BYTES], left: 0 }) };
}

struct Pool {
    bytes: [u8; POOL_BYTES],
    /// How many at the front were not handed out yet.
    left: usize,
}

impl Pool {
    /// Takes bytes off the end of those that are left; nothing of them stays here.
    fn take(&mut self, bytes: &mut [u8]) {
        if self.left < bytes.len() {
            get_random_values(&mut self.bytes);
            self.left = POOL_BYTES;
        }
        let rest = self.left.saturating_sub(bytes.len());
        let drawn = self.bytes.get_mut(rest..self.left).unwrap_or_default();
        bytes.copy_from_slice(drawn);
        drawn.fill(0);
        self.left = rest;
    }
}

pub struct WorkerEntropy;

impl Entropy for WorkerEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        POOL.with_borrow_mut(|pool| {
            bytes.chunks_mut(POOL_BYTES).for_each(|piece| pool.take(piece));
        });
    }
}
