//! The consumer of the ledger's queue. It writes a row for each message about a transaction, and pledges the order of each
//! message about an order.

use super::DashboardBindings;
use super::d1::D1Ledger;
use super::intake::{ServiceApi, intake};
use crate::doors::cloudflare::slots::Slots;
use crate::doors::cloudflare::{KvStore, QueueMessage};
use crate::doors::platform::Platform;
use crate::office::system::rows::receive;
use crate::office::system::rows::receive::{Delivered, Verdict};
use crate::pledges::service::{Clock as _, ReceivedMessage};
use futures_util::stream;
use futures_util::stream::StreamExt as _;
use js_sys::Array;
use serde::{Deserialize as _, Serialize};
use std::{mem, slice};
use wasm_bindgen::prelude::{JsCast as _, wasm_bindgen};
use worker::console_log;

/// Maximum size of the messages that are written together: 256 KiB. Writing them takes up to 6 MiB of
/// memory. A batch of the queue may have 12 MB, so it is written in several groups.
const MAX_PART_BYTES: usize = 256 * 1024;
/// Maximum number of message groups that an isolate writes at once. `PART_MS` is how long a group may occupy
/// its slot, in milliseconds. These groups do not count towards the memory limit for pages.
const MAX_PARTS: usize = 2;
const PART_MS: u32 = 120_000;
/// Delay in seconds before a message is delivered again if all slots are occupied. `UNBOUND_SECONDS` is the
/// delay if no database is bound: an hour.
const BUSY_SECONDS: u32 = 5;
const UNBOUND_SECONDS: u32 = 3_600;

#[wasm_bindgen]
extern "C" {
    pub type Batch;
    #[wasm_bindgen(method, getter)]
    fn messages(this: &Batch) -> Array;
}

thread_local! {
    static PARTS: Slots = const { Slots::new(MAX_PARTS, PART_MS) };
}

#[derive(Serialize)]
struct BatchLog<'a> {
    ledger: &'a str,
    messages: usize,
    /// Number of messages that are delivered again.
    again: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'a str>,
    ms: u64,
}

/// Consumes a batch of the ledger's queue. It never fails: messages that cannot be written now are delivered again.
#[wasm_bindgen(js_name = queue)]
pub async fn receive(batch: Batch, bindings: DashboardBindings) {
    let messages: Vec<QueueMessage> =
        batch.messages().iter().map(|message| message.unchecked_into()).collect();
    let (count, began_ms) = (messages.len(), Platform.now_ms());
    let (again, cause) = match bindings.database() {
        Some(ledger) => (receive_all(&ledger, &bindings, messages).await, None),
        None => (put_back(&messages, UNBOUND_SECONDS), Some("no database is bound as LEDGER_DB")),
    };
    let ms = Platform.now_ms().saturating_sub(began_ms);
    let line = BatchLog { ledger: "receive", messages: count, again, cause, ms };
    console_log!("{}", serde_json::to_string(&line).unwrap_or_default()); // cannot fail
}

/// Writes the messages about transactions in groups of limited size, then reads the orders of the others. Returns the number of
/// messages that the queue has to deliver again.
async fn receive_all(
    ledger: &D1Ledger,
    bindings: &DashboardBindings,
    messages: Vec<QueueMessage>,
) -> usize {
    let store = &bindings.store();
    let (mut part, mut again, mut orders) = (Part::default(), 0, Vec::new());
    for message in messages {
        let (delivered, bytes) = read(&message);
        if let Ok(order) = ReceivedMessage::deserialize(&delivered.body) {
            orders.push((message, order.received, delivered.attempt));
            continue;
        }
        if part.bytes + bytes > MAX_PART_BYTES {
            again += mem::take(&mut part).receive(ledger, store).await;
        }
        part.bytes += bytes;
        part.messages.push(message);
        part.delivered.push(delivered);
    }
    again += part.receive(ledger, store).await;
    again + receive_orders(ledger, bindings, orders).await
}

/// Maximum number of orders that are read at the same time. Each has up to 1 MiB.
const ORDERS_AT_ONCE: usize = 4;

/// Reads orders of shop systems. Returns the number of messages that the queue has to deliver again.
async fn receive_orders(
    ledger: &D1Ledger,
    bindings: &DashboardBindings,
    orders: Vec<(QueueMessage, String, u32)>,
) -> usize {
    let (store, api) = (bindings.store(), ServiceApi(bindings));
    let intake = &intake(ledger, &store, &api);
    let read = async |(message, id, attempt): (QueueMessage, String, u32)| match intake
        .read(&id, attempt)
        .await
    {
        Verdict::Done => {
            message.ack();
            0
        }
        Verdict::Later(seconds) => put_back(slice::from_ref(&message), seconds),
    };
    let read = stream::iter(orders).map(read).buffer_unordered(ORDERS_AT_ONCE);
    read.fold(0, async |again, more| again + more).await
}

/// Parses a message. Returns it with the maximum size of its row in bytes.
fn read(message: &QueueMessage) -> (Delivered, usize) {
    let json = message.body().as_string().unwrap_or_default();
    let body = serde_json::from_slice(json.as_bytes()).unwrap_or_default();
    let delivered = Delivered { body, attempt: message.attempts() };
    let bytes = delivered.row_bytes(json.len());
    (delivered, bytes)
}

/// Messages that are written together.
#[derive(Default)]
struct Part {
    messages: Vec<QueueMessage>,
    delivered: Vec<Delivered>,
    bytes: usize,
}

impl Part {
    /// Writes the messages into the ledger. Returns how many of them could not be written: the queue delivers these again.
    async fn receive(self, ledger: &D1Ledger, store: &KvStore) -> usize {
        if self.messages.is_empty() {
            return 0;
        }
        let Some(slot) = PARTS.with(Slots::take) else {
            return put_back(&self.messages, BUSY_SECONDS);
        };
        let verdicts = receive::receive(ledger, store, &Platform, &self.delivered).await;
        PARTS.with(|parts| parts.free(slot));
        let mut again = 0;
        for (message, verdict) in self.messages.iter().zip(verdicts) {
            match verdict {
                Verdict::Done => message.ack(),
                Verdict::Later(seconds) => again += put_back(slice::from_ref(message), seconds),
            }
        }
        again
    }
}

/// Schedules messages for another delivery after this many seconds. Returns the number of messages.
fn put_back(messages: &[QueueMessage], seconds: u32) -> usize {
    messages.iter().for_each(|message| message.retry(seconds));
    messages.len()
}
