//! Sends notifications. For each queue message, sends one e-mail to the recipient of the pledges, or one
//! message to the adapter of a messaging service.
//!
//! The queue delivers each queue message at least once, possibly late, and in any order. The transaction's
//! record is read only when the notification is sent. So the queue message contains no personal data, and an
//! erased recipient gets nothing. Each requested service has its own queue message, so a failure of one
//! service does not resend the notifications of the other services.
//!
//! The first notification of a service is round 1, and each resend by an operator is the next round. A
//! [`Marker`] records that a round has ended.

mod answers;
mod answers_of_adapters;
mod claim;
mod deliveries;
mod draft;
mod marker;
mod news;
mod notifier;
mod outcome;
mod outgoing_email;
mod outgoing_message;
mod queued;
mod records;
mod schedule;
mod send_error;
mod verdict;

pub use answers::{cloudflare_answer, cloudflare_error, resend_answer, wait_seconds};
pub use answers_of_adapters::adapter_answer;
pub use deliveries::{Deliveries, MAX_HELD_BYTES};
pub use marker::{Marker, Reason, State};
pub use notifier::{MailSettings, Notifier, Timer};
pub use outcome::Outcome;
pub use outgoing_email::{Headers, Mailer, OutgoingEmail, sender_header};
pub use outgoing_message::{AdapterState, Messenger, NoMessenger, OutgoingMessage};
pub use queued::Queued;
pub use schedule::{DELAY_SECONDS, MAX_RETRIES, TRIED_SECONDS};
pub use send_error::SendError;

use crate::pledges::service::Message;
use crate::pledges::store::{ListingStore, StoreError};
use crate::pledges::time::{date_time, parse_ms};
use crate::pledges::types::TransactionId;
use deliveries::Turn;
use draft::{Draft, DraftContent};
use notifier::{Delivery, LOOK_MS, WAIT_MS};
use outcome::{ENDED, NotSent, busy, cause, done};
use outgoing_message::webhook_id;
use schedule::{again, is_last, next_quota};
use verdict::Ready;

/// The reason that is recorded for a notification after all its attempts have failed.
const NO_MORE_ATTEMPTS: &str = "no-more-attempts";
const TAKES_LONG: &str = "another delivery of this transaction is still running";

