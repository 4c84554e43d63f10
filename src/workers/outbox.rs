//! A queue of the platform as the outbox of the service.

use super::deadline::within;
use super::json::to_js;
use super::kv::describe;
use crate::handle::{Message, Outbox, Putting};
use crate::notify::DELAY_SECONDS;
use js_sys::Promise;
use serde::Serialize;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use worker::console_error;

/// Deadline of the queue, in milliseconds. A message that takes longer may be in it.
const PUT_MS: u32 = 2_000;

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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SendOptions {
    content_type: &'static str,
    delay_seconds: u32,
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

    async fn try_to_put(&self, message: &Message) -> Result<(), JsValue> {
        let options = SendOptions { content_type: "json", delay_seconds: self.delay_seconds };
        let sent = self.queue.send(&to_js(message)?, &to_js(&options)?)?;
        JsFuture::from(within(&sent, PUT_MS)).await?;
        Ok(())
    }
}

impl Outbox for DelayedQueue {
    fn put<'m>(&'m self, message: &'m Message) -> Putting<'m> {
        Box::pin(async {
            let Err(error) = self.try_to_put(message).await else { return true };
            let cause = match error.is_undefined() {
                true => format!("no answer in {PUT_MS} ms"),
                false => describe(&error), // of a message without personal data
            };
            let line = Failure { queue: "NOTIFICATIONS", cause: &cause };
            console_error!("{}", serde_json::to_string(&line).unwrap_or_default()); // it cannot fail
            false
        })
    }
}
