//! Keys of the records of notifications: what became of them, what waits, and what counts towards limits.

use super::key::{DAY_SECONDS, Key, LEAST_CACHE_SECONDS};
use super::metadata::NoMetadata;
use crate::pledge::{NotificationService, TransactionId};
use std::borrow::Cow;

/// How long the outcome of a notification is kept, in days.
pub const NOTIFICATION_DAYS: u32 = 30;
/// How long the record of a notification in the queue is kept, in days.
const QUEUED_DAYS: u32 = 3;
/// How long a notification counts towards the limit of its address, in days.
pub const MAILED_DAYS: u32 = 2;
/// How long a failed notification stays in the list of failures, in days: as long as its outcome, so that the list can
/// always show the state.
pub const FAILED_MAIL_DAYS: u32 = NOTIFICATION_DAYS;

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

/// `mail-failed:{day}:{id}` → an empty value, for 30 days: an entry in the operator's list of failed notifications. The
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
