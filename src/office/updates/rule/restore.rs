//! Restores updates from the audit log, for a database that has lost them.

use super::compile::{Compared, compare};
use crate::office::audit::rule as audit;
use crate::office::audit::rule::{Author, Change};
use crate::office::shared::rows::port::{Ledger, LedgerError};
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::read_values;
use crate::office::updates::rows::changes as update_changes;
use crate::office::updates::rows::updates;
use crate::office::updates::rows::updates::UpdateRow;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{AuditKey, Key as _, OperatorStore, decode};
use serde::Serialize;
use std::collections::BTreeMap;

/// The beginning of the name of each command that changes updates. The audit log's entries of these commands
/// contain the changed update.
const GROUP: &str = "updates ";

/// The outcome of [`restore`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RestoredUpdates {
    pub restored: u64,
    pub known: u64,
    /// Names of the audit log's entries whose updates could not be written.
    pub failed: Vec<String>,
    /// How many records that timelines read were compared with the ledger's rows, and how many of them
    /// differed and were written again.
    pub records: Compared,
}

/// Restores the updates that the ledger has lost. Takes each update's content from its last entry in the
/// audit log. Then compares the records in KV with the ledger, and rewrites the records that differ.
///
/// KV cost: 1 list per 1,000 entries of the audit log, 1 read per 100 changes of updates, and the cost of
/// [`compare`]. Ledger cost: 2 queries for each update.
///
/// # Errors
/// If the ledger or the store fails. Some of the updates may have been written then.
pub async fn restore(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
) -> Result<RestoredUpdates> {
    author.record(store, "updates restore", [""; 0]).await?;
    let mut restored = RestoredUpdates::default();
    for (name, row) in last_rows(store, &mut restored.failed).await? {
        if updates::get(ledger, &row.id).await?.is_some() {
            restored.known += 1;
            continue;
        }
        match update_changes::restore(ledger, &row).await {
            Ok(true) => restored.restored += 1,
            Ok(false) | Err(LedgerError::Refused(_)) => restored.failed.push(name),
            Err(error) => return Err(error.into()),
        }
    }
    restored.records = compare(store, ledger, author.clock).await?;
    Ok(restored)
}

/// Returns the last version of each update in the audit log, with the name of its entry. Adds the names of
/// entries that cannot be read to `unread`.
async fn last_rows(
    store: &impl OperatorStore,
    unread: &mut Vec<String>,
) -> Result<Vec<(String, UpdateRow)>> {
    let notes = audit::notes(store, 0).await?;
    let of_updates = notes
        .into_iter()
        .filter(|(_, note)| note.command.starts_with(GROUP) && !note.on.is_empty());
    let keys: Vec<_> = of_updates.map(|(key, _)| key).collect();
    let mut rows: BTreeMap<String, (String, UpdateRow)> = BTreeMap::new();
    for (key, value) in keys.iter().zip(read_values(store, &keys).await?) {
        let Some(row) = value.and_then(|value| row_of(&value)) else {
            unread.push(key.name());
            continue;
        };
        let is_newer = |(_, known): &(String, UpdateRow)| known.revision < row.revision;
        if rows.get(&row.id).is_none_or(is_newer) {
            rows.insert(row.id.clone(), (key.name(), row));
        }
    }
    Ok(rows.into_values().collect())
}

fn row_of(entry: &[u8]) -> Option<UpdateRow> {
    let change: Change = decode(AuditKey::KIND, entry).ok()?;
    serde_json::from_str(&change.record?.to_string()).ok() // amounts are read from text only
}
