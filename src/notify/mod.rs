//! Notifications: a message of the queue becomes one e-mail to the recipient of the pledges.
//!
//! A queue delivers each message at least once, late, and in any order. The record is read when the
//! e-mail is sent, so that the message holds no personal data, and an erased recipient gets nothing. A
//! [`Marker`] ends a round: an operator begins the next one to send again.

mod answers;
mod letter;
mod marker;
mod records;
mod schedule;
mod verdict;

pub use answers::{cloudflare_answer, cloudflare_error, resend_answer};
pub use letter::{Headers, Letter, MailError, Mailer};
pub use marker::{Marker, Reason, State};
pub use schedule::{DELAY_SECONDS, TRIED_SECONDS};

use crate::handle::{Clock, Message};
use crate::pledge::TransactionId;
use crate::recipient::Mail;
use crate::store::{ListingStore, StoreError};
use crate::time::parse_ms;
use schedule::{again, again_after};
use verdict::{Sending, Unsent};

/// The operator's settings, which are the Worker's variables.
#[derive(Clone, Debug, Default)]
pub struct MailSettings {
    /// `PUBLIC_ORIGIN`, which the link begins with; `None` if it is not set or invalid.
    pub origin: Option<String>,
    /// `MAIL_TEST_TO`: who gets the e-mails of test keys; nobody if it is absent.
    pub test_to: Option<String>,
}

/// What is to become of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is done; why, for the log.
    Done(String),
    /// It is to be delivered again.
    Later {
        /// After so many seconds.
        seconds: u32,
        /// Why, for the log.
        cause: String,
    },
}

/// Turns messages into e-mails.
#[derive(Debug)]
pub struct Notifier<'n, S, M, C> {
    /// The records.
    pub store: &'n S,
    /// The mail service.
    pub mailer: &'n M,
    /// The time.
    pub clock: &'n C,
    /// The operator's settings.
    pub settings: &'n MailSettings,
}

/// One delivery of a message.
struct Delivery<'d> {
    id: &'d TransactionId,
    /// The time of the create, in milliseconds since 1970.
    created_ms: u64,
    message: &'d Message,
    /// Counted from 1; 0 once there are no more.
    attempt: u32,
}

impl<S: ListingStore, M: Mailer, C: Clock> Notifier<'_, S, M, C> {
    /// Delivers a message for the `attempt`th time, counted from 1.
    pub async fn deliver(&self, message: &Message, attempt: u32) -> Outcome {
        let (id, created_ms) = (TransactionId::parse(&message.id), parse_ms(&message.created_at));
        let (Some(id), Some(created_ms)) = (id, created_ms) else {
            return done("no message of this service");
        };
        let delivery = Delivery { id: &id, created_ms, message, attempt };
        self.try_to_deliver(&delivery).await.unwrap_or_else(|error| {
            let cause = match error {
                StoreError::Unavailable | StoreError::Busy => {
                    "the store does not answer".to_owned()
                }
                StoreError::Damaged(problem) => problem,
            };
            again(attempt, cause)
        })
    }

    async fn try_to_deliver(&self, delivery: &Delivery<'_>) -> Result<Outcome, StoreError> {
        if self.has_ended(delivery).await? {
            return Ok(done("sent or skipped before"));
        }
        match self.verdict(delivery).await {
            Ok(sending) => self.send(delivery, sending).await,
            Err(Unsent::Leave(outcome)) => Ok(outcome),
            Err(Unsent::Failed(error)) => Err(error),
            Err(Unsent::Skip(reason)) => {
                let marker = self.marker(delivery, State::Skipped, Some(reason.into()));
                self.end(delivery.id, &marker).await?;
                Ok(done(reason.into()))
            }
        }
    }

    /// Sends an e-mail. It is counted first: what may have been sent counts.
    async fn send(
        &self,
        delivery: &Delivery<'_>,
        Sending { mail, to, address, reply_to }: Sending,
    ) -> Result<Outcome, StoreError> {
        self.count(delivery.id, &address).await?;
        let key = format!("pledge/{}/{}", delivery.id, delivery.message.round);
        let letter = Letter { to: &to, reply_to: reply_to.as_deref(), mail: &mail, key };
        let sent = self.mailer.send(&letter).await;
        Ok(self.after_sending(delivery, sent, address, &mail).await)
    }

    /// Ends the round, unless the e-mail is to be tried again. If the marker of a sent e-mail cannot be
    /// written, the message is done all the same: another delivery would send it twice.
    async fn after_sending(
        &self,
        delivery: &Delivery<'_>,
        sent: Result<String, MailError>,
        address: String,
        mail: &Mail,
    ) -> Outcome {
        let language = Some(mail.language.tag().to_owned());
        match sent {
            Ok(provider_id) => {
                let marker = self.marker(delivery, State::Sent, None);
                let provider_id = Some(provider_id);
                let marker = Marker { provider_id, address: Some(address), language, ..marker };
                match self.end(delivery.id, &marker).await {
                    Ok(()) => done("sent"),
                    Err(_) => done("sent, and its marker could not be written"),
                }
            }
            Err(MailError::Permanent { code }) => {
                let marker = self.marker(delivery, State::Failed, Some(&code));
                match self.fail(delivery.id, &marker).await {
                    Ok(()) => done(&code),
                    Err(_) => again(delivery.attempt, code),
                }
            }
            Err(MailError::Temporary { code, after }) => again_after(delivery.attempt, after, code),
        }
    }

    /// Marks a message as failed that was delivered in vain for the last time.
    pub async fn bury(&self, message: &Message, attempt: u32) -> Outcome {
        let Some(id) = TransactionId::parse(&message.id) else {
            return done("no message of this service");
        };
        let delivery = Delivery { id: &id, created_ms: 0, message, attempt: 0 };
        let buried = self.try_to_bury(&delivery).await;
        buried.unwrap_or_else(|_| again(attempt, "the store does not answer".to_owned()))
    }

    async fn try_to_bury(&self, delivery: &Delivery<'_>) -> Result<Outcome, StoreError> {
        if self.has_ended(delivery).await? {
            return Ok(done("sent or skipped before"));
        }
        let marker = self.marker(delivery, State::Failed, Some("no-more-attempts"));
        self.fail(delivery.id, &marker).await?;
        Ok(done("failed"))
    }
}

fn done(why: &str) -> Outcome {
    Outcome::Done(why.to_owned())
}
