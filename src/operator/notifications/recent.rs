//! Counts the notifications that failed in the last days. Leaves out notifications that have since been
//! sent or queued again, or whose transaction was cancelled.

use super::Beside;
use crate::notify::{Marker, State};
use crate::operator::{Result, read_values};
use crate::pledge::{NotificationService, TransactionId};
use crate::service::Clock;
use crate::store::{
    FailedMailKey, Key as _, KeyInfo, MAX_READS, NotificationKey, OperatorStore, decode,
};
use crate::time::{DAY_MS, date_time, day_of};
use std::collections::BTreeSet;

/// Number of days whose failures are counted.
pub const RECENT_DAYS: u64 = 7;

/// The number of notifications that failed recently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecentFailures {
    /// Number of e-mails and messages that failed.
    pub count: u64,
    /// Whether there may be more than were counted.
    pub has_more: bool,
}

/// Counts the notifications that failed in the last 7 days and still count as failed. Looks at the newest 100
/// failures only. KV cost: 1 list, 3 reads. If more than 1,000 failed in the last 30 days, up to 7 more lists.
///
/// # Errors
/// If the store fails.
pub async fn recent_failures(
    store: &impl OperatorStore,
    clock: &impl Clock,
) -> Result<RecentFailures> {
    let now_ms = clock.now_ms();
    let (ids, is_cut) = newest(store, now_ms).await?;
    let beside = ids.iter().map(|(id, service)| (id, *service));
    let beside = Beside::read(store, now_ms, beside).await?;
    let ended: Vec<_> = ids.iter().map(|(id, service)| NotificationKey(id, *service)).collect();
    let ended = read_values(store, &ended).await?;
    let failed =
        ended.iter().zip(&beside).filter(|(ended, beside)| is_failed(ended.as_deref(), beside));
    Ok(RecentFailures { count: failed.count() as u64, has_more: is_cut })
}

/// Returns whether a notification that failed before still counts as failed. `ended` is the record of its
/// latest outcome.
fn is_failed(ended: Option<&[u8]>, beside: &Beside) -> bool {
    let ended = ended.and_then(|ended| decode::<Marker>(NotificationKey::KIND, ended).ok());
    let last = ended.as_ref().map_or(0, |ended| ended.round);
    !beside.is_settled(last) && ended.is_none_or(|ended| ended.state == State::Failed)
}

/// The transaction and the service of a notification that failed.
type Failed = (TransactionId, NotificationService);

/// Returns the newest failures, each once, and whether there are more.
async fn newest(store: &impl OperatorStore, now_ms: u64) -> Result<(Vec<Failed>, bool)> {
    let days: Vec<_> = (0..RECENT_DAYS)
        .map(|back| day_of(&date_time(now_ms.saturating_sub(back * DAY_MS))).to_owned())
        .collect();
    let all = store.list(FailedMailKey::PREFIX, None).await?;
    let mut records = match all.cursor {
        None => all.records,
        Some(_) => of_days(store, &days).await?,
    };
    records.sort_by(|one, other| other.name.cmp(&one.name));
    let recent = records.iter().filter_map(|record| FailedMailKey::parse(&record.name));
    let recent = recent.filter(|(day, ..)| days.iter().any(|wanted| wanted == day));
    let name = |(id, service): &Failed| NotificationKey(id, *service).name();
    let mut known = BTreeSet::new();
    let mut ids: Vec<_> = recent
        .map(|(_, id, service)| (id, service))
        .filter(|one| known.insert(name(one)))
        .collect();
    let is_cut = ids.len() > MAX_READS;
    ids.truncate(MAX_READS);
    Ok((ids, is_cut))
}

/// Lists the failures of these days, newest day first. Stops once there are more failures than the caller
/// reads.
async fn of_days(store: &impl OperatorStore, days: &[String]) -> Result<Vec<KeyInfo>> {
    let mut records = Vec::new();
    for day in days {
        records.extend(store.list(&FailedMailKey::day_prefix(day), None).await?.records);
        if records.len() > MAX_READS {
            break;
        }
    }
    Ok(records)
}
