//! Notifications: for each message of the queue, sends one e-mail to the recipient of the pledges.
//!
//! The queue delivers each message at least once, possibly late, and in any order. The transaction's record is read
//! only when the e-mail is sent. So the message contains no personal data, and an erased recipient gets no e-mail.
//!
//! The first e-mail about a transaction is round 1, and each resend by an operator is the next round. A [`Marker`]
//! records that a round has ended.

mod answers;
mod claim;
mod deliveries;
mod marker;
mod notifier;
mod outcome;
mod outgoing_email;
mod queued;
mod records;
mod schedule;
mod verdict;

pub use answers::{cloudflare_answer, cloudflare_error, resend_answer};
pub use deliveries::{Deliveries, MAX_HELD_BYTES};
pub use marker::{Marker, Reason, State};
pub use notifier::{MailSettings, Notifier, Timer};
pub use outcome::Outcome;
pub use outgoing_email::{Headers, MailError, Mailer, OutgoingEmail};
pub use queued::Queued;
pub use schedule::{DELAY_SECONDS, MAX_RETRIES, TRIED_SECONDS};

use crate::pledge::TransactionId;
use crate::service::Message;
use crate::store::{ListingStore, StoreError};
use crate::time::{date_time, parse_ms};
use deliveries::Turn;
use notifier::{Delivery, LOOK_MS, WAIT_MS};
use outcome::{ENDED, NotSent, busy, cause, done};
use schedule::{again, is_last, next_quota};
use verdict::ReadyEmail;

const TAKES_LONG: &str = "another delivery of this transaction is still running";

