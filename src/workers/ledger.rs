//! A queue of the platform as the ledger's: its messages are sent while the answer is, and after it.

use super::call::Call;
use super::json::to_js;
use super::kv::KvStore;
use super::outbox::{PUT_MS, Queue, log_failure, put};
use super::slots::Slots;
use crate::handle::{LedgerQueue, put_or_mark};
use crate::store::Recorded;
use wasm_bindgen::prelude::JsValue;
use wasm_bindgen_futures::future_to_promise;

/// The name of its binding.
const BINDING: &str = "LEDGER";
/// Most messages that are being sent at once: an isolate has as many per millisecond only if the queue hangs,
/// and each has up to 100 KB.
const MAX_SENDING: usize = 128;

thread_local! {
    static SENDING: Slots = const { Slots::new(MAX_SENDING, PUT_MS) };
}

/// The queue, with what outlives the request.
pub struct BackgroundQueue<'c> {
    /// The queue.
    pub queue: Queue,
    /// Keeps the marks of messages that the queue does not take.
    pub store: &'c KvStore,
    /// Makes the platform go on after the answer.
    pub call: &'c Call,
}

impl LedgerQueue for BackgroundQueue<'_> {
    fn send(&self, message: Recorded) {
        let (queue, store) = (self.queue.clone(), self.store.clone());
        let json = to_js(&message); // of wasm's memory only the ID is held meanwhile
        let id = message.id;
        let sent = future_to_promise(async move {
            put_or_mark(&store, &id, Box::pin(put_within_bounds(&queue, json))).await;
            Ok(JsValue::UNDEFINED)
        });
        let _ = self.call.wait_until(&sent); // it throws for a request that has ended
    }
}

async fn put_within_bounds(queue: &Queue, message: Result<JsValue, JsValue>) -> bool {
    let Some(slot) = SENDING.with(Slots::take) else {
        log_failure(BINDING, "too many messages are being sent");
        return false;
    };
    let is_put = put(queue, BINDING, message, None).await;
    SENDING.with(|sending| sending.free(slot));
    is_put
}
