//! Typed keys of the store. Each key owns its prefix, its metadata and its cache TTL. So a wrong combination does not
//! compile, and text from outside cannot name a record of another kind.
//!
//! No other module knows a prefix. The operator's code lists by a key's [`PREFIX`](Key::PREFIX), or by a longer prefix
//! that a key makes, and parses the listed names with that key's `parse`.

use super::metadata::{ChangeNote, NoMetadata, Registered, TransactionMetadata};
use crate::api::MAX_RECORD_BYTES;
use crate::auth::KeyHash;
use crate::idempotency::ReplayHash;
use crate::pledge::{NotificationService, TransactionId};
use crate::scope::{Mode, Scope};
use crate::secret::NamespaceSecret;
use crate::settlement::Month;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;

const DAY_SECONDS: u32 = 24 * 60 * 60;
/// How long the outcome of a notification is kept, in days.
pub const NOTIFICATION_DAYS: u32 = 30;
/// How long the record of a notification in the queue is kept, in days.
const QUEUED_DAYS: u32 = 3;
/// How long a notification counts towards the limit of its address, in days.
pub const MAILED_DAYS: u32 = 2;
/// How long a failed notification stays in the list of failures, in days.
pub const FAILED_MAIL_DAYS: u32 = 90;
/// How long the mark of a message that the ledger's queue did not take is kept, in days.
const LEDGER_UNSENT_DAYS: u32 = 7;

/// Workers KV's usual cache TTL, in seconds. It applies where a key sets none.
pub const USUAL_CACHE_SECONDS: u32 = 60;

/// Workers KV's minimum cache TTL, in seconds.
pub const LEAST_CACHE_SECONDS: u32 = 30;

/// A key of the store.
pub trait Key {
    /// The metadata beside the value: at most 1,024 bytes of JSON.
    type Metadata: Serialize + DeserializeOwned;
    /// The name of this kind of record in logs.
    const KIND: &'static str;
    /// The prefix of the names of all records of this kind.
    const PREFIX: &'static str;
    /// Cache TTL of a read, in seconds; `None` uses the store's default.
    const CACHE_SECONDS: Option<u32> = None;
    /// Deadline of a read, in milliseconds.
    const READ_MS: u32 = 5_000;
    /// How long a record is kept, in seconds, at least 60; `None` keeps it without limit.
    const KEPT_SECONDS: Option<u32> = None;
    /// Maximum size of a record, in bytes.
    const MAX_BYTES: usize = 64 * 1024;

    /// The part of the name after the prefix.
    fn suffix(&self) -> Cow<'_, str>;

    /// The name of the record: at most 512 bytes.
    fn name(&self) -> String {
        [Self::PREFIX, &self.suffix()].concat()
    }

    /// Returns the size of the record with this metadata, in bytes: [`MAX_BYTES`](Self::MAX_BYTES) if the metadata does
    /// not have it.
    fn bytes(_metadata: &Self::Metadata) -> usize {
        Self::MAX_BYTES
    }
}

/// `transaction:{id}` → the body of the get operation's answer.
#[derive(Clone, Copy, Debug)]
pub struct TransactionKey<'k>(pub &'k TransactionId);

impl Key for TransactionKey<'_> {
    type Metadata = TransactionMetadata;
    const KIND: &'static str = "transaction";
    const PREFIX: &'static str = "transaction:";
    const MAX_BYTES: usize = MAX_RECORD_BYTES;
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0.as_str())
    }
    fn bytes(metadata: &TransactionMetadata) -> usize {
        metadata.bytes.unwrap_or(Self::MAX_BYTES)
    }
}

