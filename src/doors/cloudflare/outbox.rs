//! The notification queue on Cloudflare Workers.

use super::deadline::{failure, within};
use super::json::to_js;
use super::queue::{PUT_MS, Queue, log_failure};
use crate::buyer::delivery::DELAY_SECONDS;
use crate::pledges::service::{Message, Outbox, PutFuture};
use js_sys::JSON;
use serde::Serialize;
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

    fn put_all<'m>(&'m self, messages: &'m [Message]) -> PutFuture<'m> {
        Box::pin(async move { logged(self.try_to_put_all(messages).await) })
    }
}

impl DelayedQueue {
    async fn try_to_put_all(&self, messages: &[Message]) -> Result<(), JsValue> {
        let Self { queue, delay_seconds } = self;
        let batched =
            |body| BatchedMessage { body, content_type: "json", delay_seconds: *delay_seconds };
        let batch: Vec<_> = messages.iter().map(batched).collect();
        let sent = queue.send_batch(&to_js(&batch)?)?;
        JsFuture::from(within(&sent, PUT_MS)).await?;
        Ok(())
    }
}

/// A message of a batch.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BatchedMessage<'m> {
    body: &'m Message,
    content_type: &'static str,
    delay_seconds: u32,
}

/// Puts a message into the queue. Returns true if the queue took the message within 2 seconds. Otherwise,
/// logs the cause.
async fn put(queue: &Queue, message: Result<JsValue, JsValue>, delay_seconds: u32) -> bool {
    logged(try_to_put(queue, message, delay_seconds).await)
}

/// Returns whether the queue accepted messages. If not, logs the cause.
fn logged(put: Result<(), JsValue>) -> bool {
    let Err(error) = put else { return true };
    log_failure("NOTIFICATIONS", &failure(&error, PUT_MS)); // messages have no personal data
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
