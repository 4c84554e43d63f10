//! Adds rows for payments, memberships and connections that Workers KV alone has, or has in a newer version: after a restore, and for
//! local development. A newer version may also be a tombstone: then the record is removed. What the audit log does not know
//! becomes a finding, which a person has to check.

use crate::office::audit::rule::change_of;
use crate::office::shared::rows::port::{Ledger, ask};
use crate::office::shared::rows::published;
use crate::office::shared::rows::published::PublishedRow;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::names;
use crate::office::system::rows::findings::Note;
use crate::office::updates::rule as updates;
use crate::pledges::store::{
    AuditKey, ConnectionKey, Key, MAX_READS, MemberKey, OperatorStore, SettlementKey, present,
};
use crate::pledges::time::parse_ms;
use serde::Deserialize;

/// Adds a row for each payment, membership and connection that has none, or an older one. Notes a finding for updates that
/// only Workers KV has. KV cost: 1 list per 1,000 records, and 1 read per 100. Ledger cost: 1 call per 100 records.
///
/// # Errors
/// If the ledger or the store fails.
pub async fn adopt(store: &impl OperatorStore, ledger: &dyn Ledger, now_ms: u64) -> Result<()> {
    let payments = names(store, SettlementKey::PREFIX).await?;
    let payments: Vec<_> = payments.iter().filter_map(|it| SettlementKey::parse(it)).collect();
    let keys: Vec<_> = payments.iter().map(SettlementKey).collect();
    adopt_those((store, ledger), now_ms, &keys).await?;
    let members = names(store, MemberKey::PREFIX).await?;
    let keys: Vec<_> = members.iter().filter_map(|name| MemberKey::parse(name)).collect();
    adopt_those((store, ledger), now_ms, &keys).await?;
    let connections = names(store, ConnectionKey::PREFIX).await?;
    let keys: Vec<_> = connections.iter().filter_map(|it| ConnectionKey::parse(it)).collect();
    adopt_those((store, ledger), now_ms, &keys).await?;
    let findings = updates::lost(store, ledger).await?;
    Ok(ask(ledger, &Note { now: now_ms, pass: 0, findings: &findings }).await.map(drop)?)
}

async fn adopt_those<K: Key>(
    (store, ledger): (&impl OperatorStore, &dyn Ledger),
    now_ms: u64,
    keys: &[K],
) -> Result<()> {
    for keys in keys.chunks(MAX_READS) {
        let values = store.get_values(keys).await?;
        let rows: Vec<_> =
            keys.iter().zip(values).filter_map(|(key, value)| row(key, value?)).collect();
        published::adopt(ledger, now_ms, &rows).await?;
    }
    Ok(())
}

/// The members of a record or a tombstone that say who wrote it, and when. Records for local development may lack them.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Made {
    by: String,
    #[serde(alias = "byShop")]
    by_shop: bool,
    #[serde(alias = "created")]
    at: String,
}

/// Returns the row of a record; `None` if the record is damaged.
fn row<K: Key>(key: &K, value: Vec<u8>) -> Option<PublishedRow> {
    let Made { by: author, by_shop, at } = serde_json::from_slice(&value).ok()?;
    let change = change_of(&value);
    let content = present::<K>(value);
    Some(PublishedRow {
        name: key.name(),
        content: content.map(|content| serde_json::from_slice(&content)).transpose().ok()?,
        at: parse_ms(&at).or(change.map(AuditKey::time_ms)).unwrap_or_default(),
        change: change.map(|change| change.name()).unwrap_or_default(),
        author,
        by_shop,
    })
}
