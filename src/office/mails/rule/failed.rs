//! Lists the notifications that failed, by day.

use super::{Beside, EmailView, shown, status_beside};
use crate::office::orders::rule as transactions;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::records::Pages;
use crate::pledges::service::Clock;
use crate::pledges::store::{FailedMailKey, Key, KeyInfo, OperatorStore};
use crate::pledges::time::{DAY_MS, date_time, day_of};
use crate::pledges::types::{NotificationService, TransactionId};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Deserialize)]
pub struct FailedQuery {
    /// Only failures of this UTC day, such as `2026-11-21`.
    pub day: Option<String>,
    /// Only failures of this service.
    #[serde(default)]
    pub service: Option<NotificationService>,
    pub limit: usize,
    /// Only failures after this [position](FailedMail::position) in the list, such as `2026-11-21:ptran_…`.
    #[serde(default)]
    pub after: Option<String>,
}

/// A failure in the list: its day, transaction and service.
type Failure = (String, TransactionId, NotificationService);

impl FailedQuery {
    fn wanted(&self, page: &[KeyInfo]) -> Vec<Failure> {
        let after = self.after.as_deref().and_then(|after| after.split_once(':'));
        let wanted = |record: &KeyInfo| {
            let (day, id, service) = FailedMailKey::parse(&record.name)?;
            let (_, rest) = record.name.strip_prefix(FailedMailKey::PREFIX)?.split_once(':')?;
            let is_after = after.is_none_or(|(last, last_rest)| (last, rest) > (day, last_rest));
            let is_of_service = self.service.is_none_or(|wanted| wanted == service);
            (is_after && is_of_service).then(|| (day.to_owned(), id, service))
        };
        page.iter().filter_map(wanted).collect()
    }
}

/// Notifications that failed, newest day first.
#[derive(Clone, Debug, Serialize)]
pub struct Failures {
    /// The notifications. A notification that failed on several days occurs once for each day.
    pub failed: Vec<FailedMail>,
    pub more: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct FailedMail {
    /// The UTC day.
    pub day: String,
    /// The transaction's ID.
    pub id: String,
    /// The service of the notification. The JSON leaves it out for e-mails.
    #[serde(skip_serializing_if = "NotificationService::is_email")]
    pub service: NotificationService,
    /// The transaction, with the current state of the notification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<EmailView>,
    /// Why the transaction cannot be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl FailedMail {
    /// Returns the position in the list, for [`FailedQuery::after`].
    pub fn position(&self) -> String {
        let service = if self.service.is_email() { "" } else { self.service.name() };
        let colon = if service.is_empty() { "" } else { ":" };
        [&*self.day, ":", &self.id, colon, service].concat()
    }
}

/// Lists notifications of the last 30 days that failed, or whose delivery was postponed to another day.
/// Failures of the last minute may be missing. Notifications without any delivery result are not listed.
pub async fn failed(
    store: &impl OperatorStore,
    clock: &impl Clock,
    query: &FailedQuery,
) -> Result<Failures> {
    let mut failures = newest(store, clock.now_ms(), query).await?;
    let more = failures.len() > query.limit;
    failures.truncate(query.limit);
    let of = failures.iter().map(|(_, id, service)| (id, *service));
    let beside = Beside::read(store, clock.now_ms(), of).await?;
    let mut failed = Vec::with_capacity(failures.len());
    for ((day, id, service), beside) in failures.into_iter().zip(beside) {
        let (now, problem) = match show_by_id(store, clock, &id, (service, beside)).await {
            Ok(shown) => (Some(shown), None),
            Err(OperatorError::Invalid(why)) => (None, Some(why.text)),
            Err(error) => return Err(error),
        };
        failed.push(FailedMail { day, id: id.into_string(), service, now, problem });
    }
    Ok(Failures { failed, more })
}

async fn show_by_id(
    store: &impl OperatorStore,
    clock: &impl Clock,
    id: &TransactionId,
    notification: (NotificationService, Beside),
) -> Result<EmailView> {
    let record = transactions::get(store, id.as_str()).await?;
    let mail = status_beside(store, clock, &record, notification).await?;
    shown(&record, mail)
}

/// Returns failures, newest day first. If there are more failures than the query's limit, returns at least
/// one more than the limit, so that the caller notices. KV cost: 1 list. If that list does not show all
/// failures, at least 1 more list for each day.
async fn newest(
    store: &impl OperatorStore,
    now_ms: u64,
    query: &FailedQuery,
) -> Result<Vec<Failure>> {
    let days = match &query.day {
        Some(day) => vec![day.clone()],
        None => {
            let all = store.list(FailedMailKey::PREFIX, None).await?;
            if all.cursor.is_none() {
                let mut found = query.wanted(&all.records);
                found.sort_by(|(a, ..), (b, ..)| b.cmp(a));
                return Ok(found);
            }
            let after = query.after.as_deref().unwrap_or("~"); // sorts after every day
            days_back(now_ms).into_iter().filter(|day| **day <= *after).collect()
        }
    };
    let mut found = Vec::new();
    for day in days {
        let mut pages = Pages::new(store, FailedMailKey::day_prefix(&day));
        while found.len() <= query.limit
            && let Some(page) = pages.next().await?
        {
            found.extend(query.wanted(&page));
        }
    }
    Ok(found)
}

/// Returns the days for which failures are kept, today first.
fn days_back(now_ms: u64) -> Vec<String> {
    let kept = FailedMailKey::KEPT_SECONDS.map_or(0, |seconds| u64::from(seconds) * 1_000 / DAY_MS);
    let day = |back| day_of(&date_time(now_ms.saturating_sub(back * DAY_MS))).to_owned();
    (0..=kept).map(day).collect()
}
