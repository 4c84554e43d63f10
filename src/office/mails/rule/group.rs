//! Groups the failed notifications by unit, service and cause, so that all of a group can be resent or dismissed at once.

use super::{Beside, Status};
use crate::buyer::delivery::Marker;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::read_values;
use crate::office::shops::rows::scopes;
use crate::pledges::scope::Scope;
use crate::pledges::store::{
    FailedMailKey, Key as _, KeyInfo, NotificationKey, OperatorStore, decode,
};
use crate::pledges::types::{NotificationService, TransactionId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A record in the list of failures.
#[derive(Debug)]
pub(super) struct Failure {
    /// The record's name.
    pub name: String,
    pub day: String,
    pub id: TransactionId,
    pub service: NotificationService,
}

impl Failure {
    pub fn parse(record: &KeyInfo) -> Option<Self> {
        let (day, id, service) = FailedMailKey::parse(&record.name)?;
        Some(Failure { day: day.to_owned(), id, service, name: record.name.clone() })
    }
}

/// What the notifications of a group have in common, apart from their service.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FailureGroup {
    #[serde(flatten)]
    pub scope: Scope,
    /// The code of the cause, as [`Status::reason`]; empty if the failure has none.
    pub cause: String,
}

impl FailureGroup {
    pub(super) fn has(&self, id: &TransactionId) -> bool {
        id.as_str().starts_with(&TransactionId::scope_prefix(&self.scope))
    }
}

/// A group of failed notifications, with their number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CountedGroup {
    #[serde(flatten)]
    pub of: FailureGroup,
    /// The service of the notifications. The JSON leaves it out for e-mails.
    #[serde(skip_serializing_if = "NotificationService::is_email")]
    pub service: NotificationService,
    pub count: usize,
    /// The delivery state of one of the notifications.
    #[serde(skip)]
    pub example: Status,
}

/// Counts the failed notifications that were not sent since, by unit, mode, service and cause, the largest group first. Looks
/// at the first 1,000 records of the list of failures. Leaves out units of which the ledger has no transaction. KV cost: 1 list,
/// and 3 reads per 100 failures. Ledger cost: 1 query.
///
/// # Errors
/// If the store or the ledger fails.
pub async fn groups(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    now_ms: u64,
) -> Result<Vec<CountedGroup>> {
    let page = store.list(FailedMailKey::PREFIX, None).await?;
    let records = page.records.iter().filter(|record| !record.is_tombstone());
    let mut known = BTreeSet::new();
    let is_new = |it: &Failure| known.insert(NotificationKey(&it.id, it.service).name());
    let failures: Vec<_> = records.filter_map(Failure::parse).filter(is_new).collect();
    if failures.is_empty() {
        return Ok(Vec::new());
    }
    let of = failures.iter().map(|failure| (&failure.id, failure.service));
    let beside = Beside::read(store, now_ms, of).await?;
    let states = states(store, &failures).await?;
    let scopes = scopes::scopes(ledger, None, None).await?;
    let scopes: BTreeMap<_, _> =
        scopes.into_iter().map(|scope| (TransactionId::scope_prefix(&scope), scope)).collect();
    let mut groups = BTreeMap::new();
    for ((failure, status), beside) in failures.iter().zip(states).zip(beside) {
        let is_open = status.is_unsent() && !beside.is_settled(status.round.unwrap_or_default());
        let scope = scope_of(&failure.id, &scopes).filter(|_| is_open);
        let Some(scope) = scope else { continue };
        let cause = status.reason.clone().unwrap_or_default();
        let of = FailureGroup { scope: scope.clone(), cause };
        groups.entry((of, failure.service.name())).or_insert((status, 0)).1 += 1;
    }
    let group = |((of, _), (example, count)): ((FailureGroup, _), (Status, usize))| CountedGroup {
        of,
        service: example.service,
        count,
        example,
    };
    let mut groups: Vec<_> = groups.into_iter().map(group).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.count));
    Ok(groups)
}

/// Finds the scope whose prefix the ID has. All prefixes have the same length.
fn scope_of<'s>(id: &TransactionId, scopes: &'s BTreeMap<String, Scope>) -> Option<&'s Scope> {
    let length = scopes.keys().next()?.len();
    scopes.get(id.as_str().get(..length)?)
}

/// Returns the last known states of notifications. KV cost: 1 read per 100 notifications.
async fn states(store: &impl OperatorStore, failures: &[Failure]) -> Result<Vec<Status>> {
    let keys: Vec<_> = failures.iter().map(|it| NotificationKey(&it.id, it.service)).collect();
    let ended = read_values(store, &keys).await?;
    let state = |(failure, marker): (&Failure, Option<Vec<u8>>)| match marker {
        None => Status::failed(failure.service, UNSENT),
        Some(marker) => match decode::<Marker>(NotificationKey::KIND, &marker) {
            Ok(marker) => Status::ended(failure.service, marker),
            Err(_) => Status::failed(failure.service, "damaged"),
        },
    };
    Ok(failures.iter().zip(ended).map(state).collect())
}

/// The cause of a failure without a delivery result: the queue did not accept the notification.
const UNSENT: &str = "unsent";

/// Returns those of these failures that were not sent since and have this cause. KV cost: 1 read per 100 failures.
pub(super) async fn with_cause(
    store: &impl OperatorStore,
    failures: Vec<Failure>,
    cause: &str,
) -> Result<Vec<Failure>> {
    let states = states(store, &failures).await?;
    let has_cause = |status: &Status| {
        status.is_unsent() && status.reason.as_deref().unwrap_or_default() == cause
    };
    let found = failures.into_iter().zip(states).filter(|(_, status)| has_cause(status));
    Ok(found.map(|(failure, _)| failure).collect())
}
