//! The notification queue on Cloudflare Workers.

use super::deadline::{failure, within};
use super::json::to_js;
use super::queue::{PUT_MS, Queue, log_failure};
use crate::buyer::delivery::DELAY_SECONDS;
use crate::pledges::service::{Message, Outbox, PutFuture};
use js_sys::JSON;
use wasm_bindgen::prelude::JsValue;
use wasm_bindgen_futures::JsFuture;

/// A queue that delivers each message after a delay.
pub struct DelayedQueue {
    queue: Queue,
    delay_seconds: u32,
}

impl DelayedQueue {
    /// Makes the queue. The delay is the number in the variable `MAIL_DELAY_SECONDS`, or [`DELAY_SECONDS`] if
    /// the variable is not a number.
    pub fn new(queue: Queue, delay_seconds: Option<&str>) -> Self {
        let delay_seconds = delay_seconds.and_then(|text| text.trim().parse().ok());
        DelayedQueue { queue, delay_seconds: delay_seconds.unwrap_or(DELAY_SECONDS) }
    }
}

impl Outbox for DelayedQueue {
    fn put<'m>(&'m self, message: &'m Message) -> PutFuture<'m> {
        Box::pin(put(&self.queue, to_js(message), self.delay_seconds))
    }
}

/// Puts a message into the queue. Returns true if the queue took the message within 2 seconds. Otherwise,
/// logs the cause.
async fn put(queue: &Queue, message: Result<JsValue, JsValue>, delay_seconds: u32) -> bool {
    let Err(error) = try_to_put(queue, message, delay_seconds).await else { return true };
    log_failure("NOTIFICATIONS", &failure(&error, PUT_MS)); // the message has no personal data
    false
}

async fn try_to_put(
    queue: &Queue,
    message: Result<JsValue, JsValue>,
    delay_seconds: u32,
) -> Result<(), JsValue> {
    let options = format!(r#"{{"contentType":"json","delaySeconds":{delay_seconds}}}"#);
    let sent = queue.send(&message?, &JSON::parse(&options)?)?;
    JsFuture::from(within(&sent, PUT_MS)).await?;
    Ok(())
}
