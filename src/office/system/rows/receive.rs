//! Turns messages of the queue into rows.

use super::findings::Note;
use super::state::Received;
use crate::office::orders::rows::entry;
use crate::office::orders::rows::entry::{Entry, Origin};
use crate::office::shared::rows::port::{Ledger, Query as _};
use crate::pledges::quantities::Quantities;
use crate::pledges::service::Clock;
use crate::pledges::store::{
    Key, OperatorStore, Recorded, StoreError, StoredValue as _, TransactionKey,
};
use crate::pledges::types::{ERASED_EMAIL, RetrievedPledgeTransaction, TransactionId};
use serde_json::Value;
use std::borrow::Cow;

/// Seconds before the second delivery of a message that cannot become a row yet. Each further delivery
/// doubles this wait.
const FIRST_WAIT_SECONDS: u32 = 10;
const MAX_WAIT_SECONDS: u32 = 3_600;

#[derive(Clone, Debug)]
pub struct Delivered {
    pub body: Value,
    /// The number of this delivery, starting at 1.
    pub attempt: u32,
}

impl Delivered {
    /// Estimates the size of the message's row from the size of its JSON text, in bytes. A message without quantities
    /// counts like a record of the maximum size, because its record has to be read.
    pub fn row_bytes(&self, json_bytes: usize) -> usize {
        match self.body.pointer("/summary/quantities") {
            Some(_) => json_bytes,
            None => json_bytes.max(TransactionKey::MAX_BYTES),
        }
    }
}

/// What happens to a message after a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Acknowledge the message. Either its row is written, or the message needs none: it is not from the
    /// service, or its record is damaged.
    Done,
    /// Deliver the message again after this many seconds.
    Later(u32),
}

impl Verdict {
    /// Returns the verdict on a message whose attempt, counted from 1, failed.
    pub(crate) fn later(attempt: u32) -> Self {
        let factor = 1_u32.checked_shl(attempt.saturating_sub(1).min(16)).unwrap_or(u32::MAX);
        Verdict::Later(FIRST_WAIT_SECONDS.saturating_mul(factor).min(MAX_WAIT_SECONDS))
    }
}

/// Writes the rows of messages, and returns the verdict for each, in their order.
///
/// Messages may arrive twice, late, and in any order. A message that cannot become a row does not block the others.
pub async fn receive(
    ledger: &dyn Ledger,
    store: &impl OperatorStore,
    clock: &impl Clock,
    messages: &[Delivered],
) -> Vec<Verdict> {
    let mut entries = Vec::with_capacity(messages.len());
    let mut verdicts = Vec::with_capacity(messages.len());
    for message in messages {
        verdicts.push(match entry_of_message(store, &message.body).await {
            Ok(Some(entry)) => {
                entries.push(entry);
                Verdict::Done
            }
            Ok(None) => Verdict::Done,
            Err(_) => Verdict::later(message.attempt),
        });
    }
    match keep(ledger, &entries, clock.now_ms()).await {
        Ok(()) => verdicts,
        Err(_) => messages.iter().map(|message| Verdict::later(message.attempt)).collect(),
    }
}

async fn keep(
    ledger: &dyn Ledger,
    entries: &[Entry],
    now: u64,
) -> crate::office::shared::rows::port::Result<()> {
    let Some(oldest) = entries.iter().map(Entry::created_ms).min() else { return Ok(()) };
    let (_, refused) = entry::write_all(ledger, entries, Origin::Message, now).await?;
    let received = Received { now, delay: now.saturating_sub(oldest) };
    let note = Note { now, pass: now, findings: &refused };
    ledger.run(&[received.statement()?, note.statement()?]).await.map(drop)
}

/// Returns the row of a message. Returns `None` if the message is not from the service, or if its record is
/// damaged. The reconciliation reports damaged records.
async fn entry_of_message(
    store: &impl OperatorStore,
    body: &Value,
) -> Result<Option<Entry>, StoreError> {
    let Ok(recorded) = serde_json::from_value::<Recorded>(body.clone()) else { return Ok(None) };
    if let Some(quantities) = recorded.summary.quantities.clone() {
        return Ok(Entry::new(&recorded, quantities));
    }
    match load(store, &recorded.id).await? {
        None => Err(StoreError::Unavailable), // KV does not show it yet
        Some(None) => Ok(None),
        Some(Some(found)) => Ok(Some(found.or_later(Entry::new(&recorded, Quantities::default())))),
    }
}

/// Returns the row of a transaction, made from its record. The outer `None` means that there is no record.
/// The inner `None` means that the record is damaged.
pub async fn load(
    store: &impl OperatorStore,
    id: &TransactionId,
) -> Result<Option<Option<Entry>>, StoreError> {
    let Some(stored) = store.get(&RecordedKey(id)).await? else { return Ok(None) };
    let Ok(recorded) = Recorded::from_metadata(id.clone(), &stored.metadata) else {
        return Ok(Some(None));
    };
    if let Some(quantities) = recorded.summary.quantities.clone() {
        return Ok(Some(Entry::new(&recorded, quantities)));
    }
    let value = stored.value.read(TransactionKey::READ_MS).await?;
    Ok(Some(entry_of(&recorded, &value)))
}

/// Returns the row of a transaction, with the quantities from the value of its record. Returns `None` if the
/// value is damaged.
///
/// Also returns `None` if the transaction was erased but KV still shows the old value. An offering in the old
/// value may name the person.
pub(crate) fn entry_of(recorded: &Recorded, value: &[u8]) -> Option<Entry> {
    let transaction: RetrievedPledgeTransaction<'_> = serde_json::from_slice(value).ok()?;
    let is_erased = transaction.pledges.iter().all(|it| it.recipient.email == ERASED_EMAIL);
    if recorded.summary.erased.is_some() && !is_erased {
        return None;
    }
    let impacts = transaction.pledges.iter().map(|pledge| &pledge.impact);
    Entry::of_pledges(recorded, impacts)
}

/// A [`TransactionKey`] that reads the metadata as untyped JSON, so that members of later releases are kept.
#[derive(Clone, Copy, Debug)]
pub struct RecordedKey<'k>(pub &'k TransactionId);

impl Key for RecordedKey<'_> {
    type Metadata = Value;
    const KIND: &'static str = TransactionKey::KIND;
    const PREFIX: &'static str = TransactionKey::PREFIX;
    const MAX_BYTES: usize = TransactionKey::MAX_BYTES;
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0.as_str())
    }
    fn bytes(metadata: &Value) -> usize {
        let bytes = metadata.get("bytes").and_then(Value::as_u64);
        bytes.and_then(|bytes| bytes.try_into().ok()).unwrap_or(Self::MAX_BYTES)
    }
}
