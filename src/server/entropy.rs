//! Random bytes of the platform's.

use crate::handle::Entropy;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// Web Crypto: at most 65,536 bytes at a time.
    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues)]
    fn get_random_values(bytes: &mut [u8]);
}

pub struct WorkerEntropy;

impl Entropy for WorkerEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.chunks_mut(65_536).for_each(get_random_values);
    }
}
