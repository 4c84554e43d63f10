//! Resends e-mails: puts one message of the next round into the queue.
//!
//! Workers KV shows a new record late. So an instance also remembers the rounds that it has queued, and the consumer of
//! the queue claims a round before it sends the e-mail.

use super::{State, Status, mailing_profile, refusal, refuse_erased, status_beside};
use crate::ledger::Ledger;
use crate::notify::{DELAY_SECONDS, Queued};
use crate::operator::audit::Author;
use crate::operator::once::{Done, Outcome, once};
use crate::operator::position::Position;
use crate::operator::transactions::{self, Record};
use crate::operator::{OperatorError, Result, read_values};
use crate::pledge::TransactionId;
use crate::service::{Clock, Entropy, Message, Outbox};
use crate::store::{FailedMailKey, NoMetadata, OperatorStore, QueuedMailKey};
use crate::time::{date_time, day_of};
use crate::version::Version;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::VecDeque;

/// Time after which the queue delivers a message, in milliseconds.
const DELIVERED_MS: u64 = 1_000 * DELAY_SECONDS as u64;
/// How long an instance remembers that it has queued a round, in milliseconds. Workers KV shows a write everywhere
/// after about 60 s.
const KNOWN_MS: u64 = 180_000;
/// Largest number of rounds that an instance remembers.
const MAX_KNOWN: usize = 1_000;

/// Returns the message that resends a transaction's e-mail, in the round after the last known one. A message of an
/// older round may still be queued. If the queue delivers it before the new message, both send an e-mail. If the newer
/// round ends first, the older message sends nothing.
///
/// # Errors
/// If the create request did not ask for an e-mail, sending the e-mail is not allowed, the transaction is damaged, or
/// the store fails.
pub async fn next_message(
    store: &impl OperatorStore,
    record: &Record,
    mail: &Status,
) -> Result<Message> {
    let metadata = record.metadata()?;
    if !record.asks_for_mail()? {
        return Err(refusal(record, "its create did not ask for an e-mail"));
    }
    refuse_erased(record)?;
    if mailing_profile(store, &metadata.unit).await?.is_none() {
        let unit = &metadata.unit;
        let off = format!(
            "the e-mails of the unit `{unit}` are off: `units set {unit} --mail on` turns them on"
        );
        return Err(refusal(record, &off));
    }
    Ok(Message {
        id: record.id.to_string(),
        created_at: record.transaction()?.created_at.to_string(),
        round: mail.next_round(),
    })
}

// ---- One -----------------------------------------------------------------------------------------

/// The outcome of a resend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resent {
    /// The message was put into the queue.
    Queued,
    /// A message of this round, or a later one, was queued before.
    Before,
    /// The queue did not accept the message. The audit log has an entry nevertheless.
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

/// Puts the [message](next_message) of a round into the queue, unless this instance has done so in the last 3 minutes.
/// Records it in the audit log first.
///
/// # Errors
/// If the audit log cannot be written, or the ledger fails. Then nothing is put into the queue.
pub async fn queue_round(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    outbox: &dyn Outbox,
    rounds: &QueuedRounds,
    message: &Message,
) -> Result<Done<Resent>> {
    let work =
        async |author: &Author<'_, _, _>| queue_now(store, author, outbox, rounds, message).await;
    once(store, ledger, author, (COMMAND, &message.id), work).await
}

/// Queues a round. A repeated request may queue it again, but the consumer sends only one e-mail.
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
    author.record(store, COMMAND, [message.id.as_str()]).await?;
    put(store, author, outbox, round).await
}

const COMMAND: &str = "emails resend";

/// Puts a message into the queue, and writes a record that it is queued. If that record cannot be written, submitting
/// the same form later queues the round again. The consumer still sends only one e-mail.
async fn put(
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
        let value = crate::api::to_json(&queued);
        let _ = store.put(&QueuedMailKey(&id), value, &NoMetadata).await;
    }
    round.keep();
    Ok(Resent::Queued)
}

