//! Puts e-mails with news into the notification queue, for the buyers who asked for them.
//!
//! Publishing an update adds a walk through the list of these buyers, in the ledger's transaction. The cron takes one step after
//! the other: it lists a page, puts its messages into the queue, and then moves the walk. So a step that breaks off is repeated,
//! and nothing else. Each e-mail is sent once all the same, because its delivery records which updates it told of.
//!
//! A buyer gets at most one e-mail in a month. So a second walk follows in the next month: it tells those who already had one when
//! the update was published.

use crate::buyer::news::news_round;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::updates::rows::news as rows;
use crate::office::updates::rows::news::Walk;
use crate::pledges::service::{Clock, MAX_BATCH, Message, Outbox};
use crate::pledges::settlement::Month;
use crate::pledges::store::{
    KeyInfo, ListPage, NewsKey, NewsMetadata, OperatorStore, offering_hash,
};
use crate::pledges::types::NotificationService;
use serde::{Deserialize as _, Serialize};

/// Maximum number of pages of 1,000 buyers that a call lists.
const MAX_PAGES: usize = 5;

/// What a call did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NewsQueued {
    /// Number of subscriptions that were listed.
    pub listed: usize,
    /// Number of messages that were put into the queue.
    pub queued: usize,
}

/// Takes the next steps of the walks that are due, at most [`MAX_PAGES`]. Ledger cost: 2 queries for each step. KV cost: 1 list
/// for each step. Queue: 1 call for 100 messages.
///
/// # Errors
/// If the ledger, the store or the queue fails. The next call repeats the step.
pub async fn queue_news(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    clock: &impl Clock,
    outbox: &dyn Outbox,
) -> Result<NewsQueued> {
    let mut done = NewsQueued::default();
    for _ in 0..MAX_PAGES {
        let Some(walk) = rows::due(ledger, clock.now_ms()).await? else { break };
        let NewsQueued { listed, queued } = step(store, ledger, clock, outbox, &walk).await?;
        done.listed += listed;
        done.queued += queued;
    }
    Ok(done)
}

async fn step(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    clock: &impl Clock,
    outbox: &dyn Outbox,
    walk: &Walk,
) -> Result<NewsQueued> {
    let prefix = NewsKey::month_prefix(walk.month);
    let ListPage { records, cursor } = match store.list(&prefix, walk.cursor.as_deref()).await {
        // KV may no longer accept the cursor. The next step begins again, and passes over what is done.
        Err(_) if walk.cursor.is_some() => {
            rows::advance(ledger, walk, None, &walk.after).await?;
            return Ok(NewsQueued::default());
        }
        page => page?,
    };
    let messages: Vec<_> =
        records.iter().filter_map(|record| message(walk, record, clock)).collect();
    for batch in messages.chunks(MAX_BATCH) {
        if !outbox.put_all(batch).await {
            return Err(OperatorError::invalid("the notification queue did not accept messages"));
        }
    }
    let last = records.last().map_or(&*walk.after, |record| &record.name);
    match cursor.filter(|_| !walk.updates.is_empty()) {
        Some(cursor) => rows::advance(ledger, walk, Some(&cursor), last.max(&walk.after)).await?,
        None => rows::end(ledger, walk, next_month_ms(clock)).await?,
    }
    Ok(NewsQueued { listed: records.len(), queued: messages.len() })
}

/// Returns the message for a buyer whose transaction has the walk's offering.
fn message(
    walk: &Walk,
    KeyInfo { name, metadata, .. }: &KeyInfo,
    clock: &impl Clock,
) -> Option<Message> {
    let id = NewsKey::parse(name).filter(|_| *name > walk.after && !walk.updates.is_empty())?;
    let NewsMetadata { created_at, offerings } = NewsMetadata::deserialize(metadata).ok()?;
    let updates = walk.updates.clone();
    offerings.contains(&offering_hash(&walk.offering)).then(|| Message {
        id: id.into_string(),
        created_at,
        round: news_round(clock.now_ms()),
        service: NotificationService::Email,
        updates,
    })
}

/// Returns when the next month begins, in milliseconds since 1970.
fn next_month_ms(clock: &impl Clock) -> u64 {
    let (_, next) = Month::at(clock.now_ms()).and_then(Month::span_ms).unwrap_or_default();
    next
}
