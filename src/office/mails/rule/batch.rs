//! Resends or dismisses many failed notifications: those of a day, or those of a unit with the same cause. Works in steps of a
//! limited size, which may be repeated.

use super::group::Failure;
use super::resend::{COMMAND, QueuedRounds, Resent, Round, put, recorded_command};
use super::resendable::is_failed_on;
use super::select::{Batch, BatchQuery};
use super::{Beside, State, can_be_sent, next_message, refusal, status_beside, words};
use crate::office::audit::rule::{Author, Subject};
use crate::office::orders::rule as transactions;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::once::{Done, Outcome, once};
use crate::pledges::service::{Clock, Entropy, Outbox};
use crate::pledges::store::{FailedMailKey, OperatorStore};
use crate::pledges::types::NotificationService;
use serde::{Deserialize, Serialize};
use strum::IntoEnumIterator as _;

/// The outcome of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchStep {
    /// Number of notifications that were put into the queue.
    pub queued: usize,
    /// Number of notifications that were already queued.
    pub before: usize,
    /// Number of notifications that need no resend. After the failure, they were sent or
    /// skipped, or failed again on another day.
    pub ended: usize,
    /// Number of notifications that were dismissed.
    pub dismissed: usize,
    /// IDs of transactions whose notification cannot be sent, each with the reason.
    pub refused: Vec<(String, String)>,
    /// Whether the queue refused a message. Then the step must be tried again later.
    pub untaken: bool,
    /// The position of the next step; `None` after the last one.
    pub next: Option<String>,
}

impl Outcome for BatchStep {
    type Stored = BatchStep;

    fn to_stored(&self) -> Option<BatchStep> {
        (!self.untaken).then(|| self.clone())
    }

    fn from_stored(kept: BatchStep) -> Self {
        kept
    }
}

/// Resends failed notifications. Leaves out notifications that were queued, sent or
/// skipped since, or that failed again on another day.
///
/// KV cost: 1 list, 1 read with a group, and 3 reads and 1 write for each notification. Queue cost: 1 call for each notification.
///
/// # Errors
/// If `from` is not the position of a step, the audit log cannot be written, or the store fails.
pub async fn resend_batch(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    outbox: &dyn Outbox,
    rounds: &QueuedRounds,
    query: &BatchQuery,
) -> Result<Done<BatchStep>> {
    let work =
        async |author: &Author<'_, _, _>| resend_now(store, author, outbox, rounds, query).await;
    let author = author.of_step(query.from.as_deref().unwrap_or_default());
    once(ledger, &author, (COMMAND, &("batch", query)), work).await
}

async fn resend_now(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    outbox: &dyn Outbox,
    rounds: &QueuedRounds,
    query: &BatchQuery,
) -> Result<BatchStep> {
    let Batch { failed, from, next } = Batch::select(store, query).await?;
    let chosen = choose(store, author.clock, rounds, &failed).await?;
    record(store, author, &chosen).await?;
    let mut step = BatchStep { next, ..BatchStep::default() };
    let mut place = from.clone();
    for (Failure { name, .. }, choice) in failed.iter().zip(chosen) {
        if step.count(choice, store, author, outbox).await? == Resent::Untaken {
            return Ok(BatchStep { untaken: true, next: Some(place.to_string()), ..step });
        }
        place = from.after(name);
    }
    Ok(step)
}

const DISMISS: &str = "emails dismiss";

/// Removes the failed notifications of a group from the list of failures, and records the reason in the audit log. The
/// delivery states stay as they are. A notification that fails again is listed again. KV cost: 1 list, 1 read, and 1 write for each
/// notification.
///
/// # Errors
/// If `from` is not the position of a step, the audit log cannot be written, or the store fails.
pub async fn dismiss_batch(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    (query, reason): (&BatchQuery, &str),
) -> Result<Done<BatchStep>> {
    let work = async |author: &Author<'_, _, _>| dismiss_now(store, author, (query, reason)).await;
    let author = author.of_step(query.from.as_deref().unwrap_or_default());
    once(ledger, &author, (DISMISS, &(query, reason)), work).await
}

async fn dismiss_now(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    (query, reason): (&BatchQuery, &str),
) -> Result<BatchStep> {
    let Batch { failed, next, .. } = Batch::select(store, query).await?;
    if !failed.is_empty() {
        let on = failed.iter().map(|failure| failure.id.to_string()).collect();
        let subject = Subject::with_reason(on, reason);
        author.record_subject(store, DISMISS, subject).await?;
    }
    for Failure { day, id, service, .. } in &failed {
        store.remove(&FailedMailKey { day, id, service: *service }).await?;
    }
    Ok(BatchStep { dismissed: failed.len(), next, ..BatchStep::default() })
}

// ---- Resend --------------------------------------------------------------------------------------

/// Writes one audit log entry for each service, with the notifications that are about to be queued.
async fn record(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    chosen: &[Choice<'_>],
) -> Result<()> {
    for service in NotificationService::iter() {
        let ids = chosen.iter().filter_map(|choice| match choice {
            Choice::Send(round) if round.message.service == service => Some(&*round.message.id),
            _ => None,
        });
        let ids: Vec<_> = ids.collect();
        if !ids.is_empty() {
            author.record(store, recorded_command(service), ids).await?;
        }
    }
    Ok(())
}

impl BatchStep {
    /// Queues the message if the notification is to be resent. Counts the outcome in this step.
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

/// Whether a failed notification is resent, or why not.
enum Choice<'r> {
    Send(Round<'r>),
    /// The notification is already queued.
    Before,
    /// The notification was sent or skipped since, or failed on another day.
    Ended,
    /// The notification cannot be sent. The values are the transaction's ID and the reason.
    Refuse(String, String),
}

async fn choose<'r>(
    store: &impl OperatorStore,
    clock: &impl Clock,
    rounds: &'r QueuedRounds,
    failed: &[Failure],
) -> Result<Vec<Choice<'r>>> {
    let of = failed.iter().map(|failure| (&failure.id, failure.service));
    let mut chosen = Vec::with_capacity(failed.len());
    let beside = Beside::read(store, clock.now_ms(), of).await?;
    for (failure, beside) in failed.iter().zip(beside) {
        chosen.push(match choice(store, clock, rounds, (failure, beside)).await {
            Err(OperatorError::Invalid(why)) => Choice::Refuse(failure.id.to_string(), why.text),
            choice => choice?,
        });
    }
    Ok(chosen)
}

async fn choice<'r>(
    store: &impl OperatorStore,
    clock: &impl Clock,
    rounds: &'r QueuedRounds,
    (Failure { day, id, service, .. }, beside): (&Failure, Beside),
) -> Result<Choice<'r>> {
    let record = transactions::get(store, id.as_str()).await?;
    let mail = status_beside(store, clock, &record, (*service, beside)).await?;
    match mail.state {
        State::Waiting => Ok(Choice::Before),
        _ if !is_failed_on(day, &mail) => Ok(Choice::Ended),
        _ if mail.cancelled.is_none() && !can_be_sent(&mail) => {
            Err(refusal(&record, *service, &words(&mail).cause))
        }
        _ => {
            let message = next_message(store, &record, &mail).await?;
            let round = rounds.take(&message, clock.now_ms());
            Ok(round.map_or(Choice::Before, Choice::Send))
        }
    }
}
