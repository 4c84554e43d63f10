//! Where records are kept: the port, and the keys that own their prefixes.
//!
//! A transaction is one record, written once: its value is the exact bytes that the get operation
//! answers with, its metadata says who may see it.

mod key;
mod memory;

pub use key::{Access, CatalogueKey, CredentialKey, Key, Metadata, ReplayKey, TransactionKey};
pub use memory::MemoryStore;

use std::fmt::{self, Display, Formatter};

/// The store could not do what it was asked. Details are logged where they arise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreError;

impl Display for StoreError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("the store is not available")
    }
}

impl std::error::Error for StoreError {}

/// A record as it was found.
#[derive(Clone, Debug)]
pub struct Stored<V, M> {
    /// The value, not yet read.
    pub value: V,
    /// The metadata.
    pub metadata: M,
}

/// A value that can be read whole, or be passed on unread.
#[expect(async_fn_in_trait, reason = "one thread: no caller needs the futures to be Send")]
pub trait StoredValue {
    /// Reads all of it.
    ///
    /// # Errors
    /// If the store breaks off.
    async fn read(self) -> Result<Vec<u8>, StoreError>;
}

/// A key-value store with metadata and expiry, such as Workers KV.
#[expect(async_fn_in_trait, reason = "one thread: no caller needs the futures to be Send")]
pub trait Store {
    /// A value of this store's.
    type Value: StoredValue;

    /// Finds a record.
    ///
    /// # Errors
    /// If the store cannot tell, or the metadata is not this key's.
    async fn get<K: Key>(
        &self,
        key: &K,
    ) -> Result<Option<Stored<Self::Value, K::Metadata>>, StoreError>;

    /// Writes a record whole, replacing what was there. It is kept when this returns `Ok`.
    ///
    /// # Errors
    /// If it may not have been kept.
    async fn put<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
    ) -> Result<(), StoreError>;
}
