//! Lists the entries of the audit log since a time.

use super::change::Change;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::{Pages, read_values};
use crate::pledges::store::{AuditKey, ChangeNote, Key as _, KeyInfo, OperatorStore, decode};
use serde::Deserialize as _;

/// Returns the changes since a time, in milliseconds since 1970, newest first. Leaves out withdrawn changes and entries that
/// cannot be read. Changes of the last minute may be missing. KV cost: 1 list per 1,000 entries, 1 read per 100 changes.
pub async fn since(store: &impl OperatorStore, since_ms: u64) -> Result<Vec<Change>> {
    let mut entries = entries(store, since_ms).await?;
    entries.retain(|(key, _)| key.time_ms() >= since_ms);
    let keys: Vec<_> = entries.into_iter().map(|(key, _)| key).collect();
    let values = read_values(store, &keys).await?;
    Ok(values
        .into_iter()
        .flatten()
        .filter_map(|value| decode(AuditKey::KIND, &value).ok())
        .collect())
}

/// Returns the notes of the changes since a time, in milliseconds since 1970, newest first. A note is the
/// summary of a change in a list. Reads whole list pages, so it may also return some earlier changes. Leaves
/// out withdrawn changes. KV cost: 1 list per 1,000 entries, no read.
pub(crate) async fn notes(
    store: &impl OperatorStore,
    since_ms: u64,
) -> Result<Vec<(AuditKey, ChangeNote)>> {
    entries(store, since_ms).await
}

type Noted = (AuditKey, ChangeNote);

/// Lists entries of the audit log, newest first. Stops after the list page that reaches back to the given
/// time. Leaves out withdrawn entries, the entries that withdraw them, and entries whose note is damaged.
async fn entries(store: &impl OperatorStore, since_ms: u64) -> Result<Vec<Noted>> {
    let mut found: Vec<Noted> = Vec::new();
    let mut pages = Pages::new(store, AuditKey::PREFIX);
    while found.last().is_none_or(|(oldest, _)| oldest.time_ms() >= since_ms)
        && let Some(page) = pages.next().await?
    {
        found.extend(page.iter().filter_map(noted));
    }
    let mut withdrawn: Vec<_> = found.iter().filter_map(withdraws).collect();
    withdrawn.sort_unstable();
    found.retain(|entry| withdraws(entry).is_none() && withdrawn.binary_search(&entry.0).is_err());
    Ok(found)
}

/// Returns the key of the entry that this entry withdraws; `None` if it withdraws none.
fn withdraws((_, note): &Noted) -> Option<AuditKey> {
    AuditKey::parse(note.withdraws.as_ref()?)
}

fn noted(KeyInfo { name, metadata, .. }: &KeyInfo) -> Option<Noted> {
    Some((AuditKey::parse(name)?, ChangeNote::deserialize(metadata).ok()?))
}
