//! The trait of the store's typed keys. Each key type has its own name prefix, metadata and cache TTL. So a
//! record cannot be written with the metadata of another kind, and text from outside cannot name a record of
//! another kind.
//!
//! Other modules do not repeat the prefixes. To list records, an operator's code uses a key type's
//! [`PREFIX`](Key::PREFIX), or a longer prefix that the type makes. The type's `parse` then parses the listed
//! names.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;

pub(super) const DAY_SECONDS: u32 = 24 * 60 * 60;

/// Workers KV's usual cache TTL, in seconds. It applies where a key sets none.
pub const USUAL_CACHE_SECONDS: u32 = 60;

/// Workers KV's minimum cache TTL, in seconds.
pub const LEAST_CACHE_SECONDS: u32 = 30;

pub trait Key {
    /// The metadata that is stored with the value: at most 1,024 bytes of JSON.
    type Metadata: Serialize + DeserializeOwned;
    /// The name of this kind of record in logs.
    const KIND: &'static str;
    const PREFIX: &'static str;
    /// Cache TTL of a read, in seconds; `None` uses the store's default.
    const CACHE_SECONDS: Option<u32> = None;
    /// Deadline of a read, in milliseconds.
    const READ_MS: u32 = 5_000;
    /// How long a record is kept, in seconds (at least 60); `None` keeps it forever.
    const KEPT_SECONDS: Option<u32> = None;
    /// Whether the record is a [copy](super::CopyMetadata) of a row of the ledger. Then it may be a tombstone.
    const IS_COPY: bool = false;
    /// Maximum size of a record, in bytes.
    const MAX_BYTES: usize = 64 * 1024;

    /// The part of the name after the prefix.
    fn suffix(&self) -> Cow<'_, str>;

    /// The name of the record: at most 512 bytes.
    fn name(&self) -> String {
        [Self::PREFIX, &self.suffix()].concat()
    }

    /// Returns the size of the record with this metadata, in bytes. If the metadata does not contain the
    /// size, returns [`MAX_BYTES`](Self::MAX_BYTES).
    fn bytes(_metadata: &Self::Metadata) -> usize {
        Self::MAX_BYTES
    }
}
