//! Entries about changes in Workers KV, such as those of keys. Such an entry is written to Workers KV before the change,
//! so that a key can be revoked without the ledger. The cron brings it into the ledger.

use super::change::Change;
use crate::office::audit::rows;
use crate::office::audit::rows::AuditRow;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::{Pages, read_values};
use crate::pledges::store::{AuditKey, Key as _, MAX_READS, OperatorStore, decode};

/// Brings entries into the ledger. They stay in Workers KV for 90 days, in case the ledger is set back to an earlier time.
/// KV cost: 1 list per 1,000 new entries, at least 1, and 1 read per 100 new entries. Ledger cost: 1 query, and 1 more for new entries.
pub async fn bring_in(store: &impl OperatorStore, ledger: &dyn Ledger) -> Result<()> {
    for rows in pending(store, ledger).await?.chunks(MAX_READS) {
        ledger.run(&[rows::adding(rows)?]).await?;
    }
    Ok(())
}

/// Returns the entries that are only in Workers KV, newest first. Those of the last minute may be missing. KV cost: as
/// [`bring_in`]. Ledger cost: 1 query.
pub(super) async fn pending(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
) -> Result<Vec<AuditRow>> {
    let mut pages = Pages::new(store, AuditKey::PREFIX);
    let mut found = Vec::new();
    while let Some(page) = pages.next().await? {
        let names: Vec<_> = page.into_iter().map(|record| record.name).collect();
        let missing = rows::missing(ledger, &names).await?;
        let is_last = missing.len() < names.len(); // the ledger has the older ones
        for names in missing.chunks(MAX_READS) {
            found.extend(read(store, names).await?);
        }
        if is_last {
            break;
        }
    }
    Ok(found)
}

/// Returns the changes of records in Workers KV since a time, in milliseconds since 1970, newest first. Those of the last
/// minute may be missing. KV cost: 1 list per 1,000 entries, and 1 read per 100.
pub(crate) async fn noted_since(store: &impl OperatorStore, since_ms: u64) -> Result<Vec<Change>> {
    let mut pages = Pages::new(store, AuditKey::PREFIX);
    let (mut found, mut is_old) = (Vec::new(), false);
    while !is_old && let Some(page) = pages.next().await? {
        let keys: Vec<_> = page.iter().filter_map(|record| AuditKey::parse(&record.name)).collect();
        let count = keys.partition_point(|key| key.time_ms() >= since_ms);
        is_old = count < keys.len();
        let values = read_values(store, keys.get(..count).unwrap_or_default()).await?;
        let changes = values.into_iter().flatten();
        found.extend(changes.filter_map(|value| decode(AuditKey::KIND, &value).ok()));
    }
    Ok(found)
}

async fn read(store: &impl OperatorStore, names: &[String]) -> Result<Vec<AuditRow>> {
    let keys: Vec<_> = names.iter().filter_map(|name| AuditKey::parse(name)).collect();
    let values = store.get_values(&keys).await?;
    let row = |(key, value): (AuditKey, Option<Vec<u8>>)| {
        let content = String::from_utf8_lossy(&value?).into_owned();
        Some(AuditRow { name: key.name(), content })
    };
    Ok(keys.into_iter().zip(values).filter_map(row).collect())
}
