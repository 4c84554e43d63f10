//! The rate limit on refused API keys.

use super::deadline::within;
use super::json::log_error;
use js_sys::{JSON, Promise};
use wasm_bindgen::prelude::{JsCast as _, JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;

/// Deadline for the platform to count one refused key, in milliseconds. The platform counts in memory, so it
/// normally answers quickly.
const COUNT_MS: u32 = 1_000;

#[wasm_bindgen]
extern "C" {
    /// A rate limit of the platform. It replaces `worker::RateLimiter`, which converts its key with serde.
    pub type RateLimit;
    #[wasm_bindgen(method, catch)]
    fn limit(this: &RateLimit, options: &JsValue) -> Result<Promise, JsValue>;

    type Count;
    #[wasm_bindgen(method, catch, getter)]
    fn success(this: &Count) -> Result<JsValue, JsValue>;
}

impl RateLimit {
    /// Counts a refused API key of this network, and returns whether the network is over the limit. Returns `false` if
    /// the platform does not answer or has no such limit: a failing rate limit must not lock shops out.
    pub async fn is_over(&self, network: &str) -> bool {
        match self.count(network).await {
            Ok(count) => count.unchecked_into::<Count>().success() == Ok(JsValue::FALSE),
            Err(_) => {
                log_error(&[("rateLimit", "REFUSED_KEYS"), ("cause", "no answer")]);
                false
            }
        }
    }

    async fn count(&self, network: &str) -> Result<JsValue, JsValue> {
        let options = JSON::parse(&format!(r#"{{"key":"{network}"}}"#))?; // the name has only hexadecimal digits
        let count = self.limit(&options)?;
        JsFuture::from(within(&count, COUNT_MS)).await
    }
}
