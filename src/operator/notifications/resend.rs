//! An e-mail is sent once more: a message of the next round goes into the queue, once.
//!
//! Workers KV shows a record late. So an instance also remembers the rounds that it has queued, and the
//! consumer of the queue claims a round before it sends.

use super::{State, Status, mailing_profile, refusal, refuse_erased, status_beside};
use crate::handle::{Clock, Entropy, Message, Outbox};
use crate::ledger::Ledger;
use crate::notify::{DELAY_SECONDS, Queued};
use crate::operator::audit::Author;
use crate::operator::once::{Done, Outcome, once};
use crate::operator::position::Position;
use crate::operator::transactions::{self, Record};
use crate::operator::{OperatorError, Result, read_values};
use crate::pledge::TransactionId;
use crate::store::{FailedMailKey, NoMetadata, OperatorStore, QueuedMailKey};
use crate::time::{date_time, day_of};
use crate::version::Version;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::VecDeque;

/// How long after it was put there the queue delivers a message, in milliseconds.
const DELIVERED_MS: u64 = 1_000 * DELAY_SECONDS as u64;
/// How long an instance remembers what it has queued, in milliseconds: Workers KV shows a write everywhere
/// after about 60 s.
const KNOWN_MS: u64 = 180_000;
/// Most rounds that it remembers.
const MAX_KNOWN: usize = 1_000;

/// The message that sends a transaction's e-mail once more, in the round after the one that is known. A
/// message of an older round that still waits then finds that a newer one has ended, and sends nothing; if it
/// comes first, both send.
///
/// # Errors
/// If the e-mail was not asked for or may not be sent, the transaction is damaged, or the store fails.
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

/// What became of the wish to send an e-mail once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resent {
    /// Its message is in the queue.
    Queued,
    /// A message of its round was put there before.
    Before,
    /// The queue did not take it. The record of changes has it all the same.
    Untaken,
}

/// What the queue did not take can be sent once more.
impl Outcome for Resent {
    type Kept = Resent;

    fn to_keep(&self) -> Option<Resent> {
        (*self != Resent::Untaken).then_some(*self)
    }

    fn again(kept: Resent) -> Self {
        kept
    }
}

/// Puts the [message](next_message) of a round into the queue, unless this instance has done so lately. It
/// is recorded first.
///
/// # Errors
/// If the record of changes cannot be written, or the ledger fails: then nothing is put into the queue.
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

/// A repeat may queue the round again: the consumer sends it once.
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

/// Puts a message into the queue, and notes that it is there. If the note cannot be written, the same form
/// sent later queues the round once more, which the consumer finds out.
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

/// The rounds that an instance has put into the queue lately, or is about to.
#[derive(Debug, Default)]
pub struct QueuedRounds(RefCell<VecDeque<(Message, u64)>>);

impl QueuedRounds {
    /// Takes a round; `None` if it or a later one of the transaction is taken.
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

/// A round that is taken. It is free again if its message does not get into the queue.
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

/// Which failures are sent once more.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DayQuery {
    /// Those of this UTC day, such as `2026-11-21`.
    pub day: String,
    /// Where to go on: `next` of the step before.
    #[serde(default)]
    pub from: Option<String>,
    /// At most so many in a step.
    pub count: usize,
}

/// What a step has come to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayStep {
    /// How many were put into the queue.
    pub queued: usize,
    /// How many were in the queue before.
    pub before: usize,
    /// How many do not count as failed on that day any more.
    pub ended: usize,
    /// IDs of those that cannot be sent, and why.
    pub refused: Vec<(String, String)>,
    /// Whether the queue refused one: the same step is to be tried again later.
    pub untaken: bool,
    /// Where the next step goes on; `None` after the last one.
    pub next: Option<String>,
}

/// Sends the e-mails once more that failed on a day and still count as that, a step at a time. Makes a list
/// call, and for each e-mail three reads, a call of the queue and a write. Sent again it does the same, but
/// for what is in the queue or has ended since.
///
/// # Errors
/// If `from` is not of a step, the record of changes cannot be written, or the store fails.
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

/// A step that the queue did not take whole can be sent once more.
impl Outcome for DayStep {
    type Kept = DayStep;

    fn to_keep(&self) -> Option<DayStep> {
        (!self.untaken).then(|| self.clone())
    }

    fn again(kept: DayStep) -> Self {
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

const NO_PLACE: &str = "this is no place among the failures of a day: begin again with the day";

/// Records what is to be put into the queue.
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
    /// Puts into the queue what is chosen for it, and counts the others.
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

/// What is to become of a failure of a day.
enum Choice<'r> {
    Send(Round<'r>),
    /// Its message is in the queue.
    Before,
    /// It was sent or skipped since, or failed on another day.
    Ended,
    /// The transaction cannot be told about; its ID, and why.
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
