//! The clock and the random numbers of JavaScript.

use crate::handle::{Clock, Entropy};
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// Web Crypto: at most 65,536 bytes at a time.
    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues)]
    fn get_random_values(bytes: &mut [u8]);
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
        bytes.chunks_mut(65_536).for_each(get_random_values);
    }
}
