//! E-mails to recipients.

use super::kv::{Kv, KvStore};
use super::{Outcome, author, from_js};
use crate::operator::{OperatorError, notifications, transactions};
use crate::platform::Platform;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

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
        notifications::next_message(&store, &record).await
    };
    store.finish(next().await)
}

/// Records that an e-mail is sent once more → the message to put into the queue.
#[wasm_bindgen(js_name = resendNotification)]
pub async fn resend_notification(kv: Kv, by: String, id: String) -> Outcome {
    let store = KvStore::new(kv);
    let author = author(&by)?;
    let resend = async || -> Result<_, OperatorError> {
        let record = transactions::get(&store, &id).await?;
        notifications::resend(&store, &author, &record).await
    };
    store.finish(resend().await)
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
