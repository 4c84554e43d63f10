//! IDs of transactions and pledges, and the edit keys of timelines.

use crate::pledges::hash::{first_bytes, hmac, update_with_parts};
use crate::pledges::scope::Scope;
use crate::pledges::secret::NamespaceSecret;
use base32ct::{Base32Unpadded, Encoding as _};
use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt::{self, Display, Formatter};

/// Bytes of a transaction's ID: 208 bits.
pub const TRANSACTION_ID_BYTES: usize = 2 * GROUP_BYTES + UNIQUE_BYTES;
/// Number of random or derived bytes in a transaction's ID: 16 bytes are 128 bits.
pub const UNIQUE_BYTES: usize = 16;
/// Bytes of randomness in a pledge's ID: 120 bits.
pub const PLEDGE_ID_BYTES: usize = 15;
/// Bytes of randomness in an edit key: 160 bits.
pub const EDIT_KEY_BYTES: usize = 20;

/// Number of bytes of each of the two hashes in a transaction's ID: one of the scope, one of the reference.
/// Each hash takes 8 characters.
const GROUP_BYTES: usize = 5;

const TRANSACTION_ID_LENGTH: usize = (TRANSACTION_ID_BYTES * 8).div_ceil(5);
/// The possible last characters of a transaction's ID. The last character encodes 3 bits: 208 = 41 × 5 + 3.
const LAST_CHARACTERS: &[u8] = b"aeimquy4";

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident, [u8; $bytes:ident] => $encode:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
        pub struct $name(String);

        impl $name {
            /// Encodes random or derived bytes.
            pub fn from_bytes(bytes: [u8; $bytes]) -> Self {
                let encode: fn([u8; $bytes]) -> String = $encode;
                $name(encode(bytes))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }

            pub fn into_string(self) -> String {
                self.0
            }
        }

        impl Display for $name {
            fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }
    };
}

identifier! {
    /// The ID of a pledge transaction (§2.1): `ptran_` and 42 characters of base32, opaque to callers.
    ///
    /// Of its 208 bits, the first 40 are a hash of the scope, the next 40 a hash of the reference, and 128 are
    /// random or derived. So a list by prefix finds all transactions of a scope, or only those with a certain
    /// reference.
    TransactionId, [u8; TRANSACTION_ID_BYTES] => |bytes| "ptran_".to_owned() + &base32(&bytes)
}
identifier! {
    /// The ID of a pledge (§2.5): `p_` and 24 characters, 120 bits.
    PledgeId, [u8; PLEDGE_ID_BYTES] => |bytes| "p_".to_owned() + &base32(&bytes)
}
identifier! {
    /// The secret in a timeline's URL (§2.1): 160 bits as 40 hexadecimal digits. Programs that remove secrets
    /// from logs recognise this form.
    EditKey, [u8; EDIT_KEY_BYTES] => |bytes| base16ct::lower::encode_string(&bytes)
}

fn base32(bytes: &[u8]) -> String {
    Base32Unpadded::encode_string(bytes)
}

impl TransactionId {
    /// Makes the ID of a transaction. `unique` is random, or derived for a create request with an idempotency key.
    pub fn new(
        secret: &NamespaceSecret,
        scope: &Scope,
        reference: &str,
        unique: [u8; UNIQUE_BYTES],
    ) -> Self {
        let groups = [scope_hash(scope), order(secret, scope, reference)];
        let mut bytes = [0; TRANSACTION_ID_BYTES];
        let parts = groups.iter().flatten().chain(&unique);
        bytes.iter_mut().zip(parts).for_each(|(byte, part)| *byte = *part);
        TransactionId::from_bytes(bytes)
    }

    /// Returns the prefix of the IDs of a scope's transactions.
    pub fn scope_prefix(scope: &Scope) -> String {
        Self::prefix(&scope_hash(scope))
    }

    /// Returns the prefix of the IDs of the transactions with this reference.
    pub fn order_prefix(secret: &NamespaceSecret, scope: &Scope, reference: &str) -> String {
        Self::prefix(&[scope_hash(scope), order(secret, scope, reference)].concat())
    }

    fn prefix(groups: &[u8]) -> String {
        "ptran_".to_owned() + &base32(groups)
    }

    /// Parses an ID that this service could have made.
    ///
    /// Returns `None` for any other text, such as `ptran_`, `key:abc` or 600 characters, so that it never
    /// reaches the store.
    pub fn parse(text: &str) -> Option<Self> {
        let opaque = text.strip_prefix("ptran_")?.as_bytes();
        let shaped = opaque.len() == TRANSACTION_ID_LENGTH
            && opaque.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'2'..=b'7'))
            && opaque.last().is_some_and(|last| LAST_CHARACTERS.contains(last));
        shaped.then(|| TransactionId(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for TransactionId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let unexpected = || Error::invalid_value(Unexpected::Other("text"), &"a transaction's ID");
        TransactionId::parse(&text).ok_or_else(unexpected)
    }
}

/// Hashes a unit and its mode. Does not use the namespace's secret, so a scope's transactions can be listed
/// even if the secret is lost.
fn scope_hash(scope: &Scope) -> [u8; GROUP_BYTES] {
    let mut hash = Sha256::new();
    update_with_parts(&mut hash, scope.parts());
    first_bytes(hash.finalize())
}

fn order(secret: &NamespaceSecret, scope: &Scope, reference: &str) -> [u8; GROUP_BYTES] {
    first_bytes(hmac(secret.mac("order", scope, [reference.as_bytes()]), &[]))
}
