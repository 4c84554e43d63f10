//! Counts the failed notifications of a day that can be sent again.

use super::{Beside, Status, can_be_sent, status_beside};
use crate::buyer::delivery::Marker;
use crate::office::orders::rule as transactions;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::records::read_values;
use crate::pledges::service::Clock;
use crate::pledges::store::{
    FailedMailKey, Key as _, MAX_READS, NotificationKey, OperatorStore, decode,
};
use crate::pledges::time::day_of;
use crate::pledges::types::{NotificationService, TransactionId};

/// Maximum number of transactions that are read to find the state of notifications without a delivery result.
const MAX_UNKNOWN: usize = 20;

/// How many failed notifications of a day can be sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resendable {
    pub count: usize,
    /// Whether there may be more such notifications than `count`.
    pub has_more: bool,
}

/// Returns whether a notification is still [unsent](Status::is_unsent), and last failed on this day. Also
/// returns true if the time of its failure is unknown.
pub(super) fn is_failed_on(day: &str, status: &Status) -> bool {
    status.is_unsent() && status.at.as_deref().is_none_or(|at| day_of(at) == day)
}

/// Returns whether a notification that failed on this day can be sent again: it is still unsent, and its
/// address is not blocked.
pub fn is_resendable(day: &str, status: &Status) -> bool {
    is_failed_on(day, status) && can_be_sent(status)
}

/// Counts the failed notifications of a day that can be sent again, among the first 100 failures of the day.
/// KV cost: 1 list, 3 reads, and at most 60 reads for notifications without a delivery result.
pub async fn resendable(
    store: &impl OperatorStore,
    clock: &impl Clock,
    day: &str,
) -> Result<Resendable> {
    let page = store.list(&FailedMailKey::day_prefix(day), None).await?;
    let failures = page.records.iter().filter_map(|record| FailedMailKey::parse(&record.name));
    let failures: Vec<_> = failures.map(|(_, id, service)| (id, service)).collect();
    let found = count(store, clock, failures, |status| is_resendable(day, status)).await?;
    Ok(Resendable { has_more: found.has_more || page.cursor.is_some(), ..found })
}

/// Counts those of the first 100 failures whose status fulfils a condition. KV cost: 3 reads, and at most 80
/// reads for notifications without a delivery result.
pub(super) async fn count(
    store: &impl OperatorStore,
    clock: &impl Clock,
    mut failures: Vec<(TransactionId, NotificationService)>,
    is_counted: impl Fn(&Status) -> bool,
) -> Result<Resendable> {
    let mut found = Resendable { count: 0, has_more: failures.len() > MAX_READS };
    failures.truncate(MAX_READS);
    let of = failures.iter().map(|(id, service)| (id, *service));
    let beside = Beside::read(store, clock.now_ms(), of).await?;
    let ended: Vec<_> =
        failures.iter().map(|(id, service)| NotificationKey(id, *service)).collect();
    let ended = read_values(store, &ended).await?;
    let mut unknown = 0;
    for ((failure, beside), ended) in failures.iter().zip(beside).zip(ended) {
        let ended = ended.and_then(|ended| decode::<Marker>(NotificationKey::KIND, &ended).ok());
        let status = match ended {
            Some(ended) => of_marker(failure.1, ended, &beside),
            None if unknown == MAX_UNKNOWN => {
                found.has_more = true;
                None
            }
            None => {
                unknown += 1;
                unmarked(store, clock, failure, beside).await?
            }
        };
        found.count += usize::from(status.is_some_and(|status| is_counted(&status)));
    }
    Ok(found)
}

/// Returns the status of a notification with a delivery result; `None` if it was put into the queue again, or
/// if its transaction was cancelled.
fn of_marker(service: NotificationService, ended: Marker, beside: &Beside) -> Option<Status> {
    (!beside.is_settled(ended.round)).then(|| Status::ended(service, ended))
}

/// Reads the transaction of a notification whose delivery result is missing or damaged. Returns the status of
/// the notification; `None` if the transaction cannot be shown.
async fn unmarked(
    store: &impl OperatorStore,
    clock: &impl Clock,
    (id, service): &(TransactionId, NotificationService),
    beside: Beside,
) -> Result<Option<Status>> {
    let status = async {
        let record = transactions::get(store, id.as_str()).await?;
        status_beside(store, clock, &record, (*service, beside)).await
    };
    match status.await {
        Err(OperatorError::Invalid(_)) => Ok(None),
        status => Ok(Some(status?)),
    }
}
