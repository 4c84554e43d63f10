//! Finds the transactions with a notification that failed, and was neither sent nor dismissed since.

use super::beside::Beside;
use super::status::Status;
use crate::buyer::delivery::Marker;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::records::{MAX_PAGES, Pages, read_values};
use crate::office::shared::rule::refused::RefusalCode;
use crate::pledges::scope::Scope;
use crate::pledges::store::{FailedMailKey, Key as _, NotificationKey, OperatorStore, decode};
use crate::pledges::time::day_of;
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
/// was neither sent nor dismissed since. KV cost: 1 list per 1,000 failures of all scopes, at most 10; 3 reads per 100 failures
/// of these scopes, at most 30.
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

/// Returns the IDs of the transactions for which one of these notifications failed and was neither sent nor dismissed
/// since. KV cost: 1 read per 100 notifications; 3 per 100 that failed or have no delivery result.
pub async fn unsent(
    store: &impl OperatorStore,
    now_ms: u64,
    notifications: &[Notified],
) -> Result<BTreeSet<String>> {
    let keys: Vec<_> = notifications.iter().map(|it| NotificationKey(&it.id, it.service)).collect();
    let ended = read_values(store, &keys).await?;
    let failed = notifications.iter().zip(ended).filter_map(|(of, it)| Failure::of(of, it));
    let failed = listed(store, failed.collect()).await?;
    let of = failed.iter().map(|it| (&it.of.id, it.of.service));
    let beside = Beside::read(store, now_ms, of).await?;
    let unsettled = failed.iter().zip(beside).filter(|(it, beside)| !beside.is_settled(it.round));
    Ok(unsettled.map(|(it, _)| it.of.id.to_string()).collect())
}

/// A notification that may have failed.
struct Failure<'n> {
    of: &'n Notified,
    round: u32,
    /// The UTC day under which the list of failures has it; `None` if it counts as failed without a look at the list.
    day: Option<String>,
}

impl<'n> Failure<'n> {
    /// Returns `None` if the notification was sent, or skipped for a reason that no resend mends. A damaged marker counts as a
    /// failure. Without a delivery result, the queue may have refused the notification.
    fn of(of: &'n Notified, marker: Option<Vec<u8>>) -> Option<Self> {
        let Some(marker) = marker else {
            return Some(Failure { of, day: of.day.clone(), round: 0 });
        };
        let Ok(marker) = decode::<Marker>(NotificationKey::KIND, &marker) else {
            return Some(Failure { of, day: None, round: 0 });
        };
        let day = of.day.as_ref().map(|_| day_of(&marker.at).to_owned());
        let failure = Failure { of, round: marker.round, day };
        Status::ended(of.service, marker).is_unsent().then_some(failure)
    }

    fn key(&self) -> Option<FailedMailKey<'_>> {
        let day = self.day.as_deref()?;
        Some(FailedMailKey { day, id: &self.of.id, service: self.of.service })
    }
}

/// Keeps what the list of failures has: dismissed failures were removed from it.
async fn listed<'n>(
    store: &impl OperatorStore,
    failures: Vec<Failure<'n>>,
) -> Result<Vec<Failure<'n>>> {
    let keys: Vec<_> = failures.iter().filter_map(Failure::key).collect();
    let mut values = read_values(store, &keys).await?.into_iter();
    let is_listed = |it: &Failure<'_>| it.day.is_none() || values.next().flatten().is_some();
    Ok(failures.into_iter().filter(is_listed).collect())
}
