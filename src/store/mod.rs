//! The port to the key-value store, and the typed keys of its records.
//!
//! A transaction is one record, written once: its value is the body of the get operation's
//! answer, its metadata says who may see it.

mod key;
mod metadata;
mod operator;
mod recorded;

pub use key::{
    AuditKey, BackupKey, CatalogueKey, CredentialKey, ErasedKey, FAILED_MAIL_DAYS, FailedMailKey,
    Key, LEAST_CACHE_SECONDS, LedgerUnsentKey, MAILED_DAYS, MAX_PRICES_BYTES, MailedKey, MemberKey,
    NOTIFICATION_DAYS, NotificationKey, PricesKey, ProfileKey, QueuedMailKey, ReplayKey, SecretKey,
    SettlementKey, TeamKey, TransactionKey, USUAL_CACHE_SECONDS, UnitKey,
};
pub use metadata::{ChangeNote, MailState, NoMetadata, Registered, Summary, TransactionMetadata};
pub use operator::{Listed, ListingStore, MAX_READS, OperatorStore, Page, SETTLE_MS};
pub use recorded::Recorded;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer as _};
use serde_json::error::Category;
use std::fmt::{self, Formatter};
use std::marker::PhantomData;

/// Why a record could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// The store does not answer, or refuses. Details are logged where they arise.
    Unavailable,
    /// There is no memory for the record at this time. It was not read.
    Busy,
    /// The record or its metadata cannot be read. The text is for the operator's log, and quotes
    /// nothing of what is stored.
    Damaged(String),
}

impl StoreError {
    /// The error for a record of this kind that could not be decoded.
    ///
    /// serde_json's texts can quote stored personal data: only what names members and values of ours
    /// is kept, the others become a position.
    pub fn damaged(kind: &str, error: &serde_json::Error) -> Self {
        let text = error.to_string();
        let names_ours =
            ["missing field `", "duplicate field `"].iter().any(|start| text.starts_with(start));
        let unknown = text.strip_prefix("unknown variant `");
        let problem =
            match (error.classify(), unknown.and_then(|it| it.rsplit_once("`, expected "))) {
                (Category::Data, Some((_stored, known))) => {
                    format!("unknown value, expected {known}")
                }
                (Category::Data, None) if names_ours => text,
                (category, _) => {
                    format!("{category:?} error at line {} column {}", error.line(), error.column())
                }
            };
        StoreError::Damaged(format!("the stored {kind} is damaged: {problem}"))
    }
}

/// Decodes a record.
///
/// # Errors
/// [`StoreError::Damaged`] if it is not a JSON object, or not of the type's shape.
pub fn decode<'a, T: Deserialize<'a>>(kind: &str, json: &'a [u8]) -> Result<T, StoreError> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let record = deserializer.deserialize_map(RecordVisitor(PhantomData));
    let whole = record.and_then(|record| deserializer.end().map(|()| record));
    whole.map_err(|error| StoreError::damaged(kind, &error))
}

/// Reads a record of named members. serde's own way could read it as an array, too, which doubles the code;
/// and here an error that `try_from` finds has a position.
struct RecordVisitor<T>(PhantomData<T>);

impl<'a, T: Deserialize<'a>> Visitor<'a> for RecordVisitor<T> {
    type Value = T;

    fn expecting(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, members: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members))
    }
}

/// A record that was found.
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
    /// Reads all of it within so many milliseconds, the key's [`READ_MS`](Key::READ_MS).
    ///
    /// # Errors
    /// If the store breaks off, or takes longer; [`StoreError::Busy`].
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
    /// A value that was found, not yet read.
    type Value: StoredValue;

    /// Finds a record.
    ///
    /// # Errors
    /// If the store does not answer, or the metadata is not this key's.
    async fn get<K: Key>(
        &self,
        key: &K,
    ) -> Result<Option<Stored<Self::Value, K::Metadata>>, StoreError>;

    /// Writes a record, replacing an older one. `Ok` means that the store keeps it.
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
