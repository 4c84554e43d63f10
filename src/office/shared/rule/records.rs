//! Reads, lists and writes records for the operator's functions.

use super::error::Result;
use crate::pledges::store::{Key, KeyInfo, MAX_READS, NoMetadata, OperatorStore, decode, present};
use crate::pledges::version::Version;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Largest number of list pages that are searched for matching records: 10,000 names.
pub const MAX_PAGES: usize = 10;

pub(crate) struct Pages<'s, S> {
    store: &'s S,
    prefix: String,
    cursor: Option<String>,
    pub is_last: bool,
}

impl<'s, S: OperatorStore> Pages<'s, S> {
    pub fn new(store: &'s S, prefix: impl Into<String>) -> Self {
        Pages { store, prefix: prefix.into(), cursor: None, is_last: false }
    }

    /// Returns the next page, without tombstones; `None` after the last one.
    pub async fn next(&mut self) -> Result<Option<Vec<KeyInfo>>> {
        let page = self.next_with_tombstones().await?;
        Ok(page.map(|records| records.into_iter().filter(|it| !it.is_tombstone()).collect()))
    }

    pub async fn next_with_tombstones(&mut self) -> Result<Option<Vec<KeyInfo>>> {
        if self.is_last {
            return Ok(None);
        }
        let page = self.store.list(&self.prefix, self.cursor.as_deref()).await?;
        self.is_last = page.cursor.is_none();
        self.cursor = page.cursor;
        Ok(Some(page.records))
    }
}

/// Returns the names of all records with this prefix, also those of tombstones. KV cost: 1 list per 1,000 records.
pub(crate) async fn names(store: &impl OperatorStore, prefix: &str) -> Result<Vec<String>> {
    let (mut names, mut pages) = (Vec::new(), Pages::new(store, prefix));
    while let Some(page) = pages.next_with_tombstones().await? {
        names.extend(page.into_iter().map(|record| record.name));
    }
    Ok(names)
}

/// Reads the values of any number of records, in the order of the keys. A tombstone counts as no record. KV cost: 1 read
/// per 100 records.
pub(crate) async fn read_values<K: Key>(
    store: &impl OperatorStore,
    keys: &[K],
) -> Result<Vec<Option<Vec<u8>>>> {
    let mut values = Vec::with_capacity(keys.len());
    for keys in keys.chunks(MAX_READS) {
        let read = store.get_values(keys).await?;
        values.extend(read.into_iter().map(|value| present::<K>(value?)));
    }
    Ok(values)
}

/// Reads the value of a record; `None` if the record does not exist, or is a tombstone. KV cost: 1 read.
pub(crate) async fn read_value<K: Key>(
    store: &impl OperatorStore,
    key: K,
) -> Result<Option<Vec<u8>>> {
    Ok(read_values(store, &[key]).await?.into_iter().flatten().next())
}

/// Reads and decodes a record; `None` if the record does not exist. KV cost: 1 read.
pub(crate) async fn load<K: Key, T: DeserializeOwned>(
    store: &impl OperatorStore,
    key: K,
) -> Result<Option<T>> {
    let value = read_value(store, key).await?;
    Ok(value.map(|value| decode(K::KIND, &value)).transpose()?)
}

/// Writes a record without metadata. The value includes the version of the record's format.
pub(crate) async fn put_record<K: Key<Metadata = NoMetadata>>(
    store: &impl OperatorStore,
    key: &K,
    record: &impl Serialize,
) -> Result<()> {
    Ok(store.put(key, encode(record)?, &NoMetadata).await?)
}

/// Encodes a record as JSON, together with the version of the record's format.
pub(crate) fn encode(record: &impl Serialize) -> Result<Vec<u8>> {
    #[derive(Serialize)]
    struct Versioned<'r, R> {
        #[serde(flatten)]
        record: &'r R,
        version: Version,
    }
    Ok(serde_json::to_vec(&Versioned { record, version: Version })?)
}