/// The rounds that an instance has recently put into the queue, or is about to.
#[derive(Debug, Default)]
pub struct QueuedRounds(RefCell<VecDeque<(Message, u64)>>);

impl QueuedRounds {
    /// Reserves a round; `None` if this or a later round of the transaction is already reserved.
    fn take(&self, message: &Message, now_ms: u64) -> Option<Round<'_>> {
        let mut known = self.0.borrow_mut();
        known.retain(|(_, since_ms)| now_ms < since_ms.saturating_add(KNOWN_MS));
        if known.iter().any(|(one, _)| one.id == message.id && one.round >= message.round) {
            return None;
        }
        known.push_back((message.clone(), now_ms));
        if known.len() > MAX_KNOWN {
            known.pop_front();
        }
        Some(Round { rounds: self, message: message.clone(), is_kept: false })
    }
}

/// A reserved round. Dropping it frees the round, unless its message was queued.
struct Round<'r> {
    rounds: &'r QueuedRounds,
    message: Message,
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

// ---- All of a day --------------------------------------------------------------------------------

/// Selects the failures that a step of [`resend_day`] resends.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DayQuery {
    /// The UTC day of the failures, such as `2026-11-21`.
    pub day: String,
    /// The position of the step: `next` of the previous step.
    #[serde(default)]
    pub from: Option<String>,
    /// The largest number of failures in a step.
    pub count: usize,
}

/// The outcome of a step of [`resend_day`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayStep {
    /// Number of e-mails that were put into the queue.
    pub queued: usize,
    /// Number of e-mails that were already queued.
    pub before: usize,
    /// Number of e-mails that no longer count as failed on that day: sent, skipped, or failed on another day since.
    pub ended: usize,
    /// IDs of transactions whose e-mail cannot be sent, each with the reason.
    pub refused: Vec<(String, String)>,
    /// Whether the queue refused a message. Then the step must be tried again later.
    pub untaken: bool,
    /// The position of the next step; `None` after the last one.
    pub next: Option<String>,
}

/// Resends the e-mails that failed on a day and still count as failed, in steps. A repeated step leaves out e-mails that are
/// queued or have ended since. KV cost: 1 list, and 3 reads and 1 write for each e-mail. Each e-mail also costs a call of the
/// queue.
///
/// # Errors
/// If `from` is not the position of a step, the audit log cannot be written, or the store fails.
pub async fn resend_day(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    outbox: &dyn Outbox,
    rounds: &QueuedRounds,
    query: &DayQuery,
) -> Result<Done<DayStep>> {
    let work = async |author: &Author<'_, _, _>| {
        resend_day_now(store, author, outbox, rounds, query).await
    };
    let author = author.of_step(query.from.as_deref().unwrap_or_default());
    once(store, ledger, &author, (COMMAND, &("day", query)), work).await
}

/// Stores no outcome if the queue refused a message, so that the step can be repeated.
impl Outcome for DayStep {
    type Stored = DayStep;

    fn to_stored(&self) -> Option<DayStep> {
        (!self.untaken).then(|| self.clone())
    }

    fn from_stored(kept: DayStep) -> Self {
        kept
    }
}

