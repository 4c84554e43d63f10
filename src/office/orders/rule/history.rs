//! The history of a transaction: what happened to it, in the order of time.

use super::record::Record;
use crate::buyer::updates::{OfferingUpdates, Stage};
use crate::office::credit_requests::rows::requests;
use crate::office::credit_requests::rows::requests::{Decision, RequestRow, RequestState};
use crate::office::credits::rows as credits;
use crate::office::credits::rows::CreditRow;
use crate::office::mails::rule::Status;
use crate::office::orders::rows::notes;
use crate::office::orders::rows::notes::Note;
use crate::office::orders::rows::order::Order;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::{load, read_values};
use crate::pledges::decimal::Decimal;
use crate::pledges::settlement::{Month, PaidAt};
use crate::pledges::store::{Cancelled, CancelledKey, Key as _, OperatorStore, UpdatesKey, decode};
use crate::pledges::time::{date_time, parse_ms};
use std::collections::BTreeSet;

/// Largest number of offerings whose updates the history has, as the timeline.
const MAX_OFFERINGS: usize = 20;

/// Something that happened to a transaction.
#[derive(Clone, Debug)]
pub struct Event {
    /// When it happened, an RFC 3339 date-time. A payment or an update has the beginning of its day.
    pub at: String,
    pub kind: EventKind,
}

#[derive(Clone, Debug)]
pub enum EventKind {
    Created,
    /// The last known state of a notification.
    Notified(Box<Status>),
    /// The month was paid.
    Paid,
    Credited(Box<CreditRow>),
    CreditRequested(Box<RequestRow>),
    CreditRefused(Box<RequestRow>),
    /// The buyer was told that the transaction was cancelled.
    Cancelled,
    /// The timeline shows this stage of an offering.
    Updated {
        offering: String,
        stage: Stage,
    },
    /// Somebody wrote a note.
    Noted(Box<Note>),
    /// Somebody ended the hand-over by this note.
    HandOverEnded(Box<Note>),
    Erased,
}

/// The history of a transaction, and what could not be read of it.
#[derive(Clone, Debug)]
pub struct History {
    /// The oldest event first.
    pub events: Vec<Event>,
    /// The requests of the shop for credits, oldest first.
    pub requests: Vec<RequestRow>,
    /// The transaction's row, with the sum of its credits.
    pub row: Order,
    /// Whether the ledger did not answer, so that credits or notes are missing.
    pub lacks_credits: bool,
    /// Whether records in Workers KV could not be read, so that updates or a cancellation are missing.
    pub lacks_updates: bool,
}

impl History {
    /// Returns whether a credit was made by a person of the shop, at once.
    pub fn is_at_once(&self, credit: &CreditRow) -> bool {
        let is_own = |request: &RequestRow| {
            let decider = request.decision.as_ref().map(|it| &it.decider);
            request.is_at_once() && decider == Some(&credit.author)
        };
        self.requests.iter().any(is_own)
    }

    /// Returns the request that is not decided yet.
    pub fn open_request(&self) -> Option<&RequestRow> {
        self.requests.iter().find(|request| request.is_open())
    }
}