impl<S: ListingStore, M: Mailer, C: Timer> Notifier<'_, S, M, C> {
    /// Delivers a message. `attempt` is the number of the delivery, starting at 1. `token` identifies the delivery. It
    /// is unique, but a delivery that restarts before it has sent anything keeps its token.
    pub async fn deliver(&self, message: &Message, attempt: u32, token: &str) -> Outcome {
        let (id, created_ms) = (TransactionId::parse(&message.id), parse_ms(&message.created_at));
        let (Some(id), Some(created_ms)) = (id, created_ms) else {
            return done("not a message of this service");
        };
        let delivery = Delivery { id: &id, created_ms, message, attempt, token };
        let Some(turn) = self.turn(&id).await else { return busy(TAKES_LONG) };
        match self.try_to_deliver(&delivery, &turn).await {
            Ok(outcome) | Err(NotSent::Leave(outcome)) => outcome,
            Err(NotSent::Failed(cause)) => self.failed(&delivery, None, cause).await,
            Err(NotSent::Skip(reason)) => self.skip(&delivery, reason).await,
        }
    }

    /// Waits until this instance runs no other delivery for the transaction. Each delivery polls with its own timer,
    /// because a platform may tie a timer to the event that created it: no other event could wait for that timer.
    async fn turn(&self, id: &TransactionId) -> Option<Turn<'_>> {
        for _ in 0..WAIT_MS / LOOK_MS {
            if let Some(turn) = self.deliveries.turn(id, self.clock.now_ms()) {
                return Some(turn);
            }
            self.clock.pause(LOOK_MS).await;
        }
        None
    }

    async fn try_to_deliver(
        &self,
        delivery: &Delivery<'_>,
        turn: &Turn<'_>,
    ) -> Result<Outcome, NotSent> {
        if self.deliveries.has_ended(delivery.id, delivery.message.round, self.clock.now_ms()) {
            return Ok(done(ENDED));
        }
        let sending = self.verdict(delivery, turn).await?;
        self.claim(delivery, &sending.address).await?;
        Ok(self.send(delivery, sending).await)
    }

    /// Sends an e-mail, and ends the round unless the e-mail will be retried.
    async fn send(
        &self,
        delivery: &Delivery<'_>,
        ReadyEmail { mail, to, address, reply_to }: ReadyEmail,
    ) -> Outcome {
        let marker = Marker {
            address: Some(address),
            language: Some(mail.language.tag().to_owned()),
            ..self.marker(delivery, State::Sent, None)
        };
        let key = format!("pledge/{}/{}", delivery.id, delivery.message.round);
        let (id, reply_to) = (delivery.id, reply_to.as_deref());
        let email = OutgoingEmail { to: &to, reply_to, mail: &mail, key, id, marker: &marker };
        match self.mailer.send(&email).await {
            Ok(provider_id) => {
                let (at, provider_id) = (date_time(self.clock.now_ms()), Some(provider_id));
                self.end_sent(delivery, Marker { provider_id, at, ..marker }).await
            }
            Err(MailError::Temporary { code, after }) => self.failed(delivery, after, code).await,
            Err(MailError::Quota { code, after }) => self.put_off(delivery, after, code).await,
            Err(MailError::Permanent { code }) => self.refused(delivery, code).await,
        }
    }

    /// Ends the round of an e-mail that was sent. The message is acknowledged even if the marker cannot be written,
    /// because another delivery would send the e-mail a second time.
    async fn end_sent(&self, delivery: &Delivery<'_>, marker: Marker) -> Outcome {
        self.deliveries.end(delivery.id, marker.round, self.clock.now_ms());
        match self.end(delivery.id, &marker).await {
            Ok(()) => done("sent"),
            Err(_) => done("sent, and its marker could not be written"),
        }
    }

    async fn skip(&self, delivery: &Delivery<'_>, reason: Reason) -> Outcome {
        let marker = self.marker(delivery, State::Skipped, Some(reason.into()));
        match self.end(delivery.id, &marker).await {
            Ok(()) => done(reason.into()),
            Err(error) => self.failed(delivery, None, cause(error)).await,
        }
    }

    async fn refused(&self, delivery: &Delivery<'_>, code: String) -> Outcome {
        let marker = self.marker(delivery, State::Failed, Some(&code));
        match self.fail(delivery.id, &marker).await {
            Ok(()) => done(&code),
            Err(_) => again(delivery.attempt, None, code),
        }
    }

    /// Handles a failed attempt: schedules a retry, not before `after` seconds, or gives up after the last attempt.
    async fn failed(&self, delivery: &Delivery<'_>, after: Option<u32>, cause: String) -> Outcome {
        if !is_last(delivery.attempt) {
            return again(delivery.attempt, after, cause);
        }
        match self.give_up(delivery).await {
            Ok(true) => done(&cause),
            Ok(false) => done(ENDED),
            Err(_) => again(delivery.attempt, after, cause),
        }
    }

    /// Schedules a retry for the beginning of the next period of the mail service's quota. Also writes a record of the
    /// wait, because Queues may not keep the message that long. If that write fails, the message is still retried.
    async fn put_off(&self, delivery: &Delivery<'_>, after: Option<u32>, cause: String) -> Outcome {
        let seconds = next_quota(delivery.attempt, self.clock.now_ms(), after);
        let _ = self.note_wait(delivery, seconds, &cause).await;
        Outcome::Later { seconds, cause }
    }

    /// Marks the round of a message as failed if the queue will not deliver the message again. Either each attempt
    /// broke off, or the quota was used up for days.
    pub async fn dead_letter(&self, message: &Message, attempt: u32) -> Outcome {
        let Some(id) = TransactionId::parse(&message.id) else {
            return done("not a message of this service");
        };
        let delivery = Delivery { id: &id, created_ms: 0, message, attempt: 0, token: "" };
        let Some(_turn) = self.turn(&id).await else { return busy(TAKES_LONG) };
        match self.give_up(&delivery).await {
            Ok(true) => done("failed"),
            Ok(false) => done(ENDED),
            Err(error) => again(attempt, None, cause(error)),
        }
    }

    /// Marks a round as failed. Returns false if it had already ended.
    async fn give_up(&self, delivery: &Delivery<'_>) -> Result<bool, StoreError> {
        if self.has_ended(delivery).await? {
            return Ok(false);
        }
        let marker = self.marker(delivery, State::Failed, Some("no-more-attempts"));
        self.fail(delivery.id, &marker).await.map(|()| true)
    }
}
