//! The keys of records about notifications. Some records contain outcomes. Others mark notifications that wait in
//! the queue, or count notifications towards a limit.

use super::key::{DAY_SECONDS, Key, LEAST_CACHE_SECONDS};
use super::metadata::NoMetadata;
use crate::pledges::types::{NotificationService, TransactionId};
use std::borrow::Cow;

/// How long the outcome of a notification is kept, in days.
pub const NOTIFICATION_DAYS: u32 = 30;
/// How long the record of a notification in the queue is kept, in days.
const QUEUED_DAYS: u32 = 3;
/// How long the record that counts a notification towards an address's daily limit is kept, in days.
pub const MAILED_DAYS: u32 = 2;
/// How long a failed notification stays in the list of failures, in days. Its outcome is kept for the same time,
/// so the list can always show the outcome.
pub const FAILED_MAIL_DAYS: u32 = NOTIFICATION_DAYS;

/// The key `notification:{id}` of a [`Marker`](crate::buyer::delivery::Marker): the outcome of a notification, kept
/// for 30 days. For a messaging service, the service's name follows the ID: `notification:{id}:{service}`.
#[derive(Clone, Copy, Debug)]
pub struct NotificationKey<'k>(pub &'k TransactionId, pub NotificationService);

impl Key for NotificationKey<'_> {
    type Metadata = NoMetadata;
    const KIND: &'static str = "notification";
    const PREFIX: &'static str = "notification:";
    /// This cache TTL is the minimum of Workers KV. Within this time, another delivery may not yet see the
    /// record, and may send the e-mail a second time.
    const CACHE_SECONDS: Option<u32> = Some(LEAST_CACHE_SECONDS);
    const KEPT_SECONDS: Option<u32> = Some(NOTIFICATION_DAYS * DAY_SECONDS);
    fn suffix(&self) -> Cow<'_, str> {
        with_service(self.0.as_str(), self.1)
    }
}

impl NotificationKey<'_> {
    /// Parses the transaction's ID and the service from the name of a notification's record. Returns `None`
    /// for any other name.
    pub fn parse(name: &str) -> Option<(TransactionId, NotificationService)> {
        id_and_service(name.strip_prefix(Self::PREFIX)?)
    }
}

/// The key `mail-queued:{id}` of a [`Queued`](crate::buyer::delivery::Queued) record, kept for 3 days. The record
/// says that a notification is in the queue: an operator resent it, or it waits for the next day. For a
/// messaging service, the service's name follows the ID.
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

/// The key `mailed:{day}:{HMAC of the address}:{id}` of a record that counts an e-mail towards the
/// daily limit of its address. The record is kept for 2 days. A [delivery](crate::buyer::delivery)
/// writes the record before it sends the notification, as a claim. This prevents a second delivery
/// from sending the notification too.
///
/// Each messaging service has a limit of its own: `mailed:{day}:{service}:{HMAC of the
/// address}:{id}`.
#[derive(Clone, Copy, Debug)]
pub struct MailedKey<'k> {
    /// The UTC day, such as `2026-11-21`.
    pub day: &'k str,
    /// The [HMAC](NamespaceSecret::address) of the address.
    pub address: &'k str,
    pub service: NotificationService,
    /// The transaction that the notification is about.
    pub id: &'k TransactionId,
    /// Whether it is an e-mail with news, whose record's name ends in `:news`.
    pub is_news: bool,
}

impl Key for MailedKey<'_> {
    type Metadata = NoMetadata;
    const KIND: &'static str = "mailed";
    const PREFIX: &'static str = "mailed:";
    // Within this time, another delivery may not see a claim.
    const CACHE_SECONDS: Option<u32> = Some(LEAST_CACHE_SECONDS);
    const KEPT_SECONDS: Option<u32> = Some(MAILED_DAYS * DAY_SECONDS);
    fn suffix(&self) -> Cow<'_, str> {
        let news = if self.is_news { ":news" } else { "" };
        Cow::Owned([&self.of_address(), self.id.as_str(), news].concat())
    }
}

impl MailedKey<'_> {
    /// Returns the prefix of the names of all records of this service for this address and day.
    pub fn address_prefix(&self) -> String {
        [Self::PREFIX, &self.of_address()].concat()
    }

    /// Returns the part of the name between the prefix and the transaction's ID.
    fn of_address(&self) -> String {
        let service = if self.service.is_email() { "" } else { self.service.name() };
        let colon = if service.is_empty() { "" } else { ":" };
        [self.day, ":", service, colon, self.address, ":"].concat()
    }
}

/// The key `mail-failed:{day}:{id}` of an entry in the operator's list of failed notifications. The entry has
/// an empty value, and is kept for 30 days. For a messaging service, the service's name follows the ID.
#[derive(Clone, Copy, Debug)]
pub struct FailedMailKey<'k> {
    /// The UTC day of the failure, such as `2026-11-21`.
    pub day: &'k str,
    pub id: &'k TransactionId,
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
    pub fn day_prefix(day: &str) -> String {
        [Self::PREFIX, day, ":"].concat()
    }

    /// Parses the day, the transaction's ID and the service from the name of an entry. Returns `None` for any
    /// other name.
    pub fn parse(name: &'k str) -> Option<(&'k str, TransactionId, NotificationService)> {
        let (day, rest) = name.strip_prefix(Self::PREFIX)?.split_once(':')?;
        let (id, service) = id_and_service(rest)?;
        Some((day, id, service))
    }
}

/// Appends a messaging service to a name. For e-mail, returns the name unchanged.
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
