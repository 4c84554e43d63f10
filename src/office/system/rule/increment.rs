//! Selects the contents of an incremental backup: what was created or changed since the previous backup.
//!
//! Transactions come from the ledger, because a list in KV would return all of them. Other records are listed
//! in KV. Kinds with few records are backed up in full, so a record that is missing was removed. Records of the kinds
//! with many records never change, so only new ones are backed up.

use crate::office::orders::rows::changed;
use crate::office::orders::rows::changed::{ChangedPage, Next};
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::system::rows::state;
use crate::office::system::rows::state::SHOWN_AFTER_MS;
use crate::pledges::idempotency::ReplayHash;
use crate::pledges::store::{
    AuditKey, CancelledKey, ConnectionKey, CredentialKey, ErasedKey, FailedMailKey, Key, MemberKey,
    NotificationKey, PriceListKey, PriceListVersionKey, ProfileKey, Recorded, ReplayKey, SecretKey,
    SettlementKey, TeamKey, TransactionKey, UnitKey, UpdatesKey,
};
use crate::pledges::time::{date_time, parse_ms};
use crate::pledges::types::TransactionId;
use serde::Serialize;
use serde_json::Value;

/// Largest number of transactions on a page.
const MOST: usize = 1_000;
/// Prefixes of the kinds of records that each incremental backup contains in full. Such records change
/// rarely, and each change matters.
const WHOLE: [&str; 14] = [
    CancelledKey::PREFIX,
    ConnectionKey::PREFIX,
    PriceListKey::PREFIX,
    ErasedKey::PREFIX,
    CredentialKey::PREFIX,
    FailedMailKey::PREFIX,
    MemberKey::PREFIX,
    PriceListVersionKey::PREFIX,
    ProfileKey::PREFIX,
    SecretKey::PREFIX,
    SettlementKey::PREFIX,
    TeamKey::PREFIX,
    UnitKey::PREFIX,
    UpdatesKey::PREFIX,
];

/// The time span of an incremental backup, as RFC 3339 date-times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Span {
    /// The beginning.
    pub since: String,
    /// The time up to which the backup is complete. The next backup begins here.
    pub complete_up_to: String,
}

/// Returns the time span of a backup that continues an earlier one. `started_at` and `complete_up_to` are
/// from the header of the earlier backup.
///
/// # Errors
/// If the ledger's first reconciliation pass has not ended, or a time in the header is
/// not valid.
pub async fn span(
    ledger: &dyn Ledger,
    started_at: &str,
    complete_up_to: Option<&str>,
) -> Result<Span> {
    let watermark = state::state(ledger).await?.watermark().ok_or_else(|| {
        invalid(
            "an incremental backup needs a ledger that was compared with all records at least once. \
             Either run `npm run ledger -- check` and repeat this command, or make a full backup",
        )
    })?;
    let read = |time: &str| {
        parse_ms(time)
            .ok_or_else(|| invalid("the time of the previous backup is not a valid date-time"))
    };
    let since = match complete_up_to {
        Some(time) => read(time)?,
        None => read(started_at)?.saturating_sub(SHOWN_AFTER_MS), // a full backup has only what KV's lists showed
    };
    let until = watermark.max(since);
    Ok(Span { since: date_time(since), complete_up_to: date_time(until) })
}

/// Returns a page of the transactions that were created or erased since a time, an RFC 3339 date-time. Ledger cost: 1 query.
///
/// # Errors
/// If `since` is not valid, or the ledger fails.
pub async fn changed(ledger: &dyn Ledger, since: &str, next: Next) -> Result<ChangedPage> {
    let since = parse_ms(since).ok_or_else(|| invalid("this is not a valid date-time"))?;
    Ok(changed::changed(ledger, since, next, MOST).await?)
}

/// Returns the prefixes of the records that a backup lists in KV.
pub fn listed() -> Vec<&'static str> {
    WHOLE.into_iter().chain([AuditKey::PREFIX, NotificationKey::PREFIX]).collect()
}

/// Whether an incremental backup includes a listed record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BackupDecision {
    Taken,
    /// The previous backup already has the record.
    Known,
    /// The previous backup already has this record, and all records that follow it in the list.
    Last,
}

/// Decides whether an incremental backup includes a record. `expiration` is in seconds since 1970; `since` is the
/// beginning of the backup's span, an RFC 3339 date-time.
pub fn fate(name: &str, expiration: Option<u64>, since: &str) -> BackupDecision {
    let since = parse_ms(since).unwrap_or_default();
    if let Some(key) = AuditKey::parse(name) {
        return if key.time_ms() < since { BackupDecision::Last } else { BackupDecision::Taken };
    }
    let kept = name.strip_prefix(NotificationKey::PREFIX).and(NotificationKey::KEPT_SECONDS);
    let written = expiration.zip(kept).map(|(end, kept)| end.saturating_sub(kept.into()) * 1_000);
    // The time of the last write, as each write renews the expiry.
    match written {
        Some(written) if written < since.saturating_sub(SHOWN_AFTER_MS) => BackupDecision::Known,
        _ => BackupDecision::Taken,
    }
}

/// Returns whether a record is of a kind that each incremental backup contains in full. For such kinds,
/// earlier backups do not matter.
pub fn is_whole(name: &str) -> bool {
    WHOLE.into_iter().any(|prefix| name.starts_with(prefix))
}

/// Returns the name of a transaction's record; `None` if `id` is not a transaction ID.
pub fn name_of(id: &str) -> Option<String> {
    Some(TransactionKey(&TransactionId::parse(id)?).name())
}

/// Returns the name of a transaction's idempotency record, which lets retries of the create request return
/// the same answer. Returns `None` if the request had no `Idempotency-Key`. `name` and `metadata` are those
/// of the transaction's record.
pub fn replay_of(name: &str, metadata: &Value) -> Option<String> {
    let recorded = Recorded::from_metadata(TransactionKey::parse(name)?, metadata).ok()?;
    Some(ReplayKey(ReplayHash::from_hex(&recorded.summary.replay?)?).name())
}

fn invalid(problem: &str) -> OperatorError {
    OperatorError::invalid(problem)
}
