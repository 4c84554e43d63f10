//! E-mails to recipients.

use super::kv::{Kv, KvStore};
use super::{Outcome, author, from_js, now, to_js};
use crate::handle::{Message, Outbox, Putting};
use crate::operator::notifications::{self, QueuedRounds};
use crate::operator::{OperatorError, transactions};
use crate::platform::Platform;
use js_sys::{Function, Promise};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;

/// What became of a transaction's e-mail → `{id, mode, unit, createdAt, recipient, mail: {state, …}}`.
#[wasm_bindgen(js_name = showNotification)]
pub async fn show_notification(kv: Kv, id: String) -> Outcome {
    let store = KvStore::new(kv);
    let show = async || -> Result<_, OperatorError> {
        let record = transactions::get(&store, &id).await?;
        notifications::show(&store, &Platform, &record).await
    };
    store.finish(show().await)
}

/// E-mails that failed: `{day?, limit}` → `{failed: [{day, id, now | problem}], more}`.
#[wasm_bindgen(js_name = failedNotifications)]
pub async fn failed_notifications(kv: Kv, query: JsValue) -> Outcome {
    let store = KvStore::new(kv);
    let query = from_js(query)?;
    store.finish(notifications::failed(&store, &Platform, &query).await)
}

/// Throws if a transaction's e-mail cannot be sent once more → the message `{id, createdAt, round}`.
#[wasm_bindgen(js_name = nextMessage)]
pub async fn next_message(kv: Kv, id: String) -> Outcome {
    let store = KvStore::new(kv);
    let next = async || -> Result<_, OperatorError> {
        let record = transactions::get(&store, &id).await?;
        let mail = notifications::status(&store, &Platform, &record).await?;
        notifications::next_message(&store, &record, &mail).await
    };
    store.finish(next().await)
}

/// Records that a message is put into the queue, and has `put` do so → `queued`, or `untaken`. `put` takes
/// the message and returns whether the queue took it.
#[wasm_bindgen(js_name = queueMessage)]
pub async fn queue_message(kv: Kv, by: String, message: JsValue, put: Function) -> Outcome {
    let store = KvStore::new(kv);
    let (author, message) = (author(&by)?, from_js(message)?);
    let (queue, rounds) = (Queue(put), QueuedRounds::default());
    let ledger = store.ledger();
    store
        .finish(now(
            notifications::queue_round(&store, ledger, &author, &queue, &rounds, &message).await
        ))
}

/// Sends the e-mails once more that failed on a day: `{day, from?, count}` → `{queued, before, ended, refused:
/// [[id, why]], untaken, next}`. `put` is as of [`queue_message`].
#[wasm_bindgen(js_name = resendDay)]
pub async fn resend_day(kv: Kv, by: String, query: JsValue, put: Function) -> Outcome {
    let store = KvStore::new(kv);
    let (author, query) = (author(&by)?, from_js(query)?);
    let (queue, rounds) = (Queue(put), QueuedRounds::default());
    let ledger = store.ledger();
    store.finish(now(
        notifications::resend_day(&store, ledger, &author, &queue, &rounds, &query).await
    ))
}

/// The queue of the scripts.
struct Queue(Function);

impl Queue {
    async fn take(&self, message: &Message) -> Result<bool, JsValue> {
        let taken = self.0.call1(&JsValue::NULL, &to_js(message)?)?;
        Ok(JsFuture::from(Promise::resolve(&taken)).await?.is_truthy())
    }
}

impl Outbox for Queue {
    fn put<'m>(&'m self, message: &'m Message) -> Putting<'m> {
        Box::pin(async { self.take(message).await.unwrap_or_default() })
    }
}

/// An e-mail as it would be sent now → `{id, to, sender, replyTo, language, subject, text, html}`.
#[wasm_bindgen(js_name = previewNotification)]
pub async fn preview_notification(kv: Kv, id: String) -> Outcome {
    let store = KvStore::new(kv);
    let preview = async || -> Result<_, OperatorError> {
        let record = transactions::get(&store, &id).await?;
        notifications::preview(&store, &Platform, &record).await
    };
    store.finish(preview().await)
}
