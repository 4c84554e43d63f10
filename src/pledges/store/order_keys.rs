//! The keys of records about orders of shop systems: connections, and received orders.

use super::key::{DAY_SECONDS, Key, LEAST_CACHE_SECONDS};
use super::metadata::NoMetadata;
use crate::pledges::api::MAX_BODY_BYTES;
use crate::pledges::orders::ConnectionId;
use std::borrow::Cow;

/// The key `connection:{id}` of a [`Connection`](crate::pledges::orders::Connection): a copy of the ledger's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionKey(pub ConnectionId);

impl Key for ConnectionKey {
    type Metadata = NoMetadata;
    const KIND: &'static str = "connection";
    const PREFIX: &'static str = "connection:";
    const IS_COPY: bool = true;
    /// This cache TTL limits how long an old secret is still accepted.
    const CACHE_SECONDS: Option<u32> = Some(LEAST_CACHE_SECONDS);
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0.as_str())
    }
}

impl ConnectionKey {
    pub fn parse(name: &str) -> Option<Self> {
        ConnectionId::parse(name.strip_prefix(Self::PREFIX)?).map(ConnectionKey)
    }
}

/// How long a received order is kept if nothing is pledged for it, in days.
pub const RECEIVED_DAYS: u32 = 30;

/// The key `received:{hour}:{connection}:{time}:{random}` of what a shop system sent, as it was sent. The hour, in hours
/// since 1970, comes first, so that a list finds what was received lately.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReceivedKey {
    /// When it was received, in milliseconds since 1970.
    time_ms: u64,
    connection: ConnectionId,
    random: [u8; Self::RANDOM_BYTES],
}

const HOUR_MS: u64 = 3_600_000;

impl ReceivedKey {
    /// Random bytes in a name, to distinguish what arrives in the same millisecond.
    pub const RANDOM_BYTES: usize = 8;

    pub fn new(time_ms: u64, connection: ConnectionId, random: [u8; Self::RANDOM_BYTES]) -> Self {
        ReceivedKey { time_ms, connection, random }
    }

    /// Parses the part of a name after the prefix: the ID of a delivery.
    pub fn from_id(id: &str) -> Option<Self> {
        let mut parts = id.split(':');
        let (hour, connection) = (parts.next()?, parts.next()?);
        let (time, random) = (parts.next()?, parts.next()?);
        let connection = ConnectionId::parse(connection)?;
        let random = base16ct::lower::decode_vec(random).ok()?.try_into().ok()?;
        let key = ReceivedKey { time_ms: time.parse().ok()?, connection, random };
        (parts.next().is_none() && key.hour() == hour).then_some(key)
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::from_id(name.strip_prefix(Self::PREFIX)?)
    }

    /// Returns the ID of the delivery: the name without the prefix.
    pub fn id(&self) -> String {
        let random = base16ct::lower::encode_string(&self.random);
        [&*self.hour(), self.connection.as_str(), &self.time_ms.to_string(), &random].join(":")
    }

    pub fn connection(&self) -> &ConnectionId {
        &self.connection
    }

    pub fn time_ms(&self) -> u64 {
        self.time_ms
    }

    /// Returns the prefix of the names of what was received in the hour of this time.
    pub fn hour_prefix(time_ms: u64) -> String {
        [Self::PREFIX, &hour(time_ms), ":"].concat()
    }

    fn hour(&self) -> String {
        hour(self.time_ms)
    }
}

fn hour(time_ms: u64) -> String {
    format!("{:07}", time_ms / HOUR_MS)
}

impl Key for ReceivedKey {
    type Metadata = NoMetadata;
    const KIND: &'static str = "received order";
    const PREFIX: &'static str = "received:";
    const KEPT_SECONDS: Option<u32> = Some(RECEIVED_DAYS * DAY_SECONDS);
    const MAX_BYTES: usize = MAX_BODY_BYTES;
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Owned(self.id())
    }
}
