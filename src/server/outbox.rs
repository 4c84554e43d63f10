//! A queue of the platform as the outbox of the service.

use super::deadline::within;
use crate::handle::{Message, Outbox, Putting};
use js_sys::Promise;
use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use worker::console_error;

/// Deadline of the queue, in milliseconds. A message that takes longer may be in it.
const PUT_MS: u32 = 2_000;

/// Seconds until a message is delivered: until then Workers KV usually shows the record everywhere.
const DELAY_SECONDS: u32 = 60;

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

impl DelayedQueue {
    /// Takes a queue, and the text of `MAIL_DELAY_SECONDS`.
    pub fn new(queue: Queue, delay_seconds: Option<&str>) -> Self {
        let delay_seconds = delay_seconds.and_then(|text| text.trim().parse().ok());
        DelayedQueue { queue, delay_seconds: delay_seconds.unwrap_or(DELAY_SECONDS) }
    }

    async fn try_to_put(&self, message: &Message) -> Result<(), JsValue> {
        let serializer = Serializer::json_compatible();
        let options = SendOptions { content_type: "json", delay_seconds: self.delay_seconds };
        let (message, options) = (message.serialize(&serializer)?, options.serialize(&serializer)?);
        JsFuture::from(within(&self.queue.send(&message, &options)?, PUT_MS)).await?;
        Ok(())
    }
}

impl Outbox for DelayedQueue {
    fn put<'m>(&'m self, message: &'m Message) -> Putting<'m> {
        Box::pin(async {
            let put = self.try_to_put(message).await;
            if put.is_err() {
                console_error!(r#"{{"queue":"NOTIFICATIONS","cause":"no answer"}}"#);
            }
            put.is_ok()
        })
    }
}
