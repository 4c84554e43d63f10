//! The last backups of the namespace, so that others see when it was made. The file is the command's.

use super::audit::Author;
use super::{Result, load, put_record};
use crate::handle::{Clock, Entropy};
use crate::store::{BackupKey, OperatorStore};
use crate::time::date_time;
use serde::{Deserialize, Serialize};

/// A backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backup {
    /// When it was whole, an RFC 3339 date-time.
    pub at: String,
    /// Number of records in it.
    pub records: u64,
    /// Who made it.
    pub by: String,
}

/// Records that a backup is whole. A restore leaves this record out.
///
/// # Errors
/// If the store fails.
pub async fn record(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    kind: BackupKey,
    records: u64,
) -> Result<Backup> {
    let at = date_time(author.clock.now_ms());
    let backup = Backup { at, records, by: author.by.to_owned() };
    put_record(store, &kind, &backup).await?;
    Ok(backup)
}

/// The last full backup; `None` if there was none, or it is not known here.
///
/// # Errors
/// If its record is damaged, or the store fails.
pub async fn last(store: &impl OperatorStore) -> Result<Option<Backup>> {
    load(store, BackupKey::Full).await
}

/// The last incremental backup; `None` if there was none, or it is not known here.
///
/// # Errors
/// As [`last`].
pub async fn last_increment(store: &impl OperatorStore) -> Result<Option<Backup>> {
    load(store, BackupKey::Increment).await
}
