//! Messages to send through the adapter of a messaging service, and the interface to adapters.

use super::{Marker, SendError};
use crate::buyer::adapters::AdapterName;
use crate::buyer::recipient::{MessageTexts, Profile, shortened};
use crate::pledges::api::to_json;
use crate::pledges::types::{
    NotificationService, Recipient, RetrievedPledgeTransaction, TransactionId,
};
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingMessage<'l> {
    /// The address of the adapter: the service binding or the URL through which it is reached.
    pub address: AdapterName,
    /// The ID of the message. All attempts to deliver the message have the same ID, so that the adapter can
    /// recognise a repeated one.
    pub webhook_id: String,
    /// The body of the request: JSON.
    pub body: &'l [u8],
    /// The transaction that the message is about.
    pub id: &'l TransactionId,
    /// The record to write once the message is sent. If the WebAssembly instance fails during the sending,
    /// the JavaScript around it can still write the record.
    pub marker: &'l Marker,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MessageBody<'b> {
    service: NotificationService,
    transaction_id: &'b str,
    is_live: bool,
    recipient: Addressee<'b>,
    unit: Unit<'b>,
    /// A language tag, such as `de`.
    language: &'static str,
    title: &'b str,
    text: &'b str,
    timeline_url: &'b str,
}

/// The recipient. The names are shortened in the same way as in the message's text, so that the body stays
/// small.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Addressee<'b> {
    email: &'b str,
    first_name: Option<&'b str>,
    name: Option<&'b str>,
}

#[derive(Serialize)]
struct Unit<'b> {
    id: &'b str,
    name: &'b str,
}

/// Returns a message's ID, which all attempts to deliver the message share. `round` is 1 for the first
/// message, and one more for each resend. The ID contains no full stop, because full stops separate the parts
/// of the signed text.
pub(super) fn webhook_id(id: &TransactionId, service: NotificationService, round: u32) -> String {
    format!("{id}_{}_{round}", service.name())
}

/// Returns the body of a message about a transaction; `None` if the record has no recipient or no timeline
/// URL.
pub(super) fn message_body(
    service: NotificationService,
    (id, unit): (&TransactionId, &str),
    record: &RetrievedPledgeTransaction<'_>,
    profile: &Profile,
    texts: &MessageTexts,
) -> Option<Vec<u8>> {
    let Recipient { email, first_name, name } = &record.pledges.first()?.recipient;
    let [first_name, name] = [first_name, name].map(|name| name.as_deref().map(shortened));
    Some(to_json(&MessageBody {
        service,
        transaction_id: id.as_str(),
        is_live: record.is_live,
        recipient: Addressee { email, first_name, name },
        unit: Unit { id: unit, name: profile.name() },
        language: texts.language.tag(),
        title: &texts.title,
        text: &texts.text,
        timeline_url: record.timeline_url.as_deref()?,
    }))
}

/// Whether an adapter can be reached through an address, which is a service binding or a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdapterState {
    /// An adapter is attached to the service binding or the URL.
    Attached,
    /// The operator has set neither a service binding nor a URL.
    Absent,
    /// A service binding or a URL is set, but the settings are invalid.
    Invalid,
}

#[expect(async_fn_in_trait, reason = "one thread: no caller needs the futures to be Send")]
pub trait Messenger {
    /// Returns whether an adapter can be reached through an address, which is a service binding or a URL.
    fn adapter(&self, address: AdapterName) -> AdapterState;

    /// Sends one message.
    ///
    /// # Errors
    /// If it is not certain that the adapter accepted the message.
    async fn send_message(&self, message: &OutgoingMessage<'_>) -> Result<(), SendError>;
}

/// A [`Messenger`] without any adapters.
#[derive(Clone, Copy, Debug)]
pub struct NoMessenger;

impl Messenger for NoMessenger {
    fn adapter(&self, _: AdapterName) -> AdapterState {
        AdapterState::Absent
    }

    async fn send_message(&self, _: &OutgoingMessage<'_>) -> Result<(), SendError> {
        Err(SendError::Temporary { code: "not-attached".to_owned(), after: None })
    }
}
