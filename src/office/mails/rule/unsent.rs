//! Finds the transactions with a notification that failed and was not sent since.

use super::beside::Beside;
use super::status::Status;
use crate::buyer::delivery::Marker;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::records::{MAX_PAGES, Pages, read_values};
use crate::office::shared::rule::refused::RefusalCode;
use crate::pledges::scope::Scope;
use crate::pledges::store::{FailedMailKey, Key as _, NotificationKey, OperatorStore, decode};
use crate::pledges::types::{NotificationService, TransactionId};
use std::collections::{BTreeMap, BTreeSet};

/// Largest number of failed notifications whose current state is read.
const MAX_FAILURES: usize = 1_000;

/// A notification that a transaction asked for.
#[derive(Clone, Debug)]
pub struct Notified {
    pub id: TransactionId,
    pub service: NotificationService,
    /// The UTC day on which the transaction was created, such as `2026-11-21`; `None` if the notification is known to be in
    /// the list of failures.
    pub day: Option<String>,
}

/// Returns the IDs of the transactions of these scopes, or of all, with a notification that failed in the last 30 days and
/// was not sent since. KV cost: 1 list per 1,000 failures of all scopes, at most 10; 3 reads per 100 failures of these
/// scopes, at most 30.
///
/// # Errors
/// If there are more failures than that, or the store fails.
pub async fn failed_orders(
    store: &impl OperatorStore,
    now_ms: u64,
    scopes: Option<&[Scope]>,
) -> Result<BTreeSet<String>> {
    let own: Option<BTreeSet<_>> =
        scopes.map(|scopes| scopes.iter().map(TransactionId::scope_prefix).collect());
    let length = own.iter().flatten().next().map_or(0, String::len);
    let is_own = |id: &TransactionId| {
        own.as_ref().is_none_or(|own| id.as_str().get(..length).is_some_and(|it| own.contains(it)))
    };
    let mut found = BTreeMap::new();
    let mut pages = Pages::new(store, FailedMailKey::PREFIX);
    for _ in 0..MAX_PAGES {
        let Some(page) = pages.next().await? else { break };
        let failures = page.iter().filter_map(|record| FailedMailKey::parse(&record.name));
        let failures = failures.filter(|(_, id, _)| is_own(id));
        found.extend(failures.map(|(_, id, service)| {
            (NotificationKey(&id, service).name(), Notified { id, service, day: None })
        }));
    }
    if !pages.is_last || found.len() > MAX_FAILURES {
        let problem = "there are too many failed notifications to list: choose a unit";
        return Err(OperatorError::at("state", RefusalCode::Invalid, problem));
    }
    unsent(store, now_ms, &found.into_values().collect::<Vec<_>>()).await
}

/// Returns the IDs of the transactions for which one of these notifications failed and was not sent since. KV cost: 1 read
/// per 100 notifications; 1 per 100 without a delivery result; 2 per 100 that failed.
pub async fn unsent(
    store: &impl OperatorStore,
    now_ms: u64,
    notifications: &[Notified],
) -> Result<BTreeSet<String>> {
    let keys: Vec<_> = notifications.iter().map(|it| NotificationKey(&it.id, it.service)).collect();
    let ended = read_values(store, &keys).await?;
    let (known, unknown): (Vec<_>, Vec<_>) =
        notifications.iter().zip(ended).partition(|(_, ended)| ended.is_some());
    let unknown: Vec<_> = unknown.into_iter().map(|(it, _)| it).collect();
    let failed = known.into_iter().filter_map(|(it, ended)| Some((it, failed_round(it, &ended?)?)));
    let mut failed: Vec<_> = failed.collect();
    failed.extend(listed(store, &unknown).await?.into_iter().map(|it| (it, 0)));
    let of = failed.iter().map(|(it, _)| (&it.id, it.service));
    let beside = Beside::read(store, now_ms, of).await?;
    let unsettled = failed.iter().zip(beside).filter(|((_, round), it)| !it.is_settled(*round));
    Ok(unsettled.map(|((it, _), _)| it.id.to_string()).collect())
}

/// Returns the round that failed; `None` if the notification was sent, or skipped for a reason that no resend mends. A
/// damaged marker counts as a failure.
fn failed_round(notified: &Notified, marker: &[u8]) -> Option<u32> {
    match decode::<Marker>(NotificationKey::KIND, marker) {
        Err(_) => Some(0),
        Ok(marker) => {
            let round = marker.round;
            Status::ended(notified.service, marker).is_unsent().then_some(round)
        }
    }
}

/// Returns those of these notifications that are in the list of failures: those that the queue did not accept have no
/// delivery result.
async fn listed<'n>(
    store: &impl OperatorStore,
    unknown: &[&'n Notified],
) -> Result<Vec<&'n Notified>> {
    let (asked, mut found): (Vec<&Notified>, Vec<&Notified>) =
        unknown.iter().partition(|it| it.day.is_some());
    let key = |it: &&'n Notified| {
        let day = it.day.as_deref()?;
        Some(FailedMailKey { day, id: &it.id, service: it.service })
    };
    let keys: Vec<_> = asked.iter().filter_map(key).collect();
    let values = read_values(store, &keys).await?;
    found.extend(asked.into_iter().zip(values).filter_map(|(it, value)| value.map(|_| it)));
    Ok(found)
}
