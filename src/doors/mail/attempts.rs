//! Attempts to send something to a mail service or an adapter: the waits between them, and their errors.

use crate::buyer::delivery::{SendError, wait_seconds};
use crate::doors::cloudflare::deadline::pause;
use crate::doors::platform::Platform;
use crate::pledges::retry::RetryAfter;
use crate::pledges::service::Clock as _;
use js_sys::Promise;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use web_sys::Response;

/// The longest wait between two attempts of a delivery, in seconds. If the answer asks for a longer wait, the
/// delivery ends.
const MAX_PAUSE_SECONDS: u32 = 10;
/// Maximum number of waits within a delivery.
const MAX_PAUSES: u32 = 3;
/// Milliseconds after the start of a delivery until which a wait may begin. The last wait (10 s)
/// and the timeouts of one more attempt (20 s) can follow, so a delivery takes at most 45 s. The
/// duration of claims in `buyer::delivery` depends on this.
const PATIENCE_MS: u64 = 15_000;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch)]
    pub fn fetch(request: &web_sys::Request) -> Result<Promise, JsValue>;
}

/// Attempts to send a notification. If the answer asks for a wait of a few seconds, waits and retries. These
/// retries are part of the same delivery, so that a burst of notifications uses up no delivery attempts.
pub async fn patiently<T>(attempt: impl AsyncFn() -> Result<T, SendError>) -> Result<T, SendError> {
    let until_ms = Platform.now_ms() + PATIENCE_MS;
    for _ in 0..MAX_PAUSES {
        match attempt().await {
            Err(SendError::Temporary { after: Some(seconds), .. })
                if seconds <= MAX_PAUSE_SECONDS && Platform.now_ms() < until_ms =>
            {
                pause(seconds.max(1) * 1_000).await;
            }
            outcome => return outcome,
        }
    }
    attempt().await
}

/// Returns how long a response asks to wait, in seconds; `None` if it does not ask.
pub fn wait_of(response: &Response) -> Option<u32> {
    let header = |name| response.headers().get(name).ok().flatten();
    let (text, date) = (header("retry-after")?, header("date"));
    wait_seconds(Some(RetryAfter { text: &text, date: date.as_deref() }), Platform.now_ms())
}

/// Returns a temporary error with a code that this service defines, and without a time to wait.
pub fn temporary(code: &str) -> SendError {
    SendError::Temporary { code: code.to_owned(), after: None }
}
