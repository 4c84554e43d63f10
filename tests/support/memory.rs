//! A store in memory.

use impact_pledge::pledges::picture::PictureName;
use impact_pledge::pledges::store::{
    BackupStore, Key, KeyInfo, ListPage, ListingStore, OperatorStore, RawRecord, RawRecords, Store,
    StoreError, Stored,
};
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// A store that keeps records in memory, as bytes and JSON like Workers KV. Tests can make it fail. Its records
/// do not expire. Lists show a lifetime for a record as if the record had been written at the start of 1970.
#[derive(Debug, Default)]
pub struct MemoryStore {
    records: RefCell<BTreeMap<String, Record>>,
    failing: Cell<Option<&'static str>>,
    hidden: Cell<Option<&'static str>>,
    unconfirmed: Cell<Option<&'static str>>,
    reads: RefCell<Vec<String>>,
    lists: RefCell<Vec<Listing>>,
    frozen: RefCell<Option<BTreeMap<String, Record>>>,
    page_length: Cell<Option<usize>>,
    calls_of_a_read: Cell<Option<u32>>,
    pictures: RefCell<Option<BTreeMap<String, Vec<u8>>>>,
}

#[derive(Clone, Debug)]
struct Record {
    value: Vec<u8>,
    metadata: Vec<u8>,
    expiration: Option<u64>,
}

/// A list that was requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The prefix of the names.
    pub prefix: String,
    /// The number of names on the page.
    pub names: usize,
}

impl MemoryStore {
    /// Makes every later call fail (`true`) or work again (`false`).
    pub fn set_broken(&self, broken: bool) {
        self.set_failing(broken.then_some(""));
    }

    /// Makes all later calls for keys with this prefix fail. `None` makes them work again.
    pub fn set_failing(&self, prefix: Option<&'static str>) {
        self.failing.set(prefix);
    }

    /// Hides records with this prefix, as if they had been written but were not visible yet. `None` shows them
    /// again.
    pub fn set_hidden(&self, prefix: Option<&'static str>) {
        self.hidden.set(prefix);
    }

    /// Makes all later writes of keys with this prefix take effect, but report a failure. `None` makes them
    /// succeed again.
    pub fn set_unconfirmed(&self, prefix: Option<&'static str>) {
        self.unconfirmed.set(prefix);
    }

    /// Stores any bytes, as another program or a broken disk might leave them.
    pub fn keep(&self, name: &str, value: &[u8], metadata: &[u8]) {
        let record =
            Record { value: value.to_vec(), metadata: metadata.to_vec(), expiration: None };
        self.records.borrow_mut().insert(name.to_owned(), record);
    }

    /// Removes a record.
    pub fn remove(&self, name: &str) {
        self.records.borrow_mut().remove(name);
    }

    /// Changes the text of a record.
    pub fn edit(&self, name: &str, change: impl Fn(&str) -> String) {
        if let Some(record) = self.records.borrow_mut().get_mut(name) {
            record.value = change(&String::from_utf8_lossy(&record.value)).into_bytes();
        }
    }

    /// Returns the text of a record.
    pub fn value(&self, name: &str) -> Option<String> {
        let records = self.records.borrow();
        records.get(name).map(|record| String::from_utf8_lossy(&record.value).into_owned())
    }

    /// Returns the text of a copy of a row; `None` if there is none, or a tombstone.
    pub fn copy(&self, name: &str) -> Option<String> {
        self.value(name).filter(|value| !value.starts_with(r#"{"removed":true,"#))
    }

    /// Returns the metadata of all records with this prefix.
    pub fn metadata(&self, prefix: &str) -> Vec<Value> {
        let records = self.records.borrow();
        let found = records.iter().filter(|(name, _)| name.starts_with(prefix));
        found
            .map(|(_, record)| serde_json::from_slice(&record.metadata).unwrap_or_default())
            .collect()
    }

    /// Returns the number of records that were requested.
    pub fn reads(&self) -> usize {
        self.reads.borrow().len()
    }

    /// Returns the keys that were requested since the last call.
    pub fn take_reads(&self) -> Vec<String> {
        self.reads.take()
    }

    /// Returns the list calls that were made since the last call of this function.
    pub fn take_lists(&self) -> Vec<Listing> {
        self.lists.take()
    }

    /// Sets the maximum number of names on a list page. With 0, all pages are empty, and each says that
    /// another one follows.
    pub fn set_page_length(&self, length: usize) {
        self.page_length.set(Some(length));
    }

    /// Sets the number of calls that a read of several records reports.
    pub fn set_calls_of_a_read(&self, calls: u32) {
        self.calls_of_a_read.set(Some(calls));
    }

    /// With `true`, later lists show the records of this moment. With `false`, they show the current records
    /// again.
    pub fn freeze_lists(&self, is_frozen: bool) {
        self.frozen.replace(is_frozen.then(|| self.records.borrow().clone()));
    }

    /// Lets the store keep pictures.
    pub fn bind_pictures(&self) {
        self.pictures.borrow_mut().get_or_insert_default();
    }

    /// Returns the stored pictures, by name.
    pub fn pictures(&self) -> BTreeMap<String, Vec<u8>> {
        self.pictures.borrow().clone().unwrap_or_default()
    }

    /// The keys of all records, in order.
    pub fn names(&self) -> Vec<String> {
        self.records.borrow().keys().cloned().collect()
    }

    fn keep_for<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
        expiration: Option<u64>,
    ) -> Result<(), StoreError> {
        let name = key.name();
        self.check(&name)?;
        let metadata = serde_json::to_vec(metadata).map_err(|_| StoreError::Unavailable)?;
        let is_confirmed = !is_among(&name, &self.unconfirmed);
        self.records.borrow_mut().insert(name, Record { value, metadata, expiration });
        if is_confirmed { Ok(()) } else { Err(StoreError::Unavailable) }
    }

    fn check(&self, name: &str) -> Result<(), StoreError> {
        if is_among(name, &self.failing) { Err(StoreError::Unavailable) } else { Ok(()) }
    }
}

fn is_among(name: &str, prefix: &Cell<Option<&'static str>>) -> bool {
    prefix.get().is_some_and(|prefix| name.starts_with(prefix))
}

impl Store for MemoryStore {
    type Value = Vec<u8>;

