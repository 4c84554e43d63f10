use super::json::{log_error, to_js};
use js_sys::Promise;
use serde::Serialize;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// Deadline for putting a message into a queue, in milliseconds. After this deadline, the message may
/// nevertheless have been queued.
pub const PUT_MS: u32 = 2_000;

#[wasm_bindgen]
extern "C" {
    /// A queue. Used instead of `worker::Queue`, which has no deadline and also converts messages with serde.
    pub type Queue;
    #[wasm_bindgen(method, catch)]
    pub fn send(this: &Queue, message: &JsValue, options: &JsValue) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, catch, js_name = sendBatch)]
    pub fn send_batch(this: &Queue, messages: &JsValue) -> Result<Promise, JsValue>;

    /// One delivery of a message of a queue.
    pub type QueueMessage;
    #[wasm_bindgen(method, getter)]
    pub fn body(this: &QueueMessage) -> JsValue;
    /// The number of this delivery, starting at 1.
    #[wasm_bindgen(method, getter)]
    pub fn attempts(this: &QueueMessage) -> u32;
    /// Removes the message from the queue.
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
    /// Makes the queue deliver the message again after this many seconds.
    pub fn retry(&self, delay_seconds: u32) {
        self.retry_by(&to_js(&RetryOptions { delay_seconds }).unwrap_or_default());
    }
}

/// Logs why a message did not reach the queue of this binding.
pub fn log_failure(binding: &str, cause: &str) {
    log_error(&[("queue", binding), ("cause", cause)]);
}
