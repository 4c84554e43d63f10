//! Queues of the platform, and one as the outbox of the service.

use super::deadline::within;
use super::json::{log_error, to_js};
use super::kv::failure;
use crate::handle::{Message, Outbox, Putting};
use crate::notify::DELAY_SECONDS;
use js_sys::{JSON, Promise};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;

/// Deadline of a queue, in milliseconds. A message that takes longer may be in it.
pub const PUT_MS: u32 = 2_000;

#[wasm_bindgen]
extern "C" {
    /// A queue. `worker::Queue` takes its messages by serde, too, and has no deadline.
    pub type Queue;
    #[wasm_bindgen(method, catch)]
    fn send(this: &Queue, message: &JsValue, options: &JsValue) -> Result<Promise, JsValue>;
}

/// A queue that delivers after so many seconds.
pub struct DelayedQueue {
    queue: Queue,
    delay_seconds: u32,
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
        Box::pin(put(&self.queue, to_js(message), self.delay_seconds))
    }
}

/// Puts a message into the queue. Returns whether it is there, after 2 seconds at the latest, and logs why it
/// is not.
async fn put(queue: &Queue, message: Result<JsValue, JsValue>, delay_seconds: u32) -> bool {
    let Err(error) = try_to_put(queue, message, delay_seconds).await else { return true };
    log_failure("NOTIFICATIONS", &failure(&error, PUT_MS)); // of a message without personal data
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

/// Logs why a message is not in the queue of this binding.
pub fn log_failure(binding: &str, cause: &str) {
    log_error(&[("queue", binding), ("cause", cause)]);
}