impl TransactionKey<'_> {
    /// Returns the prefix of the names of one shop's transactions. A shop is a unit in a mode.
    ///
    /// Check [`allows`](TransactionMetadata::allows) for each listed record: two shops can have the same 40-bit hash.
    pub fn shop_prefix(scope: &Scope) -> String {
        [Self::PREFIX, &TransactionId::shop_prefix(scope)].concat()
    }

    /// Returns the prefix of the names of the transactions with this reference.
    ///
    /// Check [`allows`](TransactionMetadata::allows) and the hash of the reference for each listed record: two shops or
    /// references can have the same 40-bit hash.
    pub fn order_prefix(secret: &NamespaceSecret, scope: &Scope, reference: &str) -> String {
        [Self::PREFIX, &TransactionId::order_prefix(secret, scope, reference)].concat()
    }

    /// Parses the transaction's ID from the name of a record. Returns `None` for any other name.
    pub fn parse(name: &str) -> Option<TransactionId> {
        TransactionId::parse(name.strip_prefix(Self::PREFIX)?)
    }
}

/// `erased:{transaction id}` → when that transaction was erased, so that no restore brings back its personal data. The
/// name sorts before the transaction's, so a restore sees it first. The service does not read this record.
#[derive(Clone, Copy, Debug)]
pub struct ErasedKey<'k>(pub &'k TransactionId);

impl Key for ErasedKey<'_> {
    type Metadata = NoMetadata;
    const KIND: &'static str = "mark of an erasure";
    const PREFIX: &'static str = "erased:";
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0.as_str())
    }
}

impl ErasedKey<'_> {
    /// Parses the transaction's ID from the name of a record. Returns `None` for any other name.
    pub fn parse(name: &str) -> Option<TransactionId> {
        TransactionId::parse(name.strip_prefix(Self::PREFIX)?)
    }
}

/// `key:{sha256}` → a [`KeyRecord`](crate::auth::KeyRecord).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CredentialKey(pub KeyHash);

impl Key for CredentialKey {
    type Metadata = NoMetadata;
    const KIND: &'static str = "key";
    const PREFIX: &'static str = "key:";
    /// This cache TTL limits how long a revoked key still works.
    const CACHE_SECONDS: Option<u32> = Some(LEAST_CACHE_SECONDS);
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Owned(self.0.to_hex())
    }
}

impl CredentialKey {
    /// Returns the prefix of the names of keys whose hash begins with these digits.
    pub fn hash_prefix(hexadecimal: &str) -> String {
        [Self::PREFIX, hexadecimal].concat()
    }

    /// Parses the name of a record. Returns `None` for any other name.
    pub fn parse(name: &str) -> Option<Self> {
        KeyHash::from_hex(name.strip_prefix(Self::PREFIX)?).map(CredentialKey)
    }
}

/// `member:{team}:{unit}` → the unit is in the team. A team's ID ends at the first colon, as it contains none. A unit's
/// ID may contain colons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberKey<'k> {
    /// The team's ID.
    pub team: &'k str,
    /// The unit's ID.
    pub unit: &'k str,
}

impl Key for MemberKey<'_> {
    type Metadata = NoMetadata;
    const KIND: &'static str = "member";
    const PREFIX: &'static str = "member:";
    /// The same cache TTL as for a key. It limits how long a team's key can still act for a unit that was removed from
    /// the team.
    const CACHE_SECONDS: Option<u32> = CredentialKey::CACHE_SECONDS;
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Owned([self.team, ":", self.unit].concat())
    }
}

impl<'k> MemberKey<'k> {
    /// Returns the prefix of the names of a team's members.
    pub fn team_prefix(team: &str) -> String {
        [Self::PREFIX, team, ":"].concat()
    }

    /// Parses the name of a record. Returns `None` for the name of another kind.
    pub fn parse(name: &'k str) -> Option<Self> {
        let (team, unit) = name.strip_prefix(Self::PREFIX)?.split_once(':')?;
        Some(MemberKey { team, unit })
    }
}

/// `unit:{id}`: the register of units, for operators. The service does not read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitKey<'k>(pub &'k str);

impl Key for UnitKey<'_> {
    type Metadata = Registered;
    const KIND: &'static str = "unit";
    const PREFIX: &'static str = "unit:";
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0)
    }
}

