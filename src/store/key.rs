//! Typed keys: each owns its prefix, its metadata and its caching, so that a wrong pairing does
//! not compile, and no text from outside names a record of another kind.

use crate::auth::{KeyHash, Mode, Scope};
use crate::idempotency::ReplayHash;
use crate::pledge::{EditKey, TransactionId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

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
    type Metadata = Access;
    const KIND: &'static str = "transaction";
    fn name(&self) -> String {
        format!("transaction:{}", self.0)
    }
}

/// `key:{sha256}` → a [`KeyRecord`](crate::auth::KeyRecord).
#[derive(Clone, Copy, Debug)]
pub struct CredentialKey(pub KeyHash);

impl Key for CredentialKey {
    type Metadata = ();
    const KIND: &'static str = "key";
    /// The least that Workers KV takes: it bounds how long a revoked key lives.
    const CACHE_SECONDS: Option<u32> = Some(30);
    fn name(&self) -> String {
        format!("key:{}", self.0.to_hex())
    }
}

/// `catalogue` → a [`Catalogue`](crate::charge::Catalogue).
#[derive(Clone, Copy, Debug)]
pub struct CatalogueKey;

impl Key for CatalogueKey {
    type Metadata = ();
    const KIND: &'static str = "catalogue";
    fn name(&self) -> String {
        "catalogue".to_owned()
    }
}

/// `profile:{unit}` → a [`Profile`](crate::timeline::Profile).
#[derive(Clone, Copy, Debug)]
pub struct ProfileKey<'k>(pub &'k str);

impl Key for ProfileKey<'_> {
    type Metadata = ();
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
    type Metadata = ();
    const KIND: &'static str = "replay";
    fn name(&self) -> String {
        format!("idempotency:{}", self.0.to_hex())
    }
}

/// Who may see a transaction: the metadata of its record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Access {
    #[serde(flatten)]
    scope: Scope,
    /// SHA-256 of the edit key, in hexadecimal.
    edit_key: String,
}

impl Access {
    /// Gives access to a scope, and to those who have the edit key.
    pub fn new(scope: Scope, edit_key: &EditKey) -> Self {
        Access { scope, edit_key: hash(edit_key.as_str()) }
    }

    /// Whether the record belongs to this unit and mode.
    pub fn allows(&self, scope: &Scope) -> bool {
        self.scope == *scope
    }

    /// Whether this is the edit key, in a time that does not depend on how much of it is right.
    pub fn opens_with(&self, edit_key: &str) -> bool {
        hash(edit_key).as_bytes().ct_eq(self.edit_key.as_bytes()).into() // hashes: of one length
    }

    /// The unit's ID.
    pub fn unit(&self) -> &str {
        &self.scope.unit
    }

    /// Test or live.
    pub fn mode(&self) -> Mode {
        self.scope.mode
    }
}

fn hash(text: &str) -> String {
    base16ct::lower::encode_string(&Sha256::digest(text.as_bytes()))
}
