//! The consumer of the notification queue. For each message it sends an e-mail, or a message to an adapter.

mod mail;
mod messaging;
mod sending;

use super::cloudflare::deadline::pause;
use super::cloudflare::json::{from_js, log_error};
use super::cloudflare::{Bindings, KvStore, QueueMessage, trimmed};
use super::mail::MailSender;
use super::platform::Platform;
use crate::buyer::delivery::{Deliveries, MAX_HELD_BYTES, MailSettings, Notifier, Outcome, Timer};
use crate::pledges::service::{Message, Settings, Variables};
use crate::pledges::types::{NotificationService, TransactionId};
use mail::MailClient;
use messaging::MessengerClient;
use sending::Sending;
use serde::Serialize;
use std::rc::Rc;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::console_log;

/// The suffix of the name of a dead letter queue. Its messages have exhausted their delivery attempts.
const DEAD: &str = "-dead";

thread_local! {
    static DELIVERIES: Rc<Deliveries> = Rc::new(Deliveries::new(MAX_HELD_BYTES));
}

impl Timer for Platform {
    async fn pause(&self, milliseconds: u32) {
        pause(milliseconds).await;
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MessageLog<'a> {
    /// The transaction's ID.
    notification: &'a str,
    /// The service that delivers; left out for an e-mail.
    #[serde(skip_serializing_if = "NotificationService::is_email")]
    service: NotificationService,
    round: u32,
    attempt: u32,
    /// The result, or why the message is delivered again.
    cause: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    again_in_seconds: Option<u32>,
}

/// Consumes a message of a queue. It never fails: if the records cannot be read now, the message is delivered again. A message
/// that this service did not send is acknowledged and dropped. Calls run concurrently.
#[wasm_bindgen(js_name = deliver)]
pub async fn deliver(delivered: QueueMessage, queue: String, bindings: Bindings, sending: Sending) {
    match read(&delivered) {
        Some(message) => {
            let is_dead = queue.ends_with(DEAD);
            answer(&bindings, &delivered, &message, is_dead, sending).await;
        }
        None => {
            log_error(&[("queue", "NOTIFICATIONS"), ("cause", "not a message of this service")]);
            delivered.ack();
        }
    }
}

/// Parses a message of this service. The ID is checked, because it is written to the log.
fn read(delivered: &QueueMessage) -> Option<Message> {
    let message: Message = from_js(&delivered.body())?;
    TransactionId::parse(&message.id).is_some().then_some(message)
}

async fn answer(
    bindings: &Bindings,
    delivered: &QueueMessage,
    message: &Message,
    is_dead: bool,
    sending: Sending,
) {
    let attempt = delivered.attempts();
    let outcome = outcome(bindings, message, attempt, is_dead, sending).await;
    let (cause, again_in_seconds) = match &outcome {
        Outcome::Done(cause) => (cause, None),
        Outcome::Later { seconds, cause } => (cause, Some(*seconds)),
    };
    let Message { id: notification, service, round, .. } = message;
    let (service, round) = (*service, *round);
    let line = MessageLog { notification, service, round, attempt, cause, again_in_seconds };
    console_log!("{}", serde_json::to_string(&line).unwrap_or_default()); // cannot fail
    match again_in_seconds {
        None => delivered.ack(),
        Some(seconds) => delivered.retry(seconds),
    }
}

async fn outcome(
    bindings: &Bindings,
    message: &Message,
    attempt: u32,
    is_dead: bool,
    sending: Sending,
) -> Outcome {
    let settings =
        MailSettings { origin: origin(bindings), test_to: trimmed(bindings.mail_test_to()) };
    let token = sending.token();
    let store = KvStore::new(bindings.pledges());
    let (records, of_messenger) = (bindings.pledges(), sending.clone());
    let mailer = mail_client(bindings, sending);
    let messenger = MessengerClient { bindings, records, sending: of_messenger };
    let deliveries = DELIVERIES.with(Rc::clone);
    let notifier = Notifier {
        store: &store,
        mailer: &mailer,
        messenger: &messenger,
        clock: &Platform,
        settings: &settings,
        deliveries: &deliveries,
    };
    if is_dead {
        notifier.dead_letter(message, attempt).await
    } else {
        notifier.deliver(message, attempt, &token).await
    }
}

fn origin(bindings: &Bindings) -> Option<String> {
    let settings = Settings::parse(Variables {
        public_origin: &bindings.public_origin().unwrap_or_default(),
        environment: &bindings.environment().unwrap_or_default(),
        ..Variables::default()
    });
    settings.mail_origin().map(str::to_owned)
}

fn mail_client(bindings: &Bindings, sending: Sending) -> MailClient {
    MailClient { sender: MailSender::of(bindings), records: bindings.pledges(), sending }
}