impl<S: ListingStore, M: Mailer, A: Messenger, C: Timer> Notifier<'_, S, M, A, C> {
    /// Delivers a queue message. `attempt` is the number of the delivery, starting at 1. `token` is unique to
    /// the delivery. A delivery that restarts before it has sent anything keeps its token.
    pub async fn deliver(&self, message: &Message, attempt: u32, token: &str) -> Outcome {
        let (id, created_ms) = (TransactionId::parse(&message.id), parse_ms(&message.created_at));
        let (Some(id), Some(created_ms)) = (id, created_ms) else {
            return done("not a message of this service");
        };
        let delivery = Delivery { id: &id, created_ms, message, attempt, token };
        let Some(turn) = self.turn(&delivery).await else { return busy(TAKES_LONG) };
        match self.try_to_deliver(&delivery, &turn).await {
            Ok(outcome) | Err(NotSent::Leave(outcome)) => outcome,
            Err(NotSent::Failed(cause)) => self.failed(&delivery, None, cause).await,
            Err(NotSent::InvalidSetting(reason)) => self.invalid_setting(&delivery, reason).await,
            Err(NotSent::Skip(reason)) => self.skip(&delivery, reason).await,
        }
    }

    /// Waits until this instance runs no other delivery for the transaction and service. Returns `None` if
    /// that takes too long. Each delivery polls with its own timer, because a platform may tie a timer to
    /// the event that created it.
    async fn turn(&self, delivery: &Delivery<'_>) -> Option<Turn<'_>> {
        let subject = delivery.subject();
        for _ in 0..WAIT_MS / LOOK_MS {
            if let Some(turn) = self.deliveries.turn(&subject, self.clock.now_ms()) {
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
        if self.knows_ended(delivery) {
            return Ok(done(ENDED));
        }
        let sending = self.verdict(delivery, turn).await?;
        self.claim(delivery, &sending.address).await?;
        Ok(self.send(delivery, sending).await)
    }

    /// Sends a notification. Records its result, unless a retry follows.
    async fn send(&self, delivery: &Delivery<'_>, ready: Ready) -> Outcome {
        let Ready { draft, address, told } = ready;
        let marker = Marker {
            address: Some(address),
            language: Some(draft.language.tag().to_owned()),
            round: self.ends_round(delivery),
            told,
            ..self.marker(delivery, State::Sent, None)
        };
        match self.hand_over(delivery, &draft, &marker).await {
            Ok(provider_id) => {
                let at = date_time(self.clock.now_ms());
                self.end_sent(delivery, Marker { provider_id, at, ..marker }).await
            }
            Err(SendError::Temporary { code, after }) => self.failed(delivery, after, code).await,
            Err(SendError::Quota { code, after }) => self.put_off(delivery, after, code).await,
            Err(SendError::Permanent { code }) => self.refused(delivery, code).await,
        }
    }

    /// Gives a notification to the mail service or to a messaging service's adapter. Returns the ID that
    /// the mail service gave to an e-mail; `None` for a message to an adapter.
    async fn hand_over(
        &self,
        delivery: &Delivery<'_>,
        Draft { content, to, .. }: &Draft,
        marker: &Marker,
    ) -> Result<Option<String>, SendError> {
        let (id, round) = (delivery.id, delivery.message.round);
        match content {
            DraftContent::Mail { mail, reply_to, unsubscribe } => {
                let of = if delivery.is_news() { "news" } else { "pledge" };
                let (key, reply_to) = (format!("{of}/{id}/{round}"), reply_to.as_deref());
                let unsubscribe = unsubscribe.as_deref();
                let email = OutgoingEmail { to, reply_to, mail, key, id, marker, unsubscribe };
                self.mailer.send(&email).await.map(Some)
            }
            DraftContent::Message { address, body } => {
                let webhook_id = webhook_id(id, address.service, round);
                let message = OutgoingMessage { address: *address, webhook_id, body, id, marker };
                self.messenger.send_message(&message).await.map(|()| None)
            }
        }
    }

    /// Records that a notification was sent. Acknowledges the queue message even if the record cannot be
    /// written, because a redelivery would send the notification twice.
    async fn end_sent(&self, delivery: &Delivery<'_>, marker: Marker) -> Outcome {
        self.deliveries.end(delivery.subject(), marker.round, self.clock.now_ms());
        match self.end(delivery, &marker).await {
            Ok(()) => done("sent"),
            Err(_) => done("sent, and its marker could not be written"),
        }
    }

    /// Records that a notification is not sent. An e-mail with news waits for the next day if its address has reached the limit of
    /// this day. If only the adapter is missing, the operator's list of failures has the
    /// notification too, because it can be sent once an adapter is attached.
    async fn skip(&self, delivery: &Delivery<'_>, reason: Reason) -> Outcome {
        if reason == Reason::DailyLimit && delivery.is_news() {
            return self.put_off(delivery, None, <&str>::from(reason).to_owned()).await;
        }
        let marker = self.marker(delivery, State::Skipped, Some(reason.into()));
        let ended = match reason {
            Reason::NotAttached => self.fail(delivery, &marker).await,
            _ => self.end(delivery, &marker).await,
        };
        match ended {
            Ok(()) => done(reason.into()),
            Err(error) => self.failed(delivery, None, cause(error)).await,
        }
    }

    async fn refused(&self, delivery: &Delivery<'_>, code: String) -> Outcome {
        let marker = self.marker(delivery, State::Failed, Some(&code));
        match self.fail(delivery, &marker).await {
            Ok(()) => done(&code),
            Err(_) => again(delivery.attempt, None, code),
        }
    }

    /// Handles a failed attempt: schedules a retry after at least `after` seconds, or gives up if this was
    /// the last attempt.
    async fn failed(&self, delivery: &Delivery<'_>, after: Option<u32>, cause: String) -> Outcome {
        self.retry(delivery, after, cause, NO_MORE_ATTEMPTS).await
    }

    /// Treats an invalid setting as a failed attempt, so that a retry follows. After the last attempt, the
    /// invalid setting is recorded as the reason.
    async fn invalid_setting(&self, delivery: &Delivery<'_>, reason: Reason) -> Outcome {
        let code: &'static str = reason.into();
        self.retry(delivery, None, code.to_owned(), code).await
    }

    /// Schedules a retry after at least `after` seconds. If this was the last attempt, marks the notification
    /// as failed with `code` instead.
    async fn retry(
        &self,
        delivery: &Delivery<'_>,
        after: Option<u32>,
        cause: String,
        code: &str,
    ) -> Outcome {
        if !is_last(delivery.attempt) {
            return again(delivery.attempt, after, cause);
        }
        match self.give_up(delivery, code).await {
            Ok(true) => done(&cause),
            Ok(false) => done(ENDED),
            Err(_) => again(delivery.attempt, after, cause),
        }
    }

    /// Schedules a retry for the time when the mail service's quota is renewed. Also records the wait,
    /// because Queues may not keep the message that long. If this record cannot be written, the message is
    /// still retried.
    async fn put_off(&self, delivery: &Delivery<'_>, after: Option<u32>, cause: String) -> Outcome {
        let seconds = next_quota(delivery.attempt, self.clock.now_ms(), after);
        let _ = self.note_wait(delivery, seconds, &cause).await;
        Outcome::Later { seconds, cause }
    }

    /// Marks a notification as failed because its message is in the dead letter queue, and will not be
    /// delivered again. Either each attempt broke off, or the mail quota was used up for days.
    pub async fn dead_letter(&self, message: &Message, attempt: u32) -> Outcome {
        let Some(id) = TransactionId::parse(&message.id) else {
            return done("not a message of this service");
        };
        let delivery = Delivery { id: &id, created_ms: 0, message, attempt: 0, token: "" };
        let Some(_turn) = self.turn(&delivery).await else { return busy(TAKES_LONG) };
        match self.give_up(&delivery, NO_MORE_ATTEMPTS).await {
            Ok(true) => done("failed"),
            Ok(false) => done(ENDED),
            Err(error) => again(attempt, None, cause(error)),
        }
    }

    /// Marks the notification as failed, with a code. Returns `false` if the notification already has an
    /// outcome.
    async fn give_up(&self, delivery: &Delivery<'_>, code: &str) -> Result<bool, StoreError> {
        if self.has_ended(delivery).await? {
            return Ok(false);
        }
        let marker = self.marker(delivery, State::Failed, Some(code));
        self.fail(delivery, &marker).await.map(|()| true)
    }
}
