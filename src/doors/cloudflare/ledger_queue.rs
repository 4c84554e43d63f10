//! The ledger's queue on Cloudflare Workers. Messages are sent in the background, so that the answer does not
//! wait for them.

use super::call::Call;
use super::deadline::failure;
use super::kv::KvStore;
use super::queue::{PUT_MS, Queue, log_failure};
use super::slots::Slots;
use crate::pledges::service::{LedgerQueue, ReceivedMessage, mark_unsent};
use crate::pledges::store::{ReceivedKey, Recorded};
use crate::pledges::types::TransactionId;
use js_sys::Promise;
use wasm_bindgen::prelude::{Closure, JsValue, wasm_bindgen};
use wasm_bindgen_futures::future_to_promise;

const BINDING: &str = "LEDGER";
/// At most this many messages are being sent at the same time. Each has up to 100 KB. An isolate reaches this
/// number only if the queue does not answer.
const MAX_SENDING: usize = 128;

#[wasm_bindgen(module = "/src/doors/cloudflare/put.js")]
extern "C" {
    /// Puts a text into a queue, and then calls `end`. The first argument of `end` is whether the queue
    /// accepted the text in time. The second is the error, if there is one. The returned promise resolves to
    /// the result of `end`.
    fn put(queue: &Queue, text: &str, milliseconds: u32, end: &JsValue) -> Promise;
}

thread_local! {
    static SENDING: Slots = const { Slots::new(MAX_SENDING, PUT_MS) };
}

/// The ledger's queue, and the objects that are needed to send messages after the answer.
pub struct BackgroundQueue<'c> {
    pub queue: Queue,
    /// The store, in which transactions are marked if the queue does not accept their messages.
    pub store: &'c KvStore,
    /// The request's context, which keeps the platform running after the answer is sent.
    pub call: &'c Call,
}

impl LedgerQueue for BackgroundQueue<'_> {
    fn send(&self, message: Recorded) {
        let text = serde_json::to_string(&message).unwrap_or_default(); // never fails
        let unsent = Unsent::Transaction(self.store.clone(), message.id);
        self.put(&text, unsent);
    }

    fn send_received(&self, received: &ReceivedKey) {
        let message = ReceivedMessage { received: received.id() };
        self.put(&serde_json::to_string(&message).unwrap_or_default(), Unsent::Received);
    }
}

impl BackgroundQueue<'_> {
    fn put(&self, text: &str, unsent: Unsent) {
        let sent = match SENDING.with(Slots::take) {
            Some(slot) => {
                let end = Closure::once_into_js(move |is_put: bool, error: JsValue| {
                    SENDING.with(|sending| sending.free(slot));
                    if is_put {
                        JsValue::UNDEFINED
                    } else {
                        unsent.mark(&failure(&error, PUT_MS)).into()
                    }
                });
                put(&self.queue, text, PUT_MS, &end)
            }
            None => unsent.mark("too many messages are being sent"),
        };
        self.call.wait_until(&sent);
    }
}

/// What a message that might not reach the queue is about.
enum Unsent {
    Transaction(KvStore, TransactionId),
    /// An order of a shop system. The office finds it without a mark.
    Received,
}

impl Unsent {
    /// Logs the cause, and marks the transaction.
    fn mark(self, cause: &str) -> Promise {
        log_failure(BINDING, cause);
        future_to_promise(async move {
            if let Unsent::Transaction(store, id) = self {
                mark_unsent(&store, &id).await;
            }
            Ok(JsValue::UNDEFINED)
        })
    }
}
