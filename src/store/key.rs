//! Typed keys: each owns its prefix, its metadata and its caching, so that a wrong pairing does
//! not compile, and no text from outside names a record of another kind.

use super::{NoMetadata, TransactionMetadata};
use crate::auth::{KeyHash, Mode};
use crate::idempotency::ReplayHash;
use crate::pledge::TransactionId;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A key of the store.
pub trait Key {
    /// What is stored beside the value; at most 1,024 bytes of JSON.
    type Metadata: Serialize + DeserializeOwned;
    /// The name of this kind of record, for logs.
    const KIND: &'static str;
    /// Most seconds for which the store may answer from a cache; `None` leaves it to the store.
    const CACHE_SECONDS: Option<u32> = None;
    /// How long the store may take to answer, in milliseconds.
    const READ_MS: u32 = 5_000;
    /// The key's text; at most 512 bytes.
    fn name(&self) -> String;
}

/// `transaction:{id}` → the bytes of the get operation's answer.
#[derive(Clone, Copy, Debug)]
pub struct TransactionKey<'k>(pub &'k TransactionId);

impl Key for TransactionKey<'_> {
    type Metadata = TransactionMetadata;
    const KIND: &'static str = "transaction";
    fn name(&self) -> String {
        format!("transaction:{}", self.0)
    }
}

/// `key:{sha256}` → a [`KeyRecord`](crate::auth::KeyRecord).
#[derive(Clone, Copy, Debug)]
pub struct CredentialKey(pub KeyHash);

impl Key for CredentialKey {
    type Metadata = NoMetadata;
    const KIND: &'static str = "key";
    /// The least that Workers KV takes: it bounds how long a revoked key lives.
    const CACHE_SECONDS: Option<u32> = Some(30);
    fn name(&self) -> String {
        format!("key:{}", self.0.to_hex())
    }
}

/// `catalogue:{mode}` → a [`Catalogue`](crate::charge::Catalogue). Without a mode, `catalogue`: the
/// one of both modes until each had its own, which test mode still falls back to.
#[derive(Clone, Copy, Debug)]
pub struct CatalogueKey(pub Option<Mode>);

impl Key for CatalogueKey {
    type Metadata = NoMetadata;
    const KIND: &'static str = "catalogue";
    fn name(&self) -> String {
        let Some(mode) = self.0 else { return "catalogue".to_owned() };
        let mode: &str = mode.into();
        format!("catalogue:{mode}")
    }
}

/// `profile:{unit}` → a [`Profile`](crate::timeline::Profile).
#[derive(Clone, Copy, Debug)]
pub struct ProfileKey<'k>(pub &'k str);

impl Key for ProfileKey<'_> {
    type Metadata = NoMetadata;
    const KIND: &'static str = "profile";
    /// A page does not need it: its reader should not wait for it.
    const READ_MS: u32 = 1_000;
    fn name(&self) -> String {
        format!("profile:{}", self.0)
    }
}

/// `idempotency:{hash}` → a [`Replay`](crate::idempotency::Replay).
#[derive(Clone, Copy, Debug)]
pub struct ReplayKey(pub ReplayHash);

impl Key for ReplayKey {
    type Metadata = NoMetadata;
    const KIND: &'static str = "replay";
    fn name(&self) -> String {
        format!("idempotency:{}", self.0.to_hex())
    }
}