/// `team:{id}`: the register of teams, for operators. The service does not read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TeamKey<'k>(pub &'k str);

impl Key for TeamKey<'_> {
    type Metadata = Registered;
    const KIND: &'static str = "team";
    const PREFIX: &'static str = "team:";
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0)
    }
}

/// `settlement:{mode}:{unit}:{month}` → the [`Settlement`](crate::settlement::Settlement) of the unit's transactions of
/// that month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettlementKey<'k> {
    /// Test or live.
    pub mode: Mode,
    /// The unit's ID, which may contain colons.
    pub unit: &'k str,
    /// The month in which the transactions were created.
    pub month: Month,
}

impl Key for SettlementKey<'_> {
    type Metadata = NoMetadata;
    const KIND: &'static str = "settlement";
    const PREFIX: &'static str = "settlement:";
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Owned([self.mode.name(), ":", self.unit, ":", &self.month.to_string()].concat())
    }
}

impl<'k> SettlementKey<'k> {
    /// Returns the prefix of the names of a shop's settlements. Check the unit of each listed record: the ID of another
    /// unit may begin with this prefix.
    pub fn shop_prefix(mode: Mode, unit: &str) -> String {
        [Self::PREFIX, mode.name(), ":", unit, ":"].concat()
    }

    /// Parses the name of a record. Returns `None` for any other name.
    pub fn parse(name: &'k str) -> Option<Self> {
        Self::parse_suffix(name.strip_prefix(Self::PREFIX)?)
    }

    /// Parses the part of a name after [`PREFIX`](Key::PREFIX). Returns `None` for any other text.
    pub fn parse_suffix(suffix: &'k str) -> Option<Self> {
        let (mode, rest) = suffix.split_once(':')?;
        let (unit, month) = rest.rsplit_once(':')?;
        let mode = Mode::from_name(mode)?;
        Some(SettlementKey { mode, unit, month: Month::parse(month)? })
    }
}

/// `profile:{unit}` → a [`Profile`](crate::recipient::Profile).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileKey<'k>(pub &'k str);

impl Key for ProfileKey<'_> {
    type Metadata = NoMetadata;
    const KIND: &'static str = "profile";
    const PREFIX: &'static str = "profile:";
    /// This deadline is short, because the page can be shown without the profile.
    const READ_MS: u32 = 1_000;
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0)
    }
}

impl<'k> ProfileKey<'k> {
    /// Parses the name of a record. Returns `None` for the name of another kind.
    pub fn parse(name: &'k str) -> Option<Self> {
        name.strip_prefix(Self::PREFIX).map(ProfileKey)
    }
}

/// `idempotency:{hash}` → a [`Replay`](crate::idempotency::Replay).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayKey(pub ReplayHash);

impl Key for ReplayKey {
    type Metadata = NoMetadata;
    const KIND: &'static str = "replay";
    const PREFIX: &'static str = "idempotency:";
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Owned(self.0.to_hex())
    }
}

/// `notification:{id}` → a [`Marker`](crate::notify::Marker), for 30 days. The name of a messaging service follows the
/// ID: `notification:{id}:{service}`.
#[derive(Clone, Copy, Debug)]
pub struct NotificationKey<'k>(pub &'k TransactionId, pub NotificationService);

impl Key for NotificationKey<'_> {
    type Metadata = NoMetadata;
    const KIND: &'static str = "notification";
    const PREFIX: &'static str = "notification:";
    /// This cache TTL is the minimum of Workers KV. Within this time another delivery may not see the record, and may
    /// send the e-mail a second time.
    const CACHE_SECONDS: Option<u32> = Some(LEAST_CACHE_SECONDS);
    const KEPT_SECONDS: Option<u32> = Some(NOTIFICATION_DAYS * DAY_SECONDS);
    fn suffix(&self) -> Cow<'_, str> {
        with_service(self.0.as_str(), self.1)
    }
}

