//! Where records are kept: the port, and the keys that own their prefixes.
//!
//! A transaction is one record, written once: its value is the exact bytes that the get operation
//! answers with, its metadata says who may see it.

mod key;
mod metadata;
mod operator;

pub use key::{CatalogueKey, CredentialKey, Key, ProfileKey, ReplayKey, SecretKey, TransactionKey};
pub use metadata::{NoMetadata, Summary, TransactionMetadata};
pub use operator::{Listed, MAX_READS, OperatorStore, Page};

use serde_json::error::Category;

/// Why a record could not be had or kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// The store does not answer, or refuses. Details are logged where they arise.
    Unavailable,
    /// The record or its metadata cannot be read. The text is for the operator's log, and quotes
    /// nothing of what is stored.
    Damaged(String),
}

impl StoreError {
    /// Stored JSON of this kind is not JSON, or not of its shape.
    ///
    /// serde_json's own texts can quote what is stored, and so personal data: only those go on that
    /// name nothing but a member of ours.
    pub fn damaged(kind: &str, error: &serde_json::Error) -> Self {
        let text = error.to_string();
        let names_ours =
            ["missing field `", "duplicate field `"].iter().any(|start| text.starts_with(start));
        let problem = match error.classify() {
            Category::Data if names_ours => text,
            category => {
                format!("{category:?} error at line {} column {}", error.line(), error.column())
            }
        };
        StoreError::Damaged(format!("the stored {kind} is damaged: {problem}"))
    }
}

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

    /// Reads all of it in so many milliseconds at most, where the store can take long.
    ///
    /// # Errors
    /// If the store breaks off, or takes longer.
    async fn read_within(self, _milliseconds: u32) -> Result<Vec<u8>, StoreError>
    where
        Self: Sized,
    {
        self.read().await
    }
}

impl StoredValue for Vec<u8> {
    async fn read(self) -> Result<Vec<u8>, StoreError> {
        Ok(self)
    }
}

/// A key-value store with metadata and expiry, such as Workers KV.
#[expect(async_fn_in_trait, reason = "one thread: no caller needs the futures to be Send")]
pub trait Store {
    /// A value of this store's.
    type Value: StoredValue;

    /// Finds a record.
    ///
    /// # Errors
    /// If the store does not answer, or the metadata is not this key's.
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
