//! Reads price lists of the past: the history of a mode or a unit, and the list by which a transaction was
//! charged.

use super::Change;
use super::rules::{charged_keys, check_of};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::records::Pages;
use crate::pledges::charge::PriceList;
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::store::{
    Key as _, KeyInfo as Record, OperatorStore, PriceListKey, PriceListVersionKey, Registered,
    StoreError, StoredValue as _, decode,
};
use serde::{Deserialize, Serialize};

/// Number of price lists that are read at once. Each price list may have up to 1 MiB.
const READS: usize = 5;

/// A price list in the history of a mode or of a unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PriceListEntry {
    /// The mode of the keys that the price list was for.
    pub mode: Mode,
    /// The unit that the price list was for; `None` if it was for all units without a list of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// When the price list was set, an RFC 3339 date-time.
    pub time: String,
    /// Who set the price list; `None` if that cannot be read.
    pub by: Option<String>,
    /// Whether this entry is the removal of a unit's price list. From then on, the mode's list applied.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub removed: bool,
    /// What this price list changed, compared with the one before it.
    pub change: Change,
}

/// Returns the newest `count` price lists of a mode or of a unit, in the order in which they were set. A price list
/// that was set in the last minute may be missing. KV cost: 1 list per 1,000 price lists, at most `most_pages`; 1 read
/// per 5 price lists returned.
///
/// # Errors
/// If there are more than `most_pages` pages, a price list is damaged, or the store fails.
pub async fn history(
    store: &impl OperatorStore,
    of: PriceListKey<'_>,
    count: usize,
    most_pages: usize,
) -> Result<Vec<PriceListEntry>> {
    check_of(of)?;
    let mut records = Vec::new();
    let mut pages = Pages::new(store, PriceListVersionKey::prefix_of(of));
    let mut number = 0;
    while let Some(page) = pages.next().await? {
        number += 1;
        if number > most_pages {
            return Err(OperatorError::invalid(format!(
                "{} have too many price lists to show here: use the command `prices history`",
                charged_keys(of)
            )));
        }
        let is_own = |name: &str| PriceListVersionKey::parse(name).is_some_and(|key| key.of == of);
        records.extend(page.into_iter().filter(|record| is_own(&record.name)));
    }
    // One more, to compare the oldest with.
    let skipped = records.len().saturating_sub(count.saturating_add(1));
    let mut history = changes(store, records.get(skipped..).unwrap_or_default()).await?;
    history.drain(..history.len().saturating_sub(count));
    Ok(history)
}

/// Returns what each of these price lists changed, compared with the one before it. All prices of the first
/// list count as new.
async fn changes(store: &impl OperatorStore, records: &[Record]) -> Result<Vec<PriceListEntry>> {
    let mut history = Vec::new();
    let mut before: Option<PriceList> = None;
    for records in records.chunks(READS) {
        let keys: Vec<_> =
            records.iter().filter_map(|record| PriceListVersionKey::parse(&record.name)).collect();
        let values = store.get_values(&keys).await?;
        for ((key, record), value) in keys.iter().zip(records).zip(values) {
            let Some(value) = value else { continue };
            let price_list = version(&value)?;
            history.push(PriceListEntry {
                mode: key.of.mode,
                unit: key.of.unit.map(str::to_owned),
                time: key.time.to_owned(),
                by: Registered::deserialize(&record.metadata).ok().map(|found| found.by),
                removed: price_list.is_none(),
                change: match &price_list {
                    Some(price_list) => Change::new(before.as_ref(), price_list),
                    None => Change::default(),
                },
            });
            before = price_list;
        }
    }
    Ok(history)
}

/// Decodes an entry in the history of a price list. Returns `None` if the entry says that the list was
/// removed.
fn version(record: &[u8]) -> Result<Option<PriceList>, StoreError> {
    #[derive(Deserialize)]
    struct Mark {
        #[serde(default)]
        removed: bool,
    }
    let Mark { removed } = decode(PriceListVersionKey::KIND, record)?;
    if removed { Ok(None) } else { decode(PriceListVersionKey::KIND, record).map(Some) }
}

/// A price list, with when and by whom it was set.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PriceListVersion {
    /// The unit that the list is for; `None` if it is for all units without a list of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// When the price list was set, an RFC 3339 date-time.
    pub time: String,
    pub by: String,
    #[serde(flatten)]
    pub price_list: PriceList,
}

/// Reads the price list that was set for a mode or a unit at the time in `key`. Returns `None` if no list was set
/// at that time, or if the unit's list was removed then. KV cost: 1 read.
///
/// # Errors
/// If the price list is damaged, or the store fails.
pub async fn listed(
    store: &impl OperatorStore,
    key: PriceListVersionKey<'_>,
) -> Result<Option<PriceListVersion>> {
    let Some(stored) = store.get(&key).await? else { return Ok(None) };
    let value = stored.value.read(PriceListVersionKey::READ_MS).await?;
    Ok(version(&value)?.map(|price_list| PriceListVersion {
        unit: key.of.unit.map(str::to_owned),
        time: key.time.to_owned(),
        by: stored.metadata.by,
        price_list: PriceList { prices: None, ..price_list },
    }))
}

/// Reads the price list by which a unit's transaction was charged; `None` if this namespace does not have it.
/// `time` is when the list was set, as the transaction's metadata states. KV cost: 1 read; 2 if the unit had
/// a price list of its own.
///
/// # Errors
/// If the list is damaged, or the store fails.
pub async fn charged_by(
    store: &impl OperatorStore,
    Scope { unit, mode }: &Scope,
    time: &str,
) -> Result<Option<PriceListVersion>> {
    let version = |of| PriceListVersionKey { of, time };
    match listed(store, version(PriceListKey::of_mode(*mode))).await? {
        Some(list) => Ok(Some(list)),
        None => listed(store, version(PriceListKey::of_unit(*mode, unit))).await,
    }
}
