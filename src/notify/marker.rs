//! The record of what became of an e-mail.

use crate::version::Version;
use serde::{Deserialize, Serialize};
use strum::{EnumIter, EnumString, IntoStaticStr};

/// The record of a round that has ended: `notification:{id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Marker {
    /// What became of the e-mail.
    pub state: State,
    /// Why it was not sent: a [`Reason`], or a mail service's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The round.
    pub round: u32,
    /// When it ended, an RFC 3339 date-time.
    pub at: String,
    /// How often the message was delivered.
    pub attempts: u32,
    /// The mail service's ID of the e-mail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// The [HMAC](crate::secret::NamespaceSecret::address) of the address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The language of the e-mail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The format of the record.
    #[serde(default)]
    pub version: Version,
}

/// What a delivery reads of a [`Marker`].
#[derive(Deserialize)]
pub(super) struct EndedRound {
    pub round: u32,
}

/// What became of an e-mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// A mail service has taken it.
    Sent,
    /// It was not to be sent.
    Skipped,
    /// It could not be sent.
    Failed,
}

/// Why an e-mail is not to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, EnumString, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Reason {
    /// The personal data was erased.
    Erased,
    /// The unit's profile does not switch e-mails on.
    MailOff,
    /// `PUBLIC_ORIGIN` is not set, or invalid.
    NoOrigin,
    /// A test key made it, and `MAIL_TEST_TO` is not set.
    TestMode,
    /// The address has had its e-mails of this day.
    DailyLimit,
    /// The record has no address of its page.
    NoPage,
    /// The namespace has no secret.
    NoSecret,
}
