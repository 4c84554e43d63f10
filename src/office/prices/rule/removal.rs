//! Keeps the history of price lists, and removes units' own lists.

use crate::office::audit::rule::Author;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::encode;
use crate::pledges::scope::Mode;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{OperatorStore, PriceListKey, PriceListVersionKey, Registered};
use serde::Serialize;

/// An entry in the history of a unit's price list, which marks the removal of the list.
#[derive(Serialize)]
pub(super) struct RemovalMark {
    pub removed: bool,
}

/// Removes price lists of a unit. The caller must already have written the command's entry in the audit log.
/// KV cost: 2 writes for each list.
pub(crate) async fn remove_lists(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    lists: &[PriceListKey<'_>],
    time: &str,
) -> Result<()> {
    let mark = RemovalMark { removed: true };
    for of in lists {
        keep_version(store, author, PriceListVersionKey { of: *of, time }, &mark).await?;
        store.remove(of).await?;
    }
    Ok(())
}

/// Returns the keys of a unit's own price lists, at most one for each mode. KV cost: 1 read.
pub(crate) async fn lists_of<'u>(
    store: &impl OperatorStore,
    unit: &'u str,
) -> Result<Vec<PriceListKey<'u>>> {
    let keys = [Mode::Test, Mode::Live].map(|mode| PriceListKey::of_unit(mode, unit));
    let values = store.get_values(&keys).await?;
    Ok(keys
        .into_iter()
        .zip(values)
        .filter(|(_, value)| value.is_some())
        .map(|(of, _)| of)
        .collect())
}

/// Adds an entry to the history of a price list: either the new list or a mark of its removal.
pub(super) async fn keep_version(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    version: PriceListVersionKey<'_>,
    record: &impl Serialize,
) -> Result<()> {
    let registered = Registered { created: version.time.to_owned(), ..author.registered() };
    Ok(store.put(&version, encode(record)?, &registered).await?)
}
