//! Identifiers that the service makes, and the key of a timeline.

use base32ct::{Base32Unpadded, Encoding as _};
use std::fmt::{self, Display, Formatter};

/// Bytes of randomness in an id: 120 bits.
pub const ID_BYTES: usize = 15;
/// Bytes of randomness in an edit key: 160 bits.
pub const EDIT_KEY_BYTES: usize = 20;

const ID_LENGTH: usize = ID_BYTES * 8 / 5;

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $bytes:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name(String);

        impl $name {
            /// Makes one of these random (or derived) bytes.
            pub fn from_bytes(bytes: [u8; $bytes]) -> Self {
                $name([$prefix, &Base32Unpadded::encode_string(&bytes)].concat())
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
    TransactionId, "ptran_", ID_BYTES
}
identifier! {
    /// ID of a pledge (§2.5): `p_` and 24 characters, 120 bits.
    PledgeId, "p_", ID_BYTES
}
identifier! {
    /// The secret of a timeline address (§2.1): 32 characters, 160 bits.
    EditKey, "", EDIT_KEY_BYTES
}

impl TransactionId {
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
