//! The notifier with its interfaces and settings, and the type of a single delivery.

use super::deliveries::{Deliveries, Subject};
use crate::pledges::service::{Clock, Message};
use crate::pledges::types::{NotificationService, TransactionId};

/// How long a delivery waits while another delivery of the same transaction and service is running, in
/// milliseconds. After that, it may wait as long again for enough free memory. A queue runs only a few
/// deliveries at once, so a longer wait could hold up other deliveries.
pub(super) const WAIT_MS: u32 = 20_000;
/// How often a waiting delivery checks whether it may continue, in milliseconds.
pub(super) const LOOK_MS: u32 = 50;

/// A clock that can also wait.
#[expect(async_fn_in_trait, reason = "one thread: no caller needs the futures to be Send")]
pub trait Timer: Clock {
    async fn pause(&self, milliseconds: u32);
}

/// The operator's settings, from the Worker's variables.
#[derive(Clone, Debug, Default)]
pub struct MailSettings {
    /// `PUBLIC_ORIGIN`, the origin of the link in the e-mail; `None` if it is not set or invalid.
    pub origin: Option<String>,
    /// `MAIL_TEST_TO`: the address that gets the e-mails about transactions of test keys. If it is not set, these
    /// e-mails are skipped.
    pub test_to: Option<String>,
}

/// Turns messages of the queue into e-mails and messages to adapters.
#[derive(Debug)]
pub struct Notifier<'n, S, M, A, C> {
    pub store: &'n S,
    pub mailer: &'n M,
    pub messenger: &'n A,
    pub clock: &'n C,
    pub settings: &'n MailSettings,
    pub deliveries: &'n Deliveries,
}

pub(super) struct Delivery<'d> {
    pub id: &'d TransactionId,
    /// When the transaction was created, in milliseconds since 1970.
    pub created_ms: u64,
    pub message: &'d Message,
    /// The number of the attempt, starting at 1. It is 0 if the queue has given up on the message.
    pub attempt: u32,
    pub token: &'d str,
}

impl Delivery<'_> {
    pub fn service(&self) -> NotificationService {
        self.message.service
    }

    /// Returns the transaction and the service. Deliveries with the same transaction and service must not run
    /// at once.
    pub fn subject(&self) -> Subject {
        let is_news = self.is_news();
        Subject { id: self.id.clone(), service: self.message.service, is_news }
    }

    /// Returns whether the notification is an e-mail with [news](crate::buyer::news), and not one that the create request asked
    /// for.
    pub fn is_news(&self) -> bool {
        !self.message.updates.is_empty()
    }

    /// Returns whether another delivery of the same notification may be running. An earlier attempt may still
    /// be running elsewhere, and an operator may submit a resend form several times. Only the first attempt
    /// of the original notification has no rival, because a create request queues only one message.
    pub fn may_have_rivals(&self) -> bool {
        self.message.round > 1 || self.attempt > 1
    }
}
