use super::{KeyRow, row};
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::Pages;
use crate::office::system::rule::secret;
use crate::pledges::auth::KeyLevel;
use crate::pledges::store::{CredentialKey, Key as _, KeyInfo, OperatorStore};

/// Returns the keys of a unit or a team, or all keys, sorted by hash. Reads at most `most_pages` list pages
/// of 1,000 keys, and also returns whether there are more pages. KV cost: 1 read, and 1 list per 1,000 keys.
///
/// Keys that were created in the last minute may be missing. A key with unreadable metadata is found only
/// among all keys, because its unit or team is unknown.
pub async fn list(
    store: &impl OperatorStore,
    of: Option<&KeyLevel>,
    most_pages: usize,
) -> Result<(Vec<KeyRow>, bool)> {
    let secret = fingerprint(store).await?;
    let is_wanted =
        |row: &KeyRow| of.is_none_or(|of| row.note.as_ref().is_some_and(|it| it.level == *of));
    let mut rows = Vec::new();
    let mut pages = Pages::new(store, CredentialKey::PREFIX);
    for _ in 0..most_pages {
        let Some(page) = pages.next().await? else { break };
        let listed = page.iter().filter_map(|record| row(record, secret.as_deref()));
        rows.extend(listed.filter(is_wanted));
    }
    Ok((rows, !pages.is_last))
}

async fn fingerprint(store: &impl OperatorStore) -> Result<Option<String>> {
    Ok(secret::recorded(store).await?.map(|secret| secret.fingerprint()))
}

pub fn is_key(name: &str) -> bool {
    name.starts_with(CredentialKey::PREFIX)
}

/// Returns the key that a record of a backup describes; `None` for a record of another kind.
pub fn backed(record: &KeyInfo) -> Option<KeyRow> {
    row(record, None)
}
