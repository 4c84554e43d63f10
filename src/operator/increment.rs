//! What an incremental backup takes: what was created or changed since the one before.
//!
//! Transactions come from the ledger, as a list of KV has their whole history. Everything else is listed: kinds of few
//! records whole, so that what was removed is missing in the last backup; those of many only as far as they are new.

use super::{OperatorError, Result, bound};
use crate::idempotency::ReplayHash;
use crate::ledger::{self, ChangedPage, Ledger, Next, SHOWN_AFTER_MS};
use crate::pledge::TransactionId;
use crate::store::{
    AuditKey, CatalogueKey, CredentialKey, ErasedKey, FailedMailKey, Key, MemberKey,
    NotificationKey, PricesKey, ProfileKey, Recorded, ReplayKey, SecretKey, SettlementKey, TeamKey,
    TransactionKey, UnitKey,
};
use crate::time::{date_time, parse_ms};
use serde::Serialize;
use serde_json::Value;

/// Transactions of a page.
const MOST: usize = 1_000;
/// Prefixes that are listed whole, of kinds of which few records change, and each change counts.
const WHOLE: [&str; 11] = [
    CatalogueKey::PREFIX,
    ErasedKey::PREFIX,
    CredentialKey::PREFIX,
    FailedMailKey::PREFIX,
    MemberKey::PREFIX,
    PricesKey::PREFIX,
    ProfileKey::PREFIX,
    SecretKey::PREFIX,
    SettlementKey::PREFIX,
    TeamKey::PREFIX,
    UnitKey::PREFIX,
];

/// The span of an incremental backup, RFC 3339 date-times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Span {
    /// Since when.
    pub since: String,
    /// Up to when it has everything: the next one begins here.
    pub complete_up_to: String,
}

/// The span of a backup that continues another one, by the times of that one's header.
///
/// # Errors
/// If there is no ledger, or its first reconciliation has not ended.
pub async fn span(
    ledger: Option<&dyn Ledger>,
    started_at: &str,
    complete_up_to: Option<&str>,
) -> Result<Span> {
    let watermark = ledger::state(bound(ledger)?).await?.watermark().ok_or_else(|| {
        invalid(
            "an incremental backup needs the ledger, whose first reconciliation has not ended: run \
         `npm run ledger -- check`, then this again, or make a full backup",
        )
    })?;
    let read =
        |time: &str| parse_ms(time).ok_or_else(|| invalid("the backup before has no valid time"));
    let since = match complete_up_to {
        Some(time) => read(time)?,
        None => read(started_at)?.saturating_sub(SHOWN_AFTER_MS), // a full one lists what KV shows
    };
    let until = watermark.max(since);
    Ok(Span { since: date_time(since), complete_up_to: date_time(until) })
}

/// A page of the transactions that were created or erased since a time.
///
/// # Errors
/// If there is no ledger, or it does not answer.
pub async fn changed(ledger: Option<&dyn Ledger>, since: &str, next: Next) -> Result<ChangedPage> {
    let since = parse_ms(since).ok_or_else(|| invalid("this is no time"))?;
    Ok(ledger::changed(bound(ledger)?, since, next, MOST).await?)
}

/// The prefixes of the records that are listed.
pub fn listed() -> Vec<&'static str> {
    WHOLE.into_iter().chain([AuditKey::PREFIX, NotificationKey::PREFIX]).collect()
}

/// What becomes of a record of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// It is in the backup.
    Taken,
    /// The backup before has it.
    Known,
    /// So it is with all that follow in the list.
    Last,
}

/// What becomes of a record of this name, which expires at a time in seconds since 1970, in a backup since a time.
pub fn fate(name: &str, expiration: Option<u64>, since: &str) -> Fate {
    let since = parse_ms(since).unwrap_or_default();
    if let Some(key) = AuditKey::parse(name) {
        return if key.time_ms() < since { Fate::Last } else { Fate::Taken };
    }
    let kept = name.strip_prefix(NotificationKey::PREFIX).and(NotificationKey::KEPT_SECONDS);
    let written = expiration.zip(kept).map(|(end, kept)| end.saturating_sub(kept.into()) * 1_000);
    // A record that is written anew expires later.
    match written {
        Some(written) if written < since.saturating_sub(SHOWN_AFTER_MS) => Fate::Known,
        _ => Fate::Taken,
    }
}

/// Whether the last backup alone says which records there are of this one's kind.
pub fn is_whole(name: &str) -> bool {
    WHOLE.into_iter().any(|prefix| name.starts_with(prefix))
}

/// The name of a transaction's record; `None` if that is no ID.
pub fn name_of(id: &str) -> Option<String> {
    Some(TransactionKey(&TransactionId::parse(id)?).name())
}

/// The name of the replay record of a transaction with this name and metadata, if its create had an idempotency key.
pub fn replay_of(name: &str, metadata: &Value) -> Option<String> {
    let recorded = Recorded::from_metadata(TransactionKey::parse(name)?, metadata).ok()?;
    Some(ReplayKey(ReplayHash::from_hex(&recorded.summary.replay?)?).name())
}

fn invalid(problem: &str) -> OperatorError {
    OperatorError::Invalid(problem.to_owned())
}
