//! The ports for those who look after the records: they can also list and remove.

use super::{Key, Store, StoreError};
use serde::Deserialize;
use serde_json::Value;

/// Most records that [`get_values`](OperatorStore::get_values) reads at once: Cloudflare's limit.
pub const MAX_READS: usize = 100;

/// How long a change that two people may make at the same moment waits until the other's shows, in milliseconds. Longer
/// than a list and a write of Workers KV take together.
pub const SETTLE_MS: u32 = 1_000;

/// A store that can also list: the notifier's.
#[expect(async_fn_in_trait, reason = "one thread: no caller needs the futures to be Send")]
pub trait ListingStore: Store {
    /// A page of the records whose names begin with a prefix, sorted by name.
    /// `cursor` is the one of the page before, `None` for the first page.
    ///
    /// # Errors
    /// If the store does not answer.
    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<Page, StoreError>;

    /// The names of the first page. A store may read no more than these.
    ///
    /// # Errors
    /// If the store does not answer.
    async fn names(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        Ok(self.list(prefix, None).await?.records.into_iter().map(|record| record.name).collect())
    }
}

/// A store that can also read many records at once, end and remove them: the operator's.
#[expect(async_fn_in_trait, reason = "one thread: no caller needs the futures to be Send")]
pub trait OperatorStore: ListingStore {
    /// The values of at most [`MAX_READS`] records, in the sequence of the keys.
    ///
    /// # Errors
    /// If the store does not answer.
    async fn get_values<K: Key>(&self, keys: &[K]) -> Result<Vec<Option<Vec<u8>>>, StoreError>;

    /// Writes a record as [`put`](Store::put) does, to expire after at least 60 seconds.
    ///
    /// # Errors
    /// If it may not have been kept.
    async fn put_for<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
        seconds: u32,
    ) -> Result<(), StoreError>;

    /// Removes a record, if it is there.
    ///
    /// # Errors
    /// If it may still be there.
    async fn remove<K: Key>(&self, key: &K) -> Result<(), StoreError>;

    /// How long to wait until the writes of others show that are under way, in milliseconds.
    fn settle_ms(&self) -> u32 {
        SETTLE_MS
    }

    /// Waits for so many milliseconds.
    async fn pause(&self, milliseconds: u32);
}

/// A part of a list: at most 1,000 records.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Page {
    /// The records, without their values.
    pub records: Vec<Listed>,
    /// Leads to the next page; `None` on the last one.
    pub cursor: Option<String>,
}

/// A record in a list.
#[derive(Clone, Debug, Deserialize)]
pub struct Listed {
    /// The name of the record.
    pub name: String,
    /// Its metadata, not yet read; null if it has none.
    #[serde(default)]
    pub metadata: Value,
    /// When the record expires, in seconds since 1970; `None` if it does not.
    pub expiration: Option<u64>,
}
