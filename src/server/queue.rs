//! The consumer of the queue: one message becomes one e-mail.

use super::kv::KvStore;
use super::mail::{MailService, Post, SendEmail};
use super::Bindings;
use crate::notify::{MailSettings, Message, Notifier, Outcome};
use crate::platform::Platform;
use js_sys::Array;
use serde::Serialize;
use wasm_bindgen::prelude::{JsCast as _, JsValue, wasm_bindgen};
use worker::console_log;

/// The name of a dead letter queue ends like this: its messages were delivered in vain for the last
/// time.
const DEAD: &str = "-dead";

#[wasm_bindgen]
extern "C" {
    /// A batch of messages, of one: with more, a message that breaks the instance would make its
    /// neighbours be sent again.
    pub type Batch;
    #[wasm_bindgen(method, getter)]
    fn queue(this: &Batch) -> String;
    #[wasm_bindgen(method, getter)]
    fn messages(this: &Batch) -> Array;

    type QueueMessage;
    #[wasm_bindgen(method, getter)]
    fn body(this: &QueueMessage) -> JsValue;
    #[wasm_bindgen(method, getter)]
    fn attempts(this: &QueueMessage) -> u32;
    #[wasm_bindgen(method)]
    fn ack(this: &QueueMessage);
    #[wasm_bindgen(method)]
    fn retry(this: &QueueMessage, options: &JsValue);
}

/// Consumes a batch. It never fails: a message that cannot be read is of no use a second time.
#[wasm_bindgen(js_name = queue)]
pub async fn consume(batch: Batch, bindings: Bindings) {
    let is_dead = batch.queue().ends_with(DEAD);
    for message in batch.messages().iter() {
        let message: QueueMessage = message.unchecked_into();
        let attempt = message.attempts();
        let outcome = match serde_wasm_bindgen::from_value(message.body()) {
            Ok(body) => deliver(&bindings, &body, attempt, is_dead).await,
            Err(_) => Outcome::Done("not a message of this service".to_owned()),
        };
        match outcome {
            Outcome::Done(_) => message.ack(),
            Outcome::Later { seconds, .. } => message.retry(&delay(seconds)),
        }
    }
}

async fn deliver(bindings: &Bindings, message: &Message, attempt: u32, is_dead: bool) -> Outcome {
    let settings = MailSettings {
        has_origin: bindings.public_origin().is_some_and(|origin| !origin.trim().is_empty()),
        test_to: bindings.mail_test_to().filter(|address| !address.is_empty()),
    };
    let store = KvStore(bindings.pledges());
    let mailer = Post { service: service(bindings), from: bindings.mail_from().unwrap_or_default() };
    let notifier = Notifier { store: &store, mailer: &mailer, clock: &Platform, settings: &settings };
    let outcome = if is_dead {
        notifier.bury(message).await
    } else {
        notifier.deliver(message, attempt).await
    };
    log(message, attempt, &outcome);
    outcome
}
