use crate::pledges::version::Version;
use serde::{Deserialize, Serialize};
use strum::{EnumIter, EnumString, IntoStaticStr};

/// The stored outcome of a notification: sent, skipped or failed. The outcome of a resend replaces it. The
/// record's name is `notification:{id}`, or `notification:{id}:{service}` for a messaging service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Marker {
    pub state: State,
    /// Why the notification was not sent: a [`Reason`], or the code of a mail service or an adapter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Which notification this outcome belongs to: 1 is the first notification, and each resend adds 1.
    pub round: u32,
    /// When this outcome was reached, an RFC 3339 date-time.
    pub at: String,
    pub attempts: u32,
    /// The mail service's ID for the e-mail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// The [HMAC](crate::pledges::secret::NamespaceSecret::address) of the address that was to be notified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The IDs of all updates that the buyer was told of by e-mails with news.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<String>,
    #[serde(skip_deserializing)]
    pub version: Version,
}

/// The members of a [`Marker`] that a delivery reads.
#[derive(Deserialize)]
pub(super) struct EndedRound {
    pub round: u32,
    #[serde(default)]
    pub told: Vec<String>,
}

/// The outcome of a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The mail service or the adapter accepted the notification.
    Sent,
    /// The service decided not to send the notification.
    Skipped,
    Failed,
}

/// Why the service does not send a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, EnumString, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Reason {
    /// The personal data was erased.
    Erased,
    /// An operator cancelled the transaction.
    Cancelled,
    /// E-mails are not switched on in the unit's profile.
    MailOff,
    /// The messaging service is not switched on in the unit's profile.
    ServiceOff,
    /// No adapter is attached for the messaging service.
    NotAttached,
    /// An adapter is set for the messaging service, but its settings are invalid.
    InvalidAdapter,
    /// `PUBLIC_ORIGIN` is not set, or invalid.
    NoOrigin,
    /// A test key created the transaction, and no test recipient is set up: neither `MAIL_TEST_TO` for
    /// e-mails, nor an adapter for test keys.
    TestMode,
    /// The address has reached the service's limit for this day.
    DailyLimit,
    /// The transaction's record has no timeline URL.
    NoPage,
    /// The namespace has no secret. It is needed to hash the recipient's address.
    NoSecret,
}
