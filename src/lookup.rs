//! How an operator finds a transaction by what a caller on the phone knows of it: by hashes in its
//! metadata. A list of records so shows nobody's data, and without the key no guess can be tried.

use crate::auth::Scope;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::Sha256;
use std::fmt::{self, Debug, Formatter};

/// The secret of the hashes: one for all keys of a KV namespace, each of whose records holds it, so
/// that a create reads no further record. Its `Debug` shows nothing of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct LookupKey([u8; 32]);

/// Bytes of a hash: no two texts of a namespace share one by chance.
const HASH_BYTES: usize = 16;

/// What a transaction is found by: 32 hexadecimal digits each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LookupHashes {
    /// Hash of the reference.
    pub reference: String,
    /// Hash of the recipient's e-mail address, in whatever case it was written.
    pub email: String,
}

impl LookupKey {
    /// Takes random bytes.
    pub const fn new(bytes: [u8; 32]) -> Self {
        LookupKey(bytes)
    }

    /// The hashes of a transaction of this unit and mode. `None`: none in practice, HMAC takes keys
    /// of any length.
    pub fn hashes(&self, scope: &Scope, reference: &str, email: &str) -> Option<LookupHashes> {
        Some(LookupHashes {
            reference: self.reference(scope, reference)?,
            email: self.email(scope, email)?,
        })
    }

    /// The hash of a reference, as in [`hashes`](Self::hashes).
    pub fn reference(&self, scope: &Scope, reference: &str) -> Option<String> {
        self.hash(scope, "reference", reference)
    }

    /// The hash of an e-mail address, as in [`hashes`](Self::hashes).
    pub fn email(&self, scope: &Scope, email: &str) -> Option<String> {
        self.hash(scope, "email", &email.to_ascii_lowercase())
    }

    fn hash(&self, scope: &Scope, member: &str, text: &str) -> Option<String> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        let mode: &str = scope.mode.into();
        for part in [member, mode, &scope.unit, text] {
            mac.update(&(part.len() as u64).to_be_bytes()); // no text moves to the next part
            mac.update(part.as_bytes());
        }
        let digest = mac.finalize().into_bytes();
        Some(base16ct::lower::encode_string(digest.get(..HASH_BYTES)?))
    }
}

impl Debug for LookupKey {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("LookupKey(…)")
    }
}

impl Serialize for LookupKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&base16ct::lower::encode_string(&self.0))
    }
}

impl<'de> Deserialize<'de> for LookupKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = base16ct::mixed::decode_vec(&text).ok().and_then(|bytes| bytes.try_into().ok());
        bytes.map(LookupKey).ok_or_else(|| Error::custom("a lookup key has 64 hexadecimal digits"))
    }
}
