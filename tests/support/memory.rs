//! A store in memory.

use impact_pledge::store::{Key, Store, StoreError, Stored};
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// Keeps records in memory, as bytes and JSON just as Workers KV does, and fails on request. Expiry
/// is not simulated.
#[derive(Debug, Default)]
pub struct MemoryStore {
    records: RefCell<BTreeMap<String, Record>>,
    failing: Cell<Option<&'static str>>,
    hidden: Cell<Option<&'static str>>,
    unconfirmed: Cell<Option<&'static str>>,
    reads: RefCell<Vec<String>>,
}

#[derive(Debug)]
struct Record {
    value: Vec<u8>,
    metadata: Vec<u8>,
}

impl MemoryStore {
    /// From now on every call fails (`true`) or works again (`false`).
    pub fn set_broken(&self, broken: bool) {
        self.set_failing(broken.then_some(""));
    }

    /// From now on every call fails whose key begins like this.
    pub fn set_failing(&self, prefix: Option<&'static str>) {
        self.failing.set(prefix);
    }

    /// From now on no record is shown whose key begins like this, as if its write were not seen yet.
    pub fn set_hidden(&self, prefix: Option<&'static str>) {
        self.hidden.set(prefix);
    }

    /// From now on each write of such a key is kept, and reported as failed.
    pub fn set_unconfirmed(&self, prefix: Option<&'static str>) {
        self.unconfirmed.set(prefix);
    }

    /// Keeps any bytes, as another program or a broken disk might leave them.
    pub fn keep(&self, name: &str, value: &[u8], metadata: &[u8]) {
        let record = Record { value: value.to_vec(), metadata: metadata.to_vec() };
        self.records.borrow_mut().insert(name.to_owned(), record);
    }

    /// Takes a record away.
    pub fn remove(&self, name: &str) {
        self.records.borrow_mut().remove(name);
    }

    /// Changes the text of a record.
    pub fn edit(&self, name: &str, change: impl Fn(&str) -> String) {
        if let Some(record) = self.records.borrow_mut().get_mut(name) {
            record.value = change(&String::from_utf8_lossy(&record.value)).into_bytes();
        }
    }

    /// The text of a record.
    pub fn value(&self, name: &str) -> Option<String> {
        let records = self.records.borrow();
        records.get(name).map(|record| String::from_utf8_lossy(&record.value).into_owned())
    }

    /// The metadata of all records whose key begins like this.
    pub fn metadata(&self, prefix: &str) -> Vec<Value> {
        let records = self.records.borrow();
        let found = records.iter().filter(|(name, _)| name.starts_with(prefix));
        found
            .map(|(_, record)| serde_json::from_slice(&record.metadata).unwrap_or_default())
            .collect()
    }

    /// How many records were asked for.
    pub fn reads(&self) -> usize {
        self.reads.borrow().len()
    }

    /// The keys that were asked for since the last call of this.
    pub fn take_reads(&self) -> Vec<String> {
        self.reads.take()
    }

    /// The keys of all records, in order.
    pub fn names(&self) -> Vec<String> {
        self.records.borrow().keys().cloned().collect()
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
        let Some(Record { value, metadata }) = records.get(&name) else { return Ok(None) };
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
        let name = key.name();
        self.check(&name)?;
        let metadata = serde_json::to_vec(metadata).map_err(|_| StoreError::Unavailable)?;
        let is_confirmed = !is_among(&name, &self.unconfirmed);
        self.records.borrow_mut().insert(name, Record { value, metadata });
        if is_confirmed { Ok(()) } else { Err(StoreError::Unavailable) }
    }
}
