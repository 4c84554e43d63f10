//! Keeps the history of price lists, and writes their copies in Workers KV.

use crate::office::shared::rows::published::PublishedRow;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::encode;
use crate::pledges::charge::PriceList;
use crate::pledges::store::{
    Key as _, NoMetadata, OperatorStore, PriceListKey, PriceListVersionKey, Registered, decode,
};
use crate::pledges::time::date_time;
use serde::Serialize;

/// An entry in the history of a unit's price list, which marks the removal of the list.
#[derive(Serialize)]
struct RemovalMark {
    removed: bool,
}

/// Writes a price list to Workers KV as its row has it: first its version in the history, so that the version exists
/// before a transaction names it, then the current list. KV cost: 2 writes.
pub(crate) async fn publish(
    store: &impl OperatorStore,
    of: PriceListKey<'_>,
    PublishedRow { content, author: by, by_shop, at, .. }: PublishedRow,
) -> Result<()> {
    let created = date_time(at);
    let (version, record) = (PriceListVersionKey { of, time: &created }, content.as_deref());
    let registered = Registered { created: created.clone(), by, by_shop };
    match record.map(|record| record.get().as_bytes()) {
        Some(record) => {
            let list: PriceList = decode(PriceListKey::KIND, record)?;
            store.put(&version, encode(&list)?, &registered).await?;
            store.put(&of, record.to_vec(), &NoMetadata).await?;
        }
        None => {
            store.put(&version, encode(&RemovalMark { removed: true })?, &registered).await?;
            store.remove(&of).await?;
        }
    }
    Ok(())
}
