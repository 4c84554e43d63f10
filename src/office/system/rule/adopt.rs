//! Adds rows for payments, memberships and connections that Workers KV alone has, or has in a newer version: after a restore, and for
//! local development.

use crate::office::audit::rule::change_of;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rows::published;
use crate::office::shared::rows::published::PublishedRow;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::{names, read_values};
use crate::pledges::store::{
    AuditKey, ConnectionKey, Key, MemberKey, OperatorStore, SettlementKey,
};
use crate::pledges::time::parse_ms;
use serde::Deserialize;

/// Adds a row for each payment, membership and connection that has none, or an older one. KV cost: 1 list per 1,000 records, and 1 read per 100.
/// Ledger cost: 1 call per 1,000 records.
///
/// # Errors
/// If the ledger or the store fails.
pub async fn adopt(store: &impl OperatorStore, ledger: &dyn Ledger) -> Result<()> {
    let payments = names(store, SettlementKey::PREFIX.to_owned(), SettlementKey::parse).await?;
    let keys: Vec<_> = payments.iter().map(SettlementKey).collect();
    adopt_those(store, ledger, &keys).await?;
    let members = names(store, MemberKey::PREFIX.to_owned(), |name| {
        MemberKey::parse(name).map(|_| name.to_owned())
    });
    let members = members.await?;
    let keys: Vec<_> = members.iter().filter_map(|name| MemberKey::parse(name)).collect();
    adopt_those(store, ledger, &keys).await?;
    let connections = names(store, ConnectionKey::PREFIX.to_owned(), ConnectionKey::parse).await?;
    adopt_those(store, ledger, &connections).await
}

async fn adopt_those<K: Key>(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    keys: &[K],
) -> Result<()> {
    let values = read_values(store, keys).await?;
    let rows: Vec<_> =
        keys.iter().zip(values).filter_map(|(key, value)| row(key.name(), &value?)).collect();
    Ok(published::adopt(ledger, &rows).await?)
}

/// The members of a record that say who made it, and when. Records for local development may lack them.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Made {
    by: String,
    by_shop: bool,
    #[serde(alias = "created")]
    at: String,
}

/// Returns the row of a record; `None` if the record is damaged.
fn row(name: String, value: &[u8]) -> Option<PublishedRow> {
    let Made { by: author, by_shop, at } = serde_json::from_slice(value).ok()?;
    let change = change_of(value);
    Some(PublishedRow {
        name,
        content: Some(serde_json::from_slice(value).ok()?),
        at: parse_ms(&at).or(change.map(AuditKey::time_ms)).unwrap_or_default(),
        change: change.map(|change| change.name()).unwrap_or_default(),
        author,
        by_shop,
    })
}