    async fn get<K: Key>(
        &self,
        key: &K,
    ) -> Result<Option<Stored<Vec<u8>, K::Metadata>>, StoreError> {
        let name = key.name();
        self.reads.borrow_mut().push(name.clone());
        self.check(&name)?;
        if is_among(&name, &self.hidden) {
            return Ok(None);
        }
        let records = self.records.borrow();
        let Some(Record { value, metadata, .. }) = records.get(&name) else { return Ok(None) };
        let metadata = serde_json::from_slice(metadata)
            .map_err(|error| StoreError::damaged("metadata", &error))?;
        Ok(Some(Stored { value: value.clone(), metadata }))
    }

    async fn put<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
    ) -> Result<(), StoreError> {
        self.keep_for(key, value, metadata, K::KEPT_SECONDS.map(u64::from))
    }

    async fn picture(&self, name: &PictureName) -> Result<Option<Vec<u8>>, StoreError> {
        self.check(&name.path())?;
        Ok(self.pictures().get(name.as_str()).cloned())
    }
}

impl ListingStore for MemoryStore {
    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, StoreError> {
        self.check(prefix)?;
        let length = self.page_length.get().unwrap_or(1_000);
        let (now, frozen) = (self.records.borrow(), self.frozen.borrow());
        let records = frozen.as_ref().unwrap_or(&now);
        let mut rest = records.iter().filter(|(name, _)| {
            name.starts_with(prefix)
                && !is_among(name, &self.hidden)
                && cursor.is_none_or(|cursor| name.as_str() > cursor)
        });
        let listed = |(name, record): (&String, &Record)| KeyInfo {
            name: name.clone(),
            metadata: serde_json::from_slice(&record.metadata).unwrap_or_default(),
            expiration: record.expiration,
        };
        let page: Vec<KeyInfo> = rest.by_ref().take(length).map(listed).collect();
        let last = page.last().map_or(cursor.unwrap_or_default(), |record| &record.name).to_owned();
        let cursor = rest.next().map(|_| last);
        let listing = Listing { prefix: prefix.to_owned(), names: page.len() };
        self.lists.borrow_mut().push(listing);
        Ok(ListPage { records: page, cursor })
    }
}

impl OperatorStore for MemoryStore {
    async fn get_values<K: Key>(&self, keys: &[K]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        assert!(keys.len() <= 100, "Cloudflare reads no more at once");
        let mut values = Vec::new();
        for key in keys {
            let name = key.name();
            self.reads.borrow_mut().push(name.clone());
            self.check(&name)?;
            let record = self.records.borrow();
            let record = record.get(&name).filter(|_| !is_among(&name, &self.hidden));
            values.push(record.map(|record| record.value.clone()));
        }
        Ok(values)
    }

    async fn put_for<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
        seconds: u32,
    ) -> Result<(), StoreError> {
        self.keep_for(key, value, metadata, Some(u64::from(seconds)))
    }

    async fn remove<K: Key>(&self, key: &K) -> Result<(), StoreError> {
        let name = key.name();
        self.check(&name)?;
        self.records.borrow_mut().remove(&name);
        Ok(())
    }

    async fn keep_picture(&self, name: &PictureName, bytes: Vec<u8>) -> Result<bool, StoreError> {
        self.check(&name.path())?;
        let mut pictures = self.pictures.borrow_mut();
        let Some(pictures) = pictures.as_mut() else { return Ok(false) };
        pictures.insert(name.as_str().to_owned(), bytes);
        Ok(true)
    }

    async fn pause(&self, _: u32) {}
}

impl BackupStore for MemoryStore {
    async fn get_records(&self, names: &[String]) -> Result<RawRecords, StoreError> {
        assert!(names.len() <= 100, "Cloudflare reads no more at once");
        names.iter().try_for_each(|name| self.check(name))?;
        let records = self.records.borrow();
        let raw = |record: &Record| RawRecord {
            value: record.value.clone(),
            metadata: serde_json::from_slice(&record.metadata).ok(),
        };
        let records = names.iter().map(|name| records.get(name).map(raw)).collect();
        Ok(RawRecords { records, calls: self.calls_of_a_read.get().unwrap_or(1) })
    }
}
