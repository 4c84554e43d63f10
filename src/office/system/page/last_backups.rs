//! The part of the page System that shows the last backups.

use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::view;
use crate::office::shared::rule::error::OperatorError;
use crate::office::system::rule::backup_index::BackupDays;
use crate::office::system::rule::backups;
use crate::office::system::rule::backups::Backup;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{OperatorStore, StoreError};
use crate::pledges::time::{DAY_MS, age_ms};
use futures_util::future::join;
use maud::{Markup, html};

/// Days after which the last backup counts as old.
pub(crate) const MAX_DAYS: u64 = 7;

/// The age of the last backup, full or incremental.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Age {
    /// No full backup is recorded.
    None,
    /// The record of the last backup has no valid time.
    Invalid,
    /// The age in whole days.
    Days(u64),
}

/// Returns the age of the last backup. KV cost: 2 reads at the same time.
pub(crate) async fn days<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
) -> Result<Age, OperatorError> {
    let read = join(backups::last(context.store), backups::last_increment(context.store)).await;
    let (Some(full), increment) = (read.0?, read.1?) else { return Ok(Age::None) };
    let now_ms = context.clock.now_ms();
    let made = std::iter::once(full).chain(increment);
    let youngest = made.filter_map(|backup| age_ms(&backup.at, now_ms)).min();
    Ok(youngest.map_or(Age::Invalid, |age_ms| Age::Days(age_ms / DAY_MS)))
}

/// Shows the last backup of each kind. KV cost: 3 reads.
pub(crate) async fn section<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
) -> Result<Markup> {
    let BackupDays { full: full_days, kept } = context.settings.backup_days;
    let now_ms = context.clock.now_ms();
    let full = made(readable(backups::last(context.store).await)?, now_ms, "records");
    let increment = readable(backups::last_increment(context.store).await)?;
    let increment = made(increment, now_ms, "records");
    let ledger = made(readable(backups::last_of_ledger(context.store).await)?, now_ms, "rows");
    Ok(html! {
        (view::facts(&[("Full", full), ("Increment", increment), ("Only the ledger", ledger)]))
        p {
            small {
                "To make a full backup, run " code { "npm run transactions -- backup FILE" } ". With "
                code { "--since FILE" } ", it contains only what changed since that backup. If a bucket is bound as "
                code { "BACKUPS" } ", the dashboard makes a full backup every "
                @if full_days > 1 { (full_days) " days" } @else { "day" }
                " and one of the ledger's own rows every day, and keeps them for " (view::counted(kept, "day")) "."
            }
        }
    })
}

/// The last recorded backup, or the reason why its record cannot be read. `None` if no backup is recorded.
type Found = Result<Option<Backup>, String>;

fn readable(found: Result<Option<Backup>, OperatorError>) -> Result<Found> {
    match found {
        Err(OperatorError::Store(StoreError::Damaged(problem))) => Ok(Err(problem)),
        found => Ok(Ok(found?)),
    }
}

/// Renders when and by whom a backup was made, such as `12 Jan 2026, 10:00 UTC (3 days ago), 17 records, by
/// ada`. `items` are what was counted.
fn made(found: Found, now_ms: u64, items: &str) -> Markup {
    let days = |at: &str| age_ms(at, now_ms).map(|age_ms| age_ms / DAY_MS);
    html! {
        @match found {
            Ok(Some(Backup { at, records, by })) => {
                (view::time(&at))
                @if let Some(days) = days(&at).filter(|days| *days > 0) {
                    " (" (days) @if days == 1 { " day ago)" } @else { " days ago)" }
                }
                ", " (records) " " (items) ", by " (view::untrusted_text(&by))
            }
            Ok(None) => span.soft { "No backup has been recorded." }
            Err(problem) => span.problem { (view::sentence(&problem)) }
        }
    }
}
