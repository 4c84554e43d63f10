//! Keeps the history of price lists, and writes their copies in Workers KV.

use crate::office::shared::rows::published::PublishedRow;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::published;
use crate::office::shared::rule::records::encode;
use crate::pledges::charge::PriceList;
use crate::pledges::service::Clock;
use crate::pledges::store::{
    Key as _, OperatorStore, PriceListKey, PriceListVersionKey, Registered, decode,
};
use crate::pledges::time::date_time;
use serde::Serialize;

/// An entry in the history of a unit's price list, which marks the removal of the list.
#[derive(Serialize)]
struct RemovalMark {
    removed: bool,
}

/// Writes a price list to Workers KV as its row has it: first its version in the history, so that the version exists
/// before a transaction names it, then the current list as [`published::publish`] does. KV cost: 2 writes.
pub(crate) async fn publish(
    store: &impl OperatorStore,
    clock: &impl Clock,
    of: PriceListKey<'_>,
    (row, read_ms): (&PublishedRow, u64),
) -> Result<bool> {
    let PublishedRow { author: by, by_shop, at, .. } = row;
    let created = date_time(*at);
    let registered = Registered { created: created.clone(), by: by.clone(), by_shop: *by_shop };
    let version = match published::content(row) {
        Some(record) => encode(&decode::<PriceList>(PriceListKey::KIND, record)?)?,
        None => encode(&RemovalMark { removed: true })?,
    };
    store.put(&PriceListVersionKey { of, time: &created }, version, &registered).await?;
    published::publish(store, clock, &of, (row, read_ms)).await
}