impl NotificationKey<'_> {
    /// Parses the transaction's ID and the service from the name of a record. Returns `None` for any other name.
    pub fn parse(name: &str) -> Option<(TransactionId, NotificationService)> {
        id_and_service(name.strip_prefix(Self::PREFIX)?)
    }
}

/// Returns a name that ends with the service, unless the service is the e-mail.
fn with_service(name: &str, service: NotificationService) -> Cow<'_, str> {
    match service.is_email() {
        true => Cow::Borrowed(name),
        false => Cow::Owned([name, ":", service.name()].concat()),
    }
}

/// Parses the end of a name that [`with_service`] made.
fn id_and_service(name: &str) -> Option<(TransactionId, NotificationService)> {
    let (id, service) = match name.split_once(':') {
        None => (name, NotificationService::Email),
        Some((id, service)) => (id, NotificationService::from_name(service)?),
    };
    Some((TransactionId::parse(id)?, service))
}

/// `mail-queued:{id}` → a [`Queued`](crate::notify::Queued), for 3 days: a round whose message is in the queue because
/// an operator put it there, or because it waits for the next day. The name of a messaging service follows the ID.
#[derive(Clone, Copy, Debug)]
pub struct QueuedMailKey<'k>(pub &'k TransactionId, pub NotificationService);

impl Key for QueuedMailKey<'_> {
    type Metadata = NoMetadata;
    const KIND: &'static str = "queued mail";
    const PREFIX: &'static str = "mail-queued:";
    // Within this time, a resend form that is submitted twice may put its round into the queue twice.
    const CACHE_SECONDS: Option<u32> = Some(LEAST_CACHE_SECONDS);
    const KEPT_SECONDS: Option<u32> = Some(QUEUED_DAYS * DAY_SECONDS);
    fn suffix(&self) -> Cow<'_, str> {
        with_service(self.0.as_str(), self.1)
    }
}

/// `mailed:{day}:{HMAC of the address}:{id}` → a claim of [`notify`](crate::notify), for 2 days. Its name counts the
/// e-mail towards the daily limit of its address. Each messaging service has a limit of its own:
/// `mailed:{day}:{service}:{HMAC of the address}:{id}`.
#[derive(Clone, Copy, Debug)]
pub struct MailedKey<'k> {
    /// The UTC day, such as `2026-11-21`.
    pub day: &'k str,
    /// The [HMAC](NamespaceSecret::address) of the address.
    pub address: &'k str,
    /// The service.
    pub service: NotificationService,
    /// The transaction that the notification is about.
    pub id: &'k TransactionId,
}

impl Key for MailedKey<'_> {
    type Metadata = NoMetadata;
    const KIND: &'static str = "mailed";
    const PREFIX: &'static str = "mailed:";
    // Within this time, another delivery may not see a claim.
    const CACHE_SECONDS: Option<u32> = Some(LEAST_CACHE_SECONDS);
    const KEPT_SECONDS: Option<u32> = Some(MAILED_DAYS * DAY_SECONDS);
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Owned([&self.of_address(), self.id.as_str()].concat())
    }
}

impl MailedKey<'_> {
    /// Returns the prefix of the names for this address and day.
    pub fn address_prefix(&self) -> String {
        [Self::PREFIX, &self.of_address()].concat()
    }

    /// Returns the part of the names that all notifications of this service to the address have on the day.
    fn of_address(&self) -> String {
        let service = if self.service.is_email() { "" } else { self.service.name() };
        let colon = if service.is_empty() { "" } else { ":" };
        [self.day, ":", service, colon, self.address, ":"].concat()
    }
}

/// `mail-failed:{day}:{id}` → an empty value, for 90 days: an entry in the operator's list of failed notifications. The
/// name of a messaging service follows the ID.
#[derive(Clone, Copy, Debug)]
pub struct FailedMailKey<'k> {
    /// The UTC day of the failure, such as `2026-11-21`.
    pub day: &'k str,
    /// The transaction.
    pub id: &'k TransactionId,
    /// The service.
    pub service: NotificationService,
}

