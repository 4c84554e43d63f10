//! Notifications: a message of the queue becomes one e-mail to the recipient of the pledges.
//!
//! A queue delivers each message at least once, late, and in any order. The record is read when the
//! e-mail is sent, so that the message holds no personal data, and an erased recipient gets nothing. A
//! [`Marker`] ends a round: an operator begins the next one to send again.

mod answers;
mod schedule;
mod verdict;

pub use answers::{cloudflare_error, resend_answer};

use crate::handle::{Clock, Message};
use crate::pledge::TransactionId;
use crate::recipient::Mail;
use crate::store::{
    FailedMailKey, Key, ListingStore, MailedKey, NoMetadata, NotificationKey, StoreError,
    StoredValue as _, decode,
};
use crate::time::{date_time, day_of, parse_ms};
use crate::version::Version;
use schedule::{again, again_after};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;
use verdict::{Sending, Unsent};

/// The operator's settings, which are the Worker's variables.
#[derive(Clone, Debug, Default)]
pub struct MailSettings {
    /// `PUBLIC_ORIGIN` is set: without it a caller's host could be in the link.
    pub has_origin: bool,
    /// `MAIL_TEST_TO`: who gets the e-mails of test keys; nobody if it is absent.
    pub test_to: Option<String>,
}

/// An e-mail for a mail service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter<'l> {
    /// The recipient's address.
    pub to: &'l str,
    /// The address that answers go to.
    pub reply_to: Option<&'l str>,
    /// The content.
    pub mail: &'l Mail,
    /// Names this e-mail, so that a mail service that has it does not send it again.
    pub key: String,
}

impl Letter<'_> {
    /// The headers that no member stands for.
    pub fn headers(&self) -> Vec<(&'static str, String)> {
        let unsubscribe = self.reply_to.map(|address| format!("<mailto:{address}>"));
        let unsubscribe = unsubscribe.map(|address| ("List-Unsubscribe", address));
        [("Auto-Submitted", "auto-generated".to_owned())].into_iter().chain(unsubscribe).collect()
    }

    /// The sender with an address, as the header `From` has it: `"Small Hours Coffee" <a@b.example>`.
    pub fn sender(&self, address: &str) -> String {
        let name = self.mail.sender.replace(['"', '\\', '<', '>'], "");
        format!("\"{name}\" <{address}>")
    }
}

/// Sends e-mails.
#[expect(async_fn_in_trait, reason = "one thread: no caller needs the futures to be Send")]
pub trait Mailer {
    /// Sends one e-mail. Returns the mail service's ID of it.
    ///
    /// # Errors
    /// If it may not have been sent.
    async fn send(&self, letter: &Letter<'_>) -> Result<String, MailError>;
}

/// Why an e-mail was not sent. A code is the mail service's; its texts contain the address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MailError {
    /// It may be sent later: `after` so many seconds, if the mail service says so.
    Temporary {
        /// The mail service's code.
        code: String,
        /// The wait that it asks for, in seconds.
        after: Option<u32>,
    },
    /// It will never be sent: the address is refused or suppressed.
    Permanent {
        /// The mail service's code.
        code: String,
    },
}

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Reason {
    /// The personal data was erased.
    Erased,
    /// The unit's profile does not switch e-mails on.
    MailOff,
    /// `PUBLIC_ORIGIN` is not set.
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
                StoreError::Unavailable => "the store does not answer".to_owned(),
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

    // ---- Records -------------------------------------------------------------------------------

    /// Whether this round has ended.
    async fn has_ended(&self, delivery: &Delivery<'_>) -> Result<bool, StoreError> {
        let marker: Option<Marker> = self.load(&NotificationKey(delivery.id)).await?;
        Ok(marker.is_some_and(|marker| marker.round >= delivery.message.round))
    }

    fn marker(&self, delivery: &Delivery<'_>, state: State, reason: Option<&str>) -> Marker {
        Marker {
            state,
            reason: reason.map(str::to_owned),
            round: delivery.message.round,
            at: date_time(self.clock.now_ms()),
            attempts: delivery.attempt,
            provider_id: None,
            address: None,
            language: None,
            version: Version,
        }
    }

    async fn end(&self, id: &TransactionId, marker: &Marker) -> Result<(), StoreError> {
        let value = crate::api::to_json(marker);
        self.store.put(&NotificationKey(id), value, &NoMetadata).await
    }

    /// Ends the round, and lists the failure for the operator first.
    async fn fail(&self, id: &TransactionId, marker: &Marker) -> Result<(), StoreError> {
        let key = FailedMailKey { day: day_of(&marker.at), id };
        self.store.put(&key, b"{}".to_vec(), &NoMetadata).await?;
        self.end(id, marker).await
    }

    /// Counts an e-mail to an address.
    async fn count(&self, id: &TransactionId, address: &str) -> Result<(), StoreError> {
        let now = date_time(self.clock.now_ms());
        let key = MailedKey { day: day_of(&now), address, id };
        self.store.put(&key, b"{}".to_vec(), &NoMetadata).await
    }

    /// How many e-mails an address was to get on this day, those about this transaction apart. More than
    /// a page of a list has are as many as a page has.
    async fn mails_today(&self, id: &TransactionId, address: &str) -> Result<usize, StoreError> {
        let now = date_time(self.clock.now_ms());
        let key = MailedKey { day: day_of(&now), address, id };
        let listed = self.store.list(&key.address_prefix(), None).await?;
        let own = key.name();
        Ok(listed.records.iter().filter(|record| record.name != own).count())
    }

    async fn load<K: Key, T: DeserializeOwned>(&self, key: &K) -> Result<Option<T>, StoreError> {
        let Some(stored) = self.store.get(key).await? else { return Ok(None) };
        decode(K::KIND, &stored.value.read(K::READ_MS).await?).map(Some)
    }
}

fn done(why: &str) -> Outcome {
    Outcome::Done(why.to_owned())
}
