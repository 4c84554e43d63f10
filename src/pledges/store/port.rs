use super::{Key, StoreError};
use crate::pledges::picture::PictureName;

#[derive(Clone, Debug)]
pub struct Stored<V, M> {
    /// The value, not yet read.
    pub value: V,
    pub metadata: M,
}

/// A value in the store. It can be read whole, or passed on without being read.
#[expect(async_fn_in_trait, reason = "one thread: no caller needs the futures to be Send")]
pub trait StoredValue {
    /// Reads the whole value. `milliseconds` is the deadline: the key's [`READ_MS`](Key::READ_MS).
    ///
    /// # Errors
    /// - If the store breaks off before the end, or takes longer.
    /// - [`StoreError::Busy`] if there is not enough memory for the value.
    async fn read(self, milliseconds: u32) -> Result<Vec<u8>, StoreError>;
}

impl StoredValue for Vec<u8> {
    async fn read(self, _: u32) -> Result<Vec<u8>, StoreError> {
        Ok(self)
    }
}

/// A key-value store with metadata and expiry, such as Workers KV.
#[expect(async_fn_in_trait, reason = "one thread: no caller needs the futures to be Send")]
pub trait Store {
    /// A found value that has not been read yet.
    type Value: StoredValue;

    /// Finds a record.
    ///
    /// # Errors
    /// If the store does not answer, or the metadata does not have the key's type.
    async fn get<K: Key>(
        &self,
        key: &K,
    ) -> Result<Option<Stored<Self::Value, K::Metadata>>, StoreError>;

    /// Writes a record, or replaces the record with the same key. `Ok` means that the store has accepted it.
    ///
    /// # Errors
    /// If the record may not have been written.
    async fn put<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
    ) -> Result<(), StoreError>;

    /// Finds an uploaded picture. A store without pictures finds none.
    ///
    /// # Errors
    /// If the store does not answer.
    async fn picture(&self, _: &PictureName) -> Result<Option<Self::Value>, StoreError> {
        Ok(None)
    }
}
