//! Queues of the platform.

use super::json::{log_error, to_js};
use js_sys::Promise;
use serde::Serialize;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// Deadline of a queue, in milliseconds. A message that takes longer may be in it.
pub const PUT_MS: u32 = 2_000;

#[wasm_bindgen]
extern "C" {
    /// A queue. `worker::Queue` takes its messages by serde, too, and has no deadline.
    pub type Queue;
    /// Puts a message into the queue.
    #[wasm_bindgen(method, catch)]
    pub fn send(this: &Queue, message: &JsValue, options: &JsValue) -> Result<Promise, JsValue>;

    /// A message of a queue, at one delivery.
    pub type QueueMessage;
    /// What was put into the queue.
    #[wasm_bindgen(method, getter)]
    pub fn body(this: &QueueMessage) -> JsValue;
    /// The number of this delivery, from 1.
    #[wasm_bindgen(method, getter)]
    pub fn attempts(this: &QueueMessage) -> u32;
    /// Takes the message out of the queue.
    #[wasm_bindgen(method)]
    pub fn ack(this: &QueueMessage);
    #[wasm_bindgen(method, js_name = retry)]
    fn retry_by(this: &QueueMessage, options: &JsValue);
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RetryOptions {
    delay_seconds: u32,
}

impl QueueMessage {
    /// Has the message delivered again after so many seconds.
    pub fn retry(&self, delay_seconds: u32) {
        self.retry_by(&to_js(&RetryOptions { delay_seconds }).unwrap_or_default());
    }
}

/// Logs why a message is not in the queue of this binding.
pub fn log_failure(binding: &str, cause: &str) {
    log_error(&[("queue", binding), ("cause", cause)]);
}