impl Key for FailedMailKey<'_> {
    type Metadata = NoMetadata;
    const KIND: &'static str = "failed mail";
    const PREFIX: &'static str = "mail-failed:";
    const KEPT_SECONDS: Option<u32> = Some(FAILED_MAIL_DAYS * DAY_SECONDS);
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Owned([self.day, ":", &with_service(self.id.as_str(), self.service)].concat())
    }
}

impl<'k> FailedMailKey<'k> {
    /// Returns the prefix of the names for a day.
    pub fn day_prefix(day: &str) -> String {
        [Self::PREFIX, day, ":"].concat()
    }

    /// Parses the day, the transaction's ID and the service from the name of a record. Returns `None` for any other
    /// name.
    pub fn parse(name: &'k str) -> Option<(&'k str, TransactionId, NotificationService)> {
        let (day, rest) = name.strip_prefix(Self::PREFIX)?.split_once(':')?;
        let (id, service) = id_and_service(rest)?;
        Some((day, id, service))
    }
}

/// `ledger-unsent:{id}` → nothing, for 7 days: a mark that the ledger's queue did not take the message about this
/// transaction. The service does not read it.
#[derive(Clone, Copy, Debug)]
pub struct LedgerUnsentKey<'k>(pub &'k TransactionId);

impl Key for LedgerUnsentKey<'_> {
    type Metadata = NoMetadata;
    const KIND: &'static str = "unsent message to the ledger";
    const PREFIX: &'static str = "ledger-unsent:";
    const KEPT_SECONDS: Option<u32> = Some(LEDGER_UNSENT_DAYS * DAY_SECONDS);
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0.as_str())
    }
}

impl LedgerUnsentKey<'_> {
    /// Parses the transaction's ID from the name of a record. Returns `None` for any other name.
    pub fn parse(name: &str) -> Option<TransactionId> {
        TransactionId::parse(name.strip_prefix(Self::PREFIX)?)
    }
}

/// `audit:{inverted time}:{id}` → a change by an operator. A list has the newest change first. Entries of earlier
/// releases may have no metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AuditKey {
    time_ms: u64,
    id: [u8; Self::RANDOM_BYTES],
}

impl AuditKey {
    /// Random bytes in a name, to distinguish changes in the same millisecond.
    pub const RANDOM_BYTES: usize = 8;
    /// The time from which times are counted back, in milliseconds since 1970. It is in the year 2286.
    const LAST_MS: u64 = 9_999_999_999_999;

    /// Makes the key of a change at a time, in milliseconds since 1970.
    pub fn new(time_ms: u64, id: [u8; Self::RANDOM_BYTES]) -> Self {
        AuditKey { time_ms: time_ms.min(Self::LAST_MS), id }
    }

    /// Parses the name of a record. Returns `None` for any other name.
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
    type Metadata = Option<ChangeNote>;
    const KIND: &'static str = "audit";
    const PREFIX: &'static str = "audit:";
    fn suffix(&self) -> Cow<'_, str> {
        let inverted = Self::LAST_MS - self.time_ms;
        Cow::Owned(format!("{inverted:013}:{}", base16ct::lower::encode_string(&self.id)))
    }
}

/// `secret` → the namespace's [`SecretRecord`](crate::secret::SecretRecord). The service does not read it: the record
/// of each API key has a copy of the secret.
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

/// `backup` or `backup:increment` → when the last full or incremental backup of the namespace was made, and by whom.
/// The service does not read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackupKey {
    /// A backup of all records.
    Full,
    /// A backup of what changed since the last backup.
    Increment,
}

impl Key for BackupKey {
    type Metadata = NoMetadata;
    const KIND: &'static str = "last backup";
    const PREFIX: &'static str = "backup";
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Borrowed(match self {
            BackupKey::Full => "",
            BackupKey::Increment => ":increment",
        })
    }
}
