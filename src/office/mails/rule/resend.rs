//! Resends notifications: puts a message into the queue, whose consumer then sends the notification.
//!
//! A transaction's first notification has the round number 1, and each resend has the next number. Workers
//! KV may show a new record late, so two requests could queue the same round. To avoid a second
//! notification, each instance remembers the rounds that it has queued. The queue's consumer also reserves
//! a round before it sends.

use super::{Status, notifying_profile, refusal, refuse_erased};
use crate::buyer::delivery::{DELAY_SECONDS, Queued};
use crate::office::audit::rule::Author;
use crate::office::orders::rule::Record;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::once::{Done, Outcome, once};
use crate::pledges::service::{Clock, Entropy, Message, Outbox};
use crate::pledges::store::{NoMetadata, OperatorStore, QueuedMailKey};
use crate::pledges::time::date_time;
use crate::pledges::types::{NotificationService, TransactionId};
use crate::pledges::version::Version;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::VecDeque;

/// Time after which the queue delivers a message, in milliseconds.
const DELIVERED_MS: u64 = 1_000 * DELAY_SECONDS as u64;
/// How long an instance remembers a resend that it has queued, in milliseconds. Workers KV needs less time,
/// about 60 s, to show a write everywhere.
const KNOWN_MS: u64 = 180_000;
/// Largest number of queued resends that an instance remembers.
const MAX_KNOWN: usize = 1_000;

/// Returns the queue message that resends a notification. A notification's first sending has the round
/// number 1. The message's round number is one more than the last known round number.
///
/// A message of an earlier round may still be in the queue. If the queue delivers the earlier message
/// first, the recipient gets two notifications. If the new message is processed first, the earlier one
/// sends nothing.
///
/// # Errors
/// If the create request did not ask for the service, sending is not allowed, the transaction is damaged,
/// or the store fails.
pub async fn next_message(
    store: &impl OperatorStore,
    record: &Record,
    state: &Status,
) -> Result<Message> {
    let (metadata, service) = (record.metadata()?, state.service);
    if !record.services()?.contains(&service) {
        return Err(refusal(
            record,
            service,
            &format!("the create request did not ask for {}", noun(service)),
        ));
    }
    refuse_erased(record, service)?;
    refuse_cancelled(record, state)?;
    if notifying_profile(store, &metadata.scope.unit, service).await?.is_none() {
        return Err(refusal(record, service, &switched_off(&metadata.scope.unit, service)));
    }
    Ok(Message {
        id: record.id.to_string(),
        created_at: record.transaction()?.created_at.to_string(),
        round: state.next_round(),
        service,
        updates: Vec::new(),
    })
}

fn refuse_cancelled(record: &Record, Status { service, cancelled, .. }: &Status) -> Result<()> {
    match cancelled {
        Some(at) => {
            Err(refusal(record, *service, &format!("the transaction was cancelled on {at}")))
        }
        None => Ok(()),
    }
}

fn noun(service: NotificationService) -> &'static str {
    if service.is_email() { "an e-mail" } else { "it" }
}

