//! A connection to a shop system, as the service reads it. Its record, which the office writes, has more members.

use super::System;
use crate::pledges::auth::KeyHash;
use crate::pledges::sealed::Sealer;
use crate::pledges::secret::NamespaceSecret;
use base32ct::{Base32Unpadded, Encoding as _};
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use std::fmt::{self, Display, Formatter};

/// The ID of a connection: 26 characters from `a` to `z` and `2` to `7`. It is a part of the URL to which the shop system
/// sends its orders.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct ConnectionId(String);

impl ConnectionId {
    /// Number of random bytes in an ID.
    pub const BYTES: usize = 16;
    const LENGTH: usize = 26;

    pub fn new(random: [u8; Self::BYTES]) -> Self {
        ConnectionId(Base32Unpadded::encode_string(&random))
    }

    pub fn parse(text: &str) -> Option<Self> {
        let is_digit = |byte: u8| matches!(byte, b'a'..=b'z' | b'2'..=b'7');
        let is_id = text.len() == Self::LENGTH && text.bytes().all(is_digit);
        is_id.then(|| ConnectionId(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Display for ConnectionId {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for ConnectionId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ConnectionId::parse(&String::deserialize(deserializer)?)
            .ok_or_else(|| Error::custom("this is not the ID of a connection"))
    }
}

/// The part of a connection's record that the service needs to receive orders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connection {
    pub system: System,
    /// The secrets with which the shop system may sign, sealed, newest first. There are two while one replaces the other.
    pub secrets: Vec<String>,
    /// The API key that belongs to the connection. Once it is revoked, the connection receives no orders.
    pub key: KeyHash,
}

impl Connection {
    /// Returns the secrets with which the shop system may sign. Leaves out secrets that another connection has sealed.
    pub fn open_secrets(&self, id: &ConnectionId, secret: &NamespaceSecret) -> Vec<Vec<u8>> {
        let sealer = sealer(id, secret);
        self.secrets.iter().filter_map(|sealed| sealer.open(sealed)).collect()
    }
}

/// Returns the cipher for the token of a connection's API. It does not open secrets.
pub fn token_sealer(id: &ConnectionId, secret: &NamespaceSecret) -> Sealer {
    Sealer::new(secret.connection_key(), ["token ", id.as_str()].concat())
}

/// Returns the cipher for the secrets of a connection. They do not open in another connection.
pub fn sealer(id: &ConnectionId, secret: &NamespaceSecret) -> Sealer {
    Sealer::new(secret.connection_key(), id.as_str())
}