/// Returns the history of a transaction. `row` is its row, and `notifications` are the states of its notifications. Ledger
/// cost: 2 queries. KV cost: 1 read, and 1 more if it has credits.
///
/// # Errors
/// If the record is damaged. A failure of the ledger or the store is part of the result.
pub async fn history(
    (store, ledger): (&impl OperatorStore, &dyn Ledger),
    record: &Record,
    row: &Order,
    notifications: &[Status],
    paid_at: Option<&PaidAt>,
) -> Result<History> {
    let credits = credits::credits(ledger, record.id()).await;
    let requests = requests::of(ledger, record.id()).await;
    let notes = notes::notes(ledger, record.id()).await;
    let updates = updates(store, record, row).await;
    let cancelled = match &credits {
        Ok(credits) if credits.is_empty() => Ok(None),
        _ => load::<_, Cancelled>(store, CancelledKey(&record.id)).await,
    };
    let lacks_credits = credits.is_err() || requests.is_err() || notes.is_err();
    let lacks_updates = updates.is_err() || cancelled.is_err();
    let (credits, requests) = (credits.unwrap_or_default(), requests.unwrap_or_default());
    let row = Order { credited: sum(&credits), ..row.clone() };
    let at = |at: &str, kind| Event { at: at.to_owned(), kind };
    let mut events = vec![at(&row.created_at, EventKind::Created)];
    events.extend(notifications.iter().filter_map(|status| {
        Some(at(status.at.as_deref()?, EventKind::Notified(Box::new(status.clone()))))
    }));
    events.extend(paid_at.map(|paid_at| at(paid_at.as_str(), EventKind::Paid)));
    events.extend(credits.into_iter().map(|credit| Event {
        at: date_time(credit.at),
        kind: EventKind::Credited(Box::new(credit)),
    }));
    events.extend(requests.iter().flat_map(requested));
    events.extend(notes.unwrap_or_default().into_iter().flat_map(of_note));
    events.extend(cancelled.ok().flatten().map(|it| at(&it.at, EventKind::Cancelled)));
    events.extend(updates.unwrap_or_default());
    events.extend(row.erased.as_deref().map(|erased| at(erased, EventKind::Erased)));
    events.sort_by_key(|event| parse_ms(&event.at));
    Ok(History { events, requests, row, lacks_credits, lacks_updates })
}

/// Returns that a credit was requested and, if so, that the request was refused. A credit is an event of its own.
fn requested(request: &RequestRow) -> Vec<Event> {
    let event = |at, kind| Event { at: date_time(at), kind };
    let made = event(request.at, EventKind::CreditRequested(Box::new(request.clone())));
    let decided = request.decision.as_ref().filter(|_| request.state == RequestState::Refused);
    let refused =
        |it: &Decision| event(it.decided, EventKind::CreditRefused(Box::new(request.clone())));
    std::iter::once(made).chain(decided.map(refused)).collect()
}

/// Returns that a note was written, and that its hand-over was ended.
fn of_note(note: Note) -> impl Iterator<Item = Event> {
    let ended = note.done.map(|at| (at, EventKind::HandOverEnded(Box::new(note.clone()))));
    let written = (note.at, EventKind::Noted(Box::new(note)));
    let all = [Some(written), ended].into_iter().flatten();
    all.map(|(at, kind)| Event { at: date_time(at), kind })
}

/// Returns the sum of credits, a decimal with two places; `None` without credits.
fn sum(credits: &[CreditRow]) -> Option<String> {
    let amounts = credits.iter().filter_map(|credit| Decimal::parse(&credit.amount()));
    (!credits.is_empty()).then(|| Decimal::sum(amounts).to_money())
}

/// Reads the published updates about the transaction's offerings, as its timeline shows them.
async fn updates(store: &impl OperatorStore, record: &Record, row: &Order) -> Result<Vec<Event>> {
    let transaction = record.transaction()?;
    let Some(month) = Month::of(&row.created_at) else { return Ok(Vec::new()) };
    let offerings = transaction.pledges.iter().map(|pledge| &*pledge.impact.offering_id);
    let offerings: BTreeSet<_> = offerings.take(MAX_OFFERINGS).collect();
    let keys: Vec<_> =
        offerings.iter().map(|offering| UpdatesKey::new(row.scope.mode, offering, month)).collect();
    let mut events = Vec::new();
    for (offering, value) in offerings.into_iter().zip(read_values(store, &keys).await?) {
        let Some(value) = value else { continue };
        let found: OfferingUpdates = decode(UpdatesKey::KIND, &value)?;
        events.extend(found.updates.into_iter().map(|update| Event {
            at: date_time(update.date.begins_ms()),
            kind: EventKind::Updated { offering: offering.to_owned(), stage: update.stage },
        }));
    }
    Ok(events)
}
