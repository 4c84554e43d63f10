//! Queues of the platform, and one as the outbox of the service.

use super::deadline::within;
use super::json::to_js;
use super::kv::failure;
use crate::handle::{Message, Outbox, Putting};
use crate::notify::DELAY_SECONDS;
use js_sys::Promise;
use serde::Serialize;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use worker::console_error;

/// Deadline of a queue, in milliseconds. A message that takes longer may be in it.
pub const PUT_MS: u32 = 2_000;

#[wasm_bindgen]
extern "C" {
    /// A queue. `worker::Queue` takes its messages by serde, too, and has no deadline.
    #[derive(Clone)]
    pub type Queue;
    #[wasm_bindgen(method, catch)]
    fn send(this: &Queue, message: &JsValue, options: &JsValue) -> Result<Promise, JsValue>;
}

/// A queue that delivers after so many seconds.
pub struct DelayedQueue {
    queue: Queue,
    delay_seconds: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SendOptions {
    content_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay_seconds: Option<u32>,
}

/// The log line of a message that is not in the queue.
#[derive(Serialize)]
struct Failure<'a> {
    queue: &'a str,
    cause: &'a str,
}

impl DelayedQueue {
    /// Takes a queue, and the text of `MAIL_DELAY_SECONDS`.
    pub fn new(queue: Queue, delay_seconds: Option<&str>) -> Self {
        let delay_seconds = delay_seconds.and_then(|text| text.trim().parse().ok());
        DelayedQueue { queue, delay_seconds: delay_seconds.unwrap_or(DELAY_SECONDS) }
    }
}

impl Outbox for DelayedQueue {
    fn put<'m>(&'m self, message: &'m Message) -> Putting<'m> {
        Box::pin(put(&self.queue, "NOTIFICATIONS", to_js(message), Some(self.delay_seconds)))
    }
}

/// Puts a message into a queue. Returns whether it is there, after 2 seconds at the latest, and logs why it
/// is not, by the name of the binding.
pub async fn put(
    queue: &Queue,
    binding: &str,
    message: Result<JsValue, JsValue>,
    delay_seconds: Option<u32>,
) -> bool {
    let Err(error) = try_to_put(queue, message, delay_seconds).await else { return true };
    log_failure(binding, &failure(&error, PUT_MS)); // of a message without personal data
    false
}

async fn try_to_put(
    queue: &Queue,
    message: Result<JsValue, JsValue>,
    delay_seconds: Option<u32>,
) -> Result<(), JsValue> {
    let options = SendOptions { content_type: "json", delay_seconds };
    let sent = queue.send(&message?, &to_js(&options)?)?;
    JsFuture::from(within(&sent, PUT_MS)).await?;
    Ok(())
}

/// Logs why a message is not in the queue.
pub fn log_failure(binding: &str, cause: &str) {
    let line = Failure { queue: binding, cause };
    console_error!("{}", serde_json::to_string(&line).unwrap_or_default()); // it cannot fail
}