async fn resend_day_now(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    outbox: &dyn Outbox,
    rounds: &QueuedRounds,
    query: &DayQuery,
) -> Result<DayStep> {
    let from = query.from.as_deref().map_or(Some(Position::default()), Position::parse);
    let from = from.ok_or_else(|| OperatorError::Invalid(NO_PLACE.to_owned()))?;
    let page = store.list(&FailedMailKey::day_prefix(&query.day), from.cursor.as_deref()).await?;
    let names = page.records.iter().map(|record| &*record.name).filter(|name| from.is_before(name));
    let mut failed: Vec<_> =
        names.filter_map(|name| Some((name, FailedMailKey::parse(name)?.1))).collect();
    let is_cut = failed.len() > query.count;
    failed.truncate(query.count);
    let chosen = choose(store, author.clock, rounds, &query.day, &failed).await?;
    record(store, author, &chosen).await?;
    let mut step = DayStep::default();
    let mut place = from.clone();
    for ((name, _), choice) in failed.iter().zip(chosen) {
        if step.count(choice, store, author, outbox).await? == Resent::Untaken {
            return Ok(DayStep { untaken: true, next: Some(place.to_string()), ..step });
        }
        place = from.after(name);
    }
    step.next = match page.cursor {
        _ if is_cut => Some(place.to_string()),
        cursor => cursor.map(|cursor| from.next_page(Some(cursor)).to_string()),
    };
    Ok(step)
}

const NO_PLACE: &str =
    "this is not a valid position among the failures of a day: begin again with the day";

/// Records the messages to be queued in the audit log.
async fn record(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    chosen: &[Choice<'_>],
) -> Result<()> {
    let ids = chosen.iter().filter_map(|choice| match choice {
        Choice::Send(round) => Some(&*round.message.id),
        _ => None,
    });
    let ids: Vec<_> = ids.collect();
    if ids.is_empty() { Ok(()) } else { author.record(store, COMMAND, ids).await }
}

impl DayStep {
    /// Queues the message if the e-mail is to be resent, and counts the outcome.
    async fn count(
        &mut self,
        choice: Choice<'_>,
        store: &impl OperatorStore,
        author: &Author<'_, impl Clock, impl Entropy>,
        outbox: &dyn Outbox,
    ) -> Result<Resent> {
        match choice {
            Choice::Send(round) => {
                let resent = put(store, author, outbox, round).await?;
                self.queued += usize::from(resent == Resent::Queued);
                return Ok(resent);
            }
            Choice::Before => self.before += 1,
            Choice::Ended => self.ended += 1,
            Choice::Refuse(id, why) => self.refused.push((id, why)),
        }
        Ok(Resent::Before)
    }
}

/// Whether a failed e-mail is resent, or why not.
enum Choice<'r> {
    Send(Round<'r>),
    /// The e-mail is already queued.
    Before,
    /// The e-mail was sent or skipped since, or failed on another day.
    Ended,
    /// The e-mail cannot be sent. The values are the transaction's ID and the reason.
    Refuse(String, String),
}

async fn choose<'r>(
    store: &impl OperatorStore,
    clock: &impl Clock,
    rounds: &'r QueuedRounds,
    day: &str,
    failed: &[(&str, TransactionId)],
) -> Result<Vec<Choice<'r>>> {
    let keys: Vec<_> = failed.iter().map(|(_, id)| QueuedMailKey(id)).collect();
    let mut chosen = Vec::with_capacity(failed.len());
    for ((_, id), queued) in failed.iter().zip(read_values(store, &keys).await?) {
        chosen.push(match choice(store, clock, rounds, day, (id, queued)).await {
            Err(OperatorError::Invalid(why)) => Choice::Refuse(id.to_string(), why),
            choice => choice?,
        });
    }
    Ok(chosen)
}

async fn choice<'r>(
    store: &impl OperatorStore,
    clock: &impl Clock,
    rounds: &'r QueuedRounds,
    day: &str,
    (id, queued): (&TransactionId, Option<Vec<u8>>),
) -> Result<Choice<'r>> {
    let record = transactions::get(store, id.as_str()).await?;
    let mail = status_beside(store, clock, &record, queued).await?;
    let is_of_day = mail.at.as_deref().is_none_or(|at| day_of(at) == day);
    match mail.state {
        State::Waiting => Ok(Choice::Before),
        State::Failed if is_of_day => {
            let message = next_message(store, &record, &mail).await?;
            let round = rounds.take(&message, clock.now_ms());
            Ok(round.map_or(Choice::Before, Choice::Send))
        }
        _ => Ok(Choice::Ended),
    }
}
