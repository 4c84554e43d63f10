//! Counts the notifications that failed in the last days. Leaves out notifications that have since been
//! sent or queued again, or whose transaction was cancelled.

use super::resendable::{Resendable, count};
use super::{Status, can_be_sent};
use crate::office::shared::rule::error::Result;
use crate::pledges::service::Clock;
use crate::pledges::store::{
    FailedMailKey, Key as _, KeyInfo, MAX_READS, NotificationKey, OperatorStore,
};
use crate::pledges::time::{DAY_MS, date_time, day_of};
use crate::pledges::types::{NotificationService, TransactionId};
use std::collections::BTreeSet;

/// Number of days whose failures are counted.
pub const RECENT_DAYS: u64 = 7;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecentFailures {
    /// Number of e-mails and messages that failed.
    pub count: u64,
    /// Whether there may be more than were counted.
    pub has_more: bool,
}

/// Counts the notifications that failed in the last 7 days and can be sent again. Leaves out those that no
/// resend can mend, such as those of blocked addresses and erased transactions. Looks at the newest 100
/// failures only. KV cost: 1 list, 3 reads, and at most 80 reads for notifications without a delivery result.
/// If more than 1,000 failed in the last 30 days, up to 7 more lists.
pub async fn recent_failures(
    store: &impl OperatorStore,
    clock: &impl Clock,
) -> Result<RecentFailures> {
    let failed = newest(store, clock.now_ms()).await?;
    let can_be_mended = |status: &Status| status.is_unsent() && can_be_sent(status);
    let Resendable { count, has_more } = count(store, clock, failed, can_be_mended).await?;
    Ok(RecentFailures { count: count as u64, has_more })
}

type Failed = (TransactionId, NotificationService);

/// Returns the newest failures, each once. If there are more than a caller reads, returns more than that.
async fn newest(store: &impl OperatorStore, now_ms: u64) -> Result<Vec<Failed>> {
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
    let failures = recent.map(|(_, id, service)| (id, service));
    Ok(failures.filter(|one| known.insert(name(one))).collect())
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
