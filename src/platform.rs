//! The clock and the random numbers of JavaScript.

use crate::handle::{Clock, Entropy};
use std::cell::RefCell;
use wasm_bindgen::prelude::wasm_bindgen;

/// Least bytes that are drawn at once, as a call of the platform costs more than they do: those of twenty creates.
const DRAWN_BYTES: usize = 1024;

#[wasm_bindgen]
extern "C" {
    /// Web Crypto: at most 65,536 bytes at a time.
    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues)]
    fn get_random_values(bytes: &mut [u8]);
}

thread_local! {
    /// Random bytes that were drawn and not yet used.
    static UNUSED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// `Date.now` and Web Crypto.
pub struct Platform;

impl Clock for Platform {
    fn now_ms(&self) -> u64 {
        js_sys::Date::now() as u64
    }
}

impl Entropy for Platform {
    fn fill(&self, bytes: &mut [u8]) {
        UNUSED.with_borrow_mut(|unused| {
            if unused.len() < bytes.len() {
                unused.resize(bytes.len().max(DRAWN_BYTES), 0);
                unused.chunks_mut(65_536).for_each(get_random_values);
            }
            let used = unused.drain(unused.len() - bytes.len()..);
            bytes.iter_mut().zip(used).for_each(|(byte, random)| *byte = random);
        });
    }
}
