//! Keys of the records of a whole namespace: its audit log, its secret and its backups.

use super::key::{DAY_SECONDS, Key, LEAST_CACHE_SECONDS};
use super::metadata::NoMetadata;
use std::borrow::Cow;

/// How long entries of the audit log stay in Workers KV, in days. The ledger has them much longer; the longest time to
/// which it can be reset is 30 days.
pub const AUDIT_DAYS: u32 = 90;

/// The key `audit:{inverted time}:{id}` of an audit log entry: a change by an operator. Because the time is
/// inverted, a list has the newest change first. Workers KV has the entries about its own records, such as those of keys,
/// until the cron brings them into the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AuditKey {
    time_ms: u64,
    id: [u8; Self::RANDOM_BYTES],
}

impl AuditKey {
    /// Random bytes in a name, to distinguish changes in the same millisecond.
    pub const RANDOM_BYTES: usize = 8;
    /// The largest time that a name can contain, in milliseconds since 1970. It is in the year 2286. The
    /// inverted time in a name is this time minus the time of the change.
    const LAST_MS: u64 = 9_999_999_999_999;

    /// Makes the key of the audit log entry for a change at this time, in milliseconds since 1970.
    pub fn new(time_ms: u64, id: [u8; Self::RANDOM_BYTES]) -> Self {
        AuditKey { time_ms: time_ms.min(Self::LAST_MS), id }
    }

    pub fn parse(name: &str) -> Option<Self> {
        let (inverted, id) = name.strip_prefix(Self::PREFIX)?.split_once(':')?;
        let time_ms = Self::LAST_MS.checked_sub(inverted.parse().ok()?)?;
        Some(AuditKey { time_ms, id: base16ct::lower::decode_vec(id).ok()?.try_into().ok()? })
    }

    /// Returns the time of the change, in milliseconds since 1970.
    pub fn time_ms(self) -> u64 {
        self.time_ms
    }
}

impl Key for AuditKey {
    type Metadata = NoMetadata;
    const KIND: &'static str = "audit";
    const PREFIX: &'static str = "audit:";
    const KEPT_SECONDS: Option<u32> = Some(AUDIT_DAYS * DAY_SECONDS);
    fn suffix(&self) -> Cow<'_, str> {
        let inverted = Self::LAST_MS - self.time_ms;
        Cow::Owned(format!("{inverted:013}:{}", base16ct::lower::encode_string(&self.id)))
    }
}

/// The key `secret` of the namespace's [`SecretRecord`](crate::pledges::secret::SecretRecord). Of the service, only the
/// page that ends a subscription reads this record: the record of each API key has a copy of the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretKey;

impl Key for SecretKey {
    type Metadata = NoMetadata;
    const KIND: &'static str = "secret";
    const PREFIX: &'static str = "secret";
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }
}

/// The key `backup`, `backup:increment` or `backup:ledger` of the record about the last backup of this kind. The record says
/// when the backup was made, and by whom. The service does not read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackupKey {
    /// A backup of all records.
    Full,
    /// An incremental backup: what changed since the last backup.
    Increment,
    /// A backup of the rows that only the ledger has.
    Ledger,
}

impl Key for BackupKey {
    type Metadata = NoMetadata;
    const KIND: &'static str = "last backup";
    const PREFIX: &'static str = "backup";
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Borrowed(match self {
            BackupKey::Full => "",
            BackupKey::Increment => ":increment",
            BackupKey::Ledger => ":ledger",
        })
    }
}

/// The key `epoch` of the record that identifies the database with all credits, fulfilments and updates. The
/// service does not read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpochKey;

impl Key for EpochKey {
    type Metadata = NoMetadata;
    const KIND: &'static str = "epoch of the database";
    const PREFIX: &'static str = "epoch";
    const CACHE_SECONDS: Option<u32> = Some(LEAST_CACHE_SECONDS);
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }
}