fn switched_off(unit: &str, service: NotificationService) -> String {
    match service.is_email() {
        true => format!(
            "the e-mails of the unit `{unit}` are off: `units set {unit} --mail on` turns them on"
        ),
        false => format!(
            "{} is off for the unit `{unit}`: `units set {unit} --messaging-services …` turns it on",
            service.name()
        ),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resent {
    /// The message was put into the queue.
    Queued,
    /// This resend, or a later one of the same notification, was already queued.
    Before,
    /// The queue did not accept the message, although the audit log already has an entry for it.
    Untaken,
}

/// Stores no outcome if the queue did not accept the message, so that a repeated request can queue it.
impl Outcome for Resent {
    type Stored = Resent;

    fn to_stored(&self) -> Option<Resent> {
        (*self != Resent::Untaken).then_some(*self)
    }

    fn from_stored(kept: Resent) -> Self {
        kept
    }
}

/// Puts the [message](next_message) that resends a notification into the queue, after recording this in the
/// audit log. Does nothing if this instance has queued the same resend in the last 3 minutes.
///
/// # Errors
/// If the audit log cannot be written, or the ledger fails. Then nothing is put into the queue.
pub async fn queue_round(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    outbox: &dyn Outbox,
    rounds: &QueuedRounds,
    message: &Message,
) -> Result<Done<Resent>> {
    let work =
        async |author: &Author<'_, _, _>| queue_now(store, author, outbox, rounds, message).await;
    once(ledger, author, (COMMAND, &subject(message)), work).await
}

/// Returns what the resend is about: the transaction's ID and, for a messaging service, the service's name.
fn subject(message: &Message) -> String {
    match message.service.is_email() {
        true => message.id.clone(),
        false => [&message.id, ":", message.service.name()].concat(),
    }
}

/// Puts a message into the queue, unless this instance has already done so. If another instance queues it
/// too, the consumer still sends only one notification.
async fn queue_now(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    outbox: &dyn Outbox,
    rounds: &QueuedRounds,
    message: &Message,
) -> Result<Resent> {
    let Some(round) = rounds.take(message, author.clock.now_ms()) else {
        return Ok(Resent::Before);
    };
    author.record(store, recorded_command(message.service), [message.id.as_str()]).await?;
    put(store, author, outbox, round).await
}

pub(super) const COMMAND: &str = "emails resend";

/// Returns the command in the audit log. It names the messaging service.
pub(super) fn recorded_command(service: NotificationService) -> &'static str {
    match service {
        NotificationService::Email => COMMAND,
        NotificationService::MessagingServiceA => "emails resend (MessagingServiceA)",
        NotificationService::MessagingServiceB => "emails resend (MessagingServiceB)",
        NotificationService::MessagingServiceC => "emails resend (MessagingServiceC)",
    }
}

/// Puts a message into the queue, then writes a record that it is queued. If the record cannot be written, a
/// repeated request may queue the message again. The consumer still sends only one notification.
pub(super) async fn put(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    outbox: &dyn Outbox,
    round: Round<'_>,
) -> Result<Resent> {
    if !outbox.put(&round.message).await {
        return Ok(Resent::Untaken);
    }
    let now_ms = author.clock.now_ms();
    let queued = Queued {
        round: round.message.round,
        at: date_time(now_ms),
        until: date_time(now_ms + DELIVERED_MS),
        reason: None,
        version: Version,
    };
    if let Some(id) = TransactionId::parse(&round.message.id) {
        let value = crate::pledges::api::to_json(&queued);
        let _ = store.put(&QueuedMailKey(&id, round.message.service), value, &NoMetadata).await;
    }
    round.keep();
    Ok(Resent::Queued)
}

/// Remembers which resends this instance has recently queued, or is about to queue.
#[derive(Debug, Default)]
pub struct QueuedRounds(RefCell<VecDeque<(Message, u64)>>);

impl QueuedRounds {
    /// Reserves the resend of this message. Returns `None` if this resend of the notification, or a later
    /// one, is already reserved.
    pub(super) fn take(&self, message: &Message, now_ms: u64) -> Option<Round<'_>> {
        let mut known = self.0.borrow_mut();
        known.retain(|(_, since_ms)| now_ms < since_ms.saturating_add(KNOWN_MS));
        let is_taken =
            |one: &Message| subject(one) == subject(message) && one.round >= message.round;
        if known.iter().any(|(one, _)| is_taken(one)) {
            return None;
        }
        known.push_back((message.clone(), now_ms));
        if known.len() > MAX_KNOWN {
            known.pop_front();
        }
        Some(Round { rounds: self, message: message.clone(), is_kept: false })
    }
}

/// A reserved resend. Dropping it cancels the reservation, unless the message was queued.
pub(super) struct Round<'r> {
    rounds: &'r QueuedRounds,
    pub message: Message,
    is_kept: bool,
}

impl Round<'_> {
    fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for Round<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            self.rounds.0.borrow_mut().retain(|(one, _)| *one != self.message);
        }
    }
}
