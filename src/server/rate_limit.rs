//! The rate limit of refused keys.

use super::deadline::within;
use js_sys::{JSON, Promise};
use wasm_bindgen::prelude::{JsCast as _, JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use worker::console_error;

/// How long the platform may take to count, in milliseconds. It counts in its own memory.
const COUNT_MS: u32 = 1_000;

#[wasm_bindgen]
extern "C" {
    /// A rate limit of the platform's: `worker::RateLimiter` takes its key by serde.
    pub type RateLimit;
    #[wasm_bindgen(method, catch)]
    fn limit(this: &RateLimit, what: &JsValue) -> Result<Promise, JsValue>;

    type Count;
    #[wasm_bindgen(method, getter)]
    fn success(this: &Count) -> bool;
}

impl RateLimit {
    /// Counts this network once more, and returns whether that is over the limit. It is not where
    /// the platform does not answer: a limit that fails must not keep shops out.
    pub async fn is_over(&self, network: &str) -> bool {
        match self.count(network).await {
            Ok(count) => !count.unchecked_into::<Count>().success(),
            Err(_) => {
                console_error!(r#"{{"rateLimit":"REFUSED_KEYS","cause":"no answer"}}"#);
                false
            }
        }
    }

    async fn count(&self, network: &str) -> Result<JsValue, JsValue> {
        let what = JSON::parse(&format!(r#"{{"key":"{network}"}}"#))?; // digits
        let count = self.limit(&what)?;
        JsFuture::from(within(&count, COUNT_MS)).await
    }
}
