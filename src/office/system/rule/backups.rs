//! Records when the namespace was last backed up, so that everyone can see it. The backup command writes the backup's
//! file; [`cron_backup`](super::cron_backup) writes the backups of the cron.

use crate::office::audit::rule::Author;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::{load, put_record};
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{BackupKey, OperatorStore};
use crate::pledges::time::date_time;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backup {
    /// When the backup was complete, an RFC 3339 date-time.
    pub at: String,
    pub records: u64,
    pub by: String,
}

/// Records that a backup is complete. A restore does not bring this record back. KV cost: 1 write.
pub async fn record(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    kind: BackupKey,
    records: u64,
) -> Result<Backup> {
    let at = date_time(author.clock.now_ms());
    let backup = Backup { at, records, by: author.by.to_owned() };
    put(store, kind, &backup).await?;
    Ok(backup)
}

/// Writes the record of the last backup. KV cost: 1 write.
pub(super) async fn put(
    store: &impl OperatorStore,
    kind: BackupKey,
    backup: &Backup,
) -> Result<()> {
    put_record(store, &kind, backup).await
}

/// Returns the last full backup; `None` if none is recorded.
///
/// # Errors
/// If its record is damaged, or the store fails.
pub async fn last(store: &impl OperatorStore) -> Result<Option<Backup>> {
    load(store, BackupKey::Full).await
}

/// Returns the last incremental backup; `None` if none is recorded.
///
/// # Errors
/// As [`last`].
pub async fn last_increment(store: &impl OperatorStore) -> Result<Option<Backup>> {
    load(store, BackupKey::Increment).await
}

/// Returns the last backup of the rows that only the ledger has; `None` if none is recorded.
///
/// # Errors
/// As [`last`].
pub async fn last_of_ledger(store: &impl OperatorStore) -> Result<Option<Backup>> {
    load(store, BackupKey::Ledger).await
}
