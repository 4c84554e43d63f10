//! The port to the key-value store, and the typed keys of its records.
//!
//! A transaction is one record, written once. Its value is the body of the get operation's answer. Its metadata says
//! who may see it.

mod key;
mod metadata;
mod operator;
mod person;
mod recorded;

pub use key::{
    AuditKey, BackupKey, CredentialKey, ErasedKey, FAILED_MAIL_DAYS, FailedMailKey, Key,
    LEAST_CACHE_SECONDS, LedgerUnsentKey, MAILED_DAYS, MAX_PRICES_BYTES, MailedKey, MemberKey,
    NOTIFICATION_DAYS, NotificationKey, PriceListKey, PriceListVersionKey, ProfileKey,
    QueuedMailKey, ReplayKey, SecretKey, SettlementKey, TeamKey, TransactionKey,
    USUAL_CACHE_SECONDS, UnitKey,
};
pub use metadata::{ChangeNote, MailState, NoMetadata, Registered, Summary, TransactionMetadata};
pub use operator::{KeyInfo, ListingStore, MAX_READS, OperatorStore, Page, SETTLE_MS};
pub use person::{PersonKey, PersonNote, PersonRole};
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
    /// The store does not answer, or refuses. The adapter logs the details.
    Unavailable,
    /// The isolate has no memory for the record at the moment. The record was not read.
    Busy,
    /// The record or its metadata cannot be read. The text is for the operator's log, and quotes no stored data.
    Damaged(String),
}

impl StoreError {
    /// Makes the error for a record of this kind that could not be decoded.
    ///
    /// The texts of serde_json can quote stored personal data. Only texts that name members and values of this crate
    /// are kept. All others are replaced by a position.
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
/// [`StoreError::Damaged`] if it is not a JSON object, or does not have the type's shape.
pub fn decode<'a, T: Deserialize<'a>>(kind: &str, json: &'a [u8]) -> Result<T, StoreError> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let record = deserializer.deserialize_map(RecordVisitor(PhantomData));
    let whole = record.and_then(|record| deserializer.end().map(|()| record));
    whole.map_err(|error| StoreError::damaged(kind, &error))
}

/// Visits a record with named members. serde's own implementation also accepts arrays, which doubles the code. This
/// visitor also gives errors of `try_from` a position.
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

/// A value that can be read whole, or passed on unread.
#[expect(async_fn_in_trait, reason = "one thread: no caller needs the futures to be Send")]
pub trait StoredValue {
    /// Reads the whole value within this many milliseconds, which are the key's [`READ_MS`](Key::READ_MS).
    ///
    /// # Errors
    /// If the store breaks off or takes longer. [`StoreError::Busy`] if there is no memory for the value.
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

    /// Writes a record, or replaces an older one. `Ok` means that the store has accepted it.
    ///
    /// # Errors
    /// If the record may not have been written.
    async fn put<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
    ) -> Result<(), StoreError>;
}
