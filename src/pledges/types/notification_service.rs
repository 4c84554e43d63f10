//! The notification services of the contract (§2.6).

use serde::{Deserialize, Serialize};
use std::str::FromStr as _;
use strum::{EnumIter, EnumString, IntoStaticStr};

/// A notification service that a create request may name.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    EnumIter,
    EnumString,
    IntoStaticStr,
)]
pub enum NotificationService {
    #[default]
    Email,
    /// A message by the adapter that the operator attached for this service.
    MessagingServiceA,
    /// As [`MessagingServiceA`](Self::MessagingServiceA), with an adapter of its own.
    MessagingServiceB,
    /// As [`MessagingServiceA`](Self::MessagingServiceA), with an adapter of its own.
    MessagingServiceC,
}

impl NotificationService {
    /// The services that deliver through an adapter.
    pub const MESSAGING: [Self; 3] =
        [Self::MessagingServiceA, Self::MessagingServiceB, Self::MessagingServiceC];

    pub fn from_name(name: &str) -> Option<Self> {
        NotificationService::from_str(name).ok()
    }

    /// Returns the name in the contract, such as `MessagingServiceA`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn is_email(&self) -> bool {
        *self == NotificationService::Email
    }
}
