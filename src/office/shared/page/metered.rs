//! A store for one request. It counts the bytes of the records that the request reads.

use crate::pledges::http::{Busy, Reservation};
use crate::pledges::picture::PictureName;
use crate::pledges::store::{
    Key, ListPage, ListingStore, OperatorStore, Store, StoreError, Stored, StoredValue,
};
use std::cell::RefCell;
use std::rc::Rc;

/// The bytes that every request reserves: 512 KiB, enough for a list of 1,000 names and for small records.
pub(crate) const PAGE_BYTES: usize = 512 * 1024;

/// A store that reserves the bytes of all records that a request reads, until the request ends.
pub(crate) struct Metered<'s, S> {
    store: &'s S,
    held: Rc<RefCell<HeldBytes<'s>>>,
}

impl<'s, S> Metered<'s, S> {
    /// Wraps a store, and reserves [`PAGE_BYTES`].
    ///
    /// # Errors
    /// If the requests in flight already hold too many bytes.
    pub fn new(store: &'s S, mut reservation: Reservation<'s>) -> Result<Self, Busy> {
        reservation.resize(PAGE_BYTES)?;
        let held = HeldBytes { reservation, records: 0, many: 0 };
        Ok(Metered { store, held: Rc::new(RefCell::new(held)) })
    }
}

struct HeldBytes<'s> {
    reservation: Reservation<'s>,
    /// Bytes of the records that were read one at a time.
    records: usize,
    /// Bytes of the largest bulk read. The other bulk reads do not count, because a page frees each result
    /// before the next bulk read.
    many: usize,
}

impl HeldBytes<'_> {
    /// Sets the reservation to the bytes that the request already holds, plus `more` bytes.
    fn reserve(&mut self, more: usize) -> Result<(), StoreError> {
        let bytes = self.many.max(PAGE_BYTES).saturating_add(self.records).saturating_add(more);
        self.reservation.resize(bytes).map_err(|Busy| StoreError::Busy)
    }
}

pub(crate) struct MeteredValue<'s, V> {
    value: V,
    bytes: usize,
    held: Rc<RefCell<HeldBytes<'s>>>,
}

impl<V: StoredValue> StoredValue for MeteredValue<'_, V> {
    async fn read(self, milliseconds: u32) -> Result<Vec<u8>, StoreError> {
        self.held.borrow_mut().reserve(self.bytes)?;
        let value = self.value.read(milliseconds).await?;
        let mut held = self.held.borrow_mut();
        held.records = held.records.saturating_add(value.len());
        held.reserve(0)?;
        Ok(value)
    }
}

impl<'s, S: Store> Store for Metered<'s, S> {
    type Value = MeteredValue<'s, S::Value>;

    async fn get<K: Key>(
        &self,
        key: &K,
    ) -> Result<Option<Stored<Self::Value, K::Metadata>>, StoreError> {
        let found = self.store.get(key).await?;
        Ok(found.map(|Stored { value, metadata }| {
            let (bytes, held) = (K::bytes(&metadata), Rc::clone(&self.held));
            Stored { value: MeteredValue { value, bytes, held }, metadata }
        }))
    }

    async fn put<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
    ) -> Result<(), StoreError> {
        self.store.put(key, value, metadata).await
    }
}

impl<S: ListingStore> ListingStore for Metered<'_, S> {
    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, StoreError> {
        self.store.list(prefix, cursor).await
    }
}

impl<S: OperatorStore> OperatorStore for Metered<'_, S> {
    async fn get_values<K: Key>(&self, keys: &[K]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let values = self.store.get_values(keys).await?;
        let bytes = values.iter().flatten().map(Vec::len).sum();
        let mut held = self.held.borrow_mut();
        held.many = held.many.max(bytes);
        held.reserve(0)?;
        Ok(values)
    }

    async fn put_for<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
        seconds: u32,
    ) -> Result<(), StoreError> {
        self.store.put_for(key, value, metadata, seconds).await
    }

    async fn remove<K: Key>(&self, key: &K) -> Result<(), StoreError> {
        self.store.remove(key).await
    }

    async fn keep_picture(&self, name: &PictureName, bytes: Vec<u8>) -> Result<bool, StoreError> {
        self.store.keep_picture(name, bytes).await
    }

    async fn pause(&self, milliseconds: u32) {
        self.store.pause(milliseconds).await;
    }
}
