//! The stores of deliveries and of operators, which can do more than the service's store.

use super::{Key, Store, StoreError};
use crate::pledges::picture::PictureName;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Maximum number of records that [`get_values`](OperatorStore::get_values) reads at once: Cloudflare's limit.
pub const MAX_READS: usize = 100;

/// A store that can also list records. Deliveries of notifications use it.
#[expect(async_fn_in_trait, reason = "one thread: no caller needs the futures to be Send")]
pub trait ListingStore: Store {
    /// Returns a page of the records whose names begin with a prefix, sorted by name. `cursor` is the cursor of the
    /// previous page, or `None` for the first page.
    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, StoreError>;

    /// Returns the names of the records on the first page. A store may override this to read nothing but the
    /// names.
    async fn names(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        Ok(self.list(prefix, None).await?.records.into_iter().map(|record| record.name).collect())
    }
}

/// The operator's store. It can also read many records at once, write records that expire, and remove records.
#[expect(async_fn_in_trait, reason = "one thread: no caller needs the futures to be Send")]
pub trait OperatorStore: ListingStore {
    /// Returns the values of at most [`MAX_READS`] records, in the order of the keys.
    async fn get_values<K: Key>(&self, keys: &[K]) -> Result<Vec<Option<Vec<u8>>>, StoreError>;

    /// Writes a record as [`put`](Store::put) does, but lets it expire after this many seconds, at least 60.
    ///
    /// # Errors
    /// If the record may not have been written.
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
    /// If the record may still be there.
    async fn remove<K: Key>(&self, key: &K) -> Result<(), StoreError>;

    /// Stores a picture. Returns false if the store keeps no pictures.
    ///
    /// # Errors
    /// If the picture may not have been stored.
    async fn keep_picture(&self, _: &PictureName, _: Vec<u8>) -> Result<bool, StoreError> {
        Ok(false)
    }

    /// Waits for this many milliseconds.
    async fn pause(&self, milliseconds: u32);
}

/// The store of backups. It also reads records of any kind as they are stored.
#[expect(async_fn_in_trait, reason = "one thread: no caller needs the futures to be Send")]
pub trait BackupStore: OperatorStore {
    /// Returns at most [`MAX_READS`] records, in the order of the names; `None` for a record that is missing. The value and the
    /// metadata of a record are of the same write.
    async fn get_records(&self, names: &[String]) -> Result<RawRecords, StoreError>;
}

/// The answer to a read of records.
#[derive(Clone, Debug, Default)]
pub struct RawRecords {
    pub records: Vec<Option<RawRecord>>,
    /// Number of calls of the store: usually 1, and 1 more for each record that must be read alone.
    pub calls: u32,
}

/// A record as it is stored.
#[derive(Clone, Debug)]
pub struct RawRecord {
    pub value: Vec<u8>,
    /// The metadata as JSON; `None` if the record has none.
    pub metadata: Option<Box<RawValue>>,
}

/// A page of a list: at most 1,000 records.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct ListPage {
    /// The records, without their values.
    pub records: Vec<KeyInfo>,
    /// The cursor of the next page; `None` on the last page.
    pub cursor: Option<String>,
}

/// A record in a list.
#[derive(Clone, Debug, Deserialize)]
pub struct KeyInfo {
    pub name: String,
    #[serde(default)]
    pub metadata: Value,
    /// When the record expires, in seconds since 1970; `None` if it does not.
    pub expiration: Option<u64>,
}
