//! Identifiers that the service makes, and the key of a timeline.

use crate::hash::{first_bytes, update_with_parts};
use crate::scope::Scope;
use crate::secret::NamespaceSecret;
use base32ct::{Base32Unpadded, Encoding as _};
use hmac::Mac as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt::{self, Display, Formatter};

/// Bytes of randomness in an id: 120 bits.
pub const ID_BYTES: usize = 15;
/// Bytes of randomness in an edit key: 160 bits.
pub const EDIT_KEY_BYTES: usize = 20;

/// Bytes that stand for a shop, and for an order, in the ID of a transaction: 8 characters each.
const GROUP_BYTES: usize = 5;

const ID_LENGTH: usize = ID_BYTES * 8 / 5;

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident, [u8; $bytes:ident] => $encode:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name(String);

        impl $name {
            /// Makes one of these random (or derived) bytes.
            pub fn from_bytes(bytes: [u8; $bytes]) -> Self {
                let encode: fn([u8; $bytes]) -> String = $encode;
                $name(encode(bytes))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The text, to keep.
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
    /// ID of a pledge transaction (§2.1): `ptran_` and 24 characters, 120 bits.
    TransactionId, [u8; ID_BYTES] => |bytes| "ptran_".to_owned() + &base32(&bytes)
}
identifier! {
    /// ID of a pledge (§2.5): `p_` and 24 characters, 120 bits.
    PledgeId, [u8; ID_BYTES] => |bytes| "p_".to_owned() + &base32(&bytes)
}
identifier! {
    /// The secret of a timeline address (§2.1): 160 bits in 40 hexadecimal digits, which log
    /// redactors take for a secret.
    EditKey, [u8; EDIT_KEY_BYTES] => |bytes| base16ct::lower::encode_string(&bytes)
}

fn base32(bytes: &[u8]) -> String {
    Base32Unpadded::encode_string(bytes)
}

/// How an edit key is written: a repeat is answered as its first create was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EditKeyEncoding {
    /// 32 characters, as in records that do not name an encoding.
    #[default]
    Base32,
    /// 40 digits.
    Hex,
}

impl EditKey {
    /// Makes one of these bytes in this encoding.
    pub fn encoded(bytes: [u8; EDIT_KEY_BYTES], encoding: EditKeyEncoding) -> Self {
        match encoding {
            EditKeyEncoding::Base32 => EditKey(base32(&bytes)),
            EditKeyEncoding::Hex => EditKey::from_bytes(bytes),
        }
    }
}

impl TransactionId {
    /// How the IDs of one shop's transactions begin: those of a unit in a mode. The hash has no
    /// secret, so that a namespace whose secret was lost can still list its shops.
    pub fn shop_prefix(scope: &Scope) -> String {
        Self::prefix(&shop(scope))
    }

    /// How the IDs of the transactions with this reference begin.
    pub fn order_prefix(secret: &NamespaceSecret, scope: &Scope, reference: &str) -> String {
        Self::prefix(&[shop(scope), order(secret, scope, reference)].concat())
    }

    fn prefix(bytes: &[u8]) -> String {
        "ptran_".to_owned() + &base32(bytes)
    }

    /// Reads an ID that this service can have made.
    ///
    /// `None` for every other text, such as `ptran_`, `key:abc`, or 600 characters: it can name
    /// no record, and must not reach the store.
    pub fn parse(text: &str) -> Option<Self> {
        let opaque = text.strip_prefix("ptran_")?;
        let shaped = opaque.len() == ID_LENGTH
            && opaque.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'2'..=b'7'));
        shaped.then(|| TransactionId(text.to_owned()))
    }
}

fn shop(scope: &Scope) -> [u8; GROUP_BYTES] {
    let mut hash = Sha256::new();
    update_with_parts(&mut hash, scope.parts());
    first_bytes(hash.finalize())
}

fn order(secret: &NamespaceSecret, scope: &Scope, reference: &str) -> [u8; GROUP_BYTES] {
    first_bytes(secret.mac("order", scope, [reference.as_bytes()]).finalize().into_bytes())
}
