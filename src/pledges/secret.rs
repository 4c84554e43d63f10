//! The secret of a KV namespace, and the hashes that need this secret.
//!
//! An operator finds a transaction by hashes of its reference and e-mail address. So a list of records shows
//! no personal data. Without the secret, nobody can check a guess against a hash.

use super::hash::{first_bytes, hmac, update_with_parts};
use super::mailbox::mailbox;
use super::order_number::order_number;
use super::scope::{Mode, Scope};
use hmac::{Hmac, KeyInit as _};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use std::fmt::{self, Debug, Formatter};
use subtle::ConstantTimeEq as _;

/// The secret of a KV namespace: 32 random bytes, stored in a [`SecretRecord`]. The record of each API key
/// also has a copy, so that a create request does not have to read the secret separately. `Debug` does not
/// show it.
#[derive(Clone)]
pub struct NamespaceSecret {
    bytes: [u8; SECRET_BYTES],
    /// An HMAC that is already initialised with the secret. This saves hashing 128 bytes at each use.
    keyed: Hmac<Sha256>,
}

/// The record of the secret: `{"secret": "…", "version": 1}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretRecord {
    /// 64 hexadecimal digits.
    pub secret: NamespaceSecret,
}

pub const SECRET_BYTES: usize = 32;
/// Size of a key that seals texts, in bytes.
pub const SEALING_KEY_BYTES: usize = 16;
/// Length of a hash in metadata, in bytes. It makes accidental collisions improbable.
const HASH_BYTES: usize = 16;

/// The hashes in a record's metadata by which an operator finds the transaction. Each has 32 hexadecimal
/// digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LookupHashes {
    /// The hash of the reference's [`order_number`].
    pub order: String,
    /// The hash of the recipient's address, normalised as a [`mailbox`].
    pub email: String,
}

impl NamespaceSecret {
    pub fn new(bytes: [u8; SECRET_BYTES]) -> Self {
        let mut block = [0; 64]; // HMAC pads a shorter key with zeros (RFC 2104)
        block.iter_mut().zip(bytes).for_each(|(byte, secret)| *byte = secret);
        NamespaceSecret { bytes, keyed: Hmac::new(&block.into()) }
    }

    /// Returns 8 hexadecimal digits that identify the secret. With them, an operator can compare copies of
    /// a secret without seeing it.
    pub fn fingerprint(&self) -> String {
        base16ct::lower::encode_string(&first_bytes::<4>(Sha256::digest(self.bytes)))
    }

    /// Returns the hashes of a transaction's reference and e-mail address, for this unit and mode.
    pub fn hashes(&self, scope: &Scope, reference: &str, email: &str) -> LookupHashes {
        LookupHashes { order: self.order(scope, reference), email: self.email(scope, email) }
    }

    /// Returns the hash of a reference, as in [`hashes`](Self::hashes). All spellings of an
    /// [`order_number`] have the same hash.
    pub fn order(&self, scope: &Scope, reference: &str) -> String {
        self.hash("order number", scope, &order_number(reference))
    }

    /// Returns the hash of an e-mail address, as in [`hashes`](Self::hashes).
    pub fn email(&self, scope: &Scope, email: &str) -> String {
        self.hash("email", scope, &mailbox(email))
    }

    /// Normalises an e-mail address as a [`mailbox`], and returns its hash. The hash is the same for all
    /// units and modes, so that the e-mails to one person can be counted.
    pub fn address(&self, email: &str) -> String {
        self.hash("address", &everybody(), &mailbox(email))
    }

    /// Returns the token in the URL that ends the e-mails with news about a transaction: 32 hexadecimal digits. It opens nothing
    /// else.
    pub fn unsubscribe_token(&self, transaction_id: &str) -> String {
        self.hash("unsubscribe", &everybody(), transaction_id)
    }

    /// Returns whether this is the [token](Self::unsubscribe_token) of a transaction. Takes the same time for each wrong token.
    pub fn unsubscribes(&self, transaction_id: &str, token: &str) -> bool {
        self.unsubscribe_token(transaction_id).as_bytes().ct_eq(token.as_bytes()).into()
    }

    /// Returns the key that encrypts search terms in URLs of the dashboard. It is unrelated to all hashes.
    pub fn sealing_key(&self) -> [u8; SEALING_KEY_BYTES] {
        first_bytes(self.digest("search terms", &everybody(), ""))
    }

    /// Returns the key that seals the secrets of connections to shop systems. It is unrelated to all hashes.
    pub fn connection_key(&self) -> [u8; SEALING_KEY_BYTES] {
        first_bytes(self.digest("connection secrets", &everybody(), ""))
    }

    fn hash(&self, purpose: &str, scope: &Scope, text: &str) -> String {
        let digest = self.digest(purpose, scope, text);
        base16ct::lower::encode_string(&first_bytes::<HASH_BYTES>(digest))
    }

    fn digest(&self, purpose: &str, scope: &Scope, text: &str) -> [u8; 32] {
        hmac(self.mac(purpose, scope, [text.as_bytes()]), &[])
    }

    /// Returns an HMAC-SHA-256 of a purpose, a unit, a mode and some texts. Because the purpose is
    /// included, the same text has unrelated hashes for different purposes.
    pub(crate) fn mac<'p>(
        &self,
        purpose: &'p str,
        scope: &'p Scope,
        texts: impl IntoIterator<Item = &'p [u8]>,
    ) -> Hmac<Sha256> {
        let mut mac = self.keyed.clone();
        let parts = std::iter::once(purpose.as_bytes()).chain(scope.parts()).chain(texts);
        update_with_parts(&mut mac, parts);
        mac
    }
}

/// Returns the scope of what is the same for all units and modes.
fn everybody() -> Scope {
    Scope { mode: Mode::Live, unit: String::new() }
}

impl PartialEq for NamespaceSecret {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for NamespaceSecret {}

impl Debug for NamespaceSecret {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("NamespaceSecret(…)")
    }
}

impl Serialize for NamespaceSecret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&base16ct::lower::encode_string(&self.bytes))
    }
}

impl<'de> Deserialize<'de> for NamespaceSecret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = base16ct::mixed::decode_vec(&text).ok().and_then(|bytes| bytes.try_into().ok());
        bytes
            .map(NamespaceSecret::new)
            .ok_or_else(|| Error::custom("a secret has 64 hexadecimal digits"))
    }
}
