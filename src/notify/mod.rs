//! Notifications: a message of the queue becomes one e-mail to the recipient of the pledges.
//!
//! A queue delivers each message at least once, late, and in any order. The record is read when the
//! e-mail is sent, so that the message holds no personal data, and an erased recipient gets nothing. A
//! [`Marker`] ends a round: an operator begins the next one to send again.

mod answers;

pub use answers::{cloudflare_answer, cloudflare_error, resend_answer};

use crate::handle::{Clock, Message};
use crate::pledge::{ERASED_EMAIL, RetrievedPledgeTransaction, TransactionId};
use crate::recipient::{Mail, Profile, mail};
use crate::secret::SecretRecord;
use crate::store::{
    FailedMailKey, Key, ListingStore, MailedKey, NoMetadata, NotificationKey, ProfileKey,
    SecretKey, StoreError, StoredValue as _, TransactionKey, decode,
};
use crate::time::{date_time, day_of, parse_ms};
use crate::version::Version;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use strum::IntoStaticStr;

/// Seconds until a message is tried again that found no record, by attempt. Workers KV may not show a
/// record for a minute; one that is still absent then was never written.
const ABSENT_AFTER: [u32; 2] = [120, 600];
/// Seconds until a failed message is tried again, by attempt.
const FAILED_AFTER: [u32; 5] = [60, 300, 1_800, 7_200, 43_200];
/// Longest wait that a mail service may ask for, in seconds: the queue's own limit.
const MAX_WAIT: u32 = 43_200;

/// Most e-mails to one address on a day (UTC), whatever unit asks. The count may be a minute old.
const MAX_A_DAY: usize = 5;

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
    pub fn headers(&self) -> Headers {
        let list_unsubscribe = self.reply_to.map(|address| format!("<mailto:{address}>"));
        Headers { auto_submitted: "auto-generated", list_unsubscribe }
    }

    /// The sender with an address, as the header `From` has it: `"Small Hours Coffee" <a@b.example>`.
    pub fn sender(&self, address: &str) -> String {
        let name = self.mail.sender.replace(['"', '\\', '<', '>'], "");
        format!("\"{name}\" <{address}>")
    }
}

/// Headers of an e-mail, by their names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Headers {
    /// No mail program answers it by itself.
    #[serde(rename = "Auto-Submitted")]
    pub auto_submitted: &'static str,
    /// Where to write to get no more.
    #[serde(rename = "List-Unsubscribe", skip_serializing_if = "Option::is_none")]
    pub list_unsubscribe: Option<String>,
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

/// What a delivery reads of a [`Marker`].
#[derive(Deserialize)]
struct EndedRound {
    round: u32,
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
    message: &'d Message,
    attempt: u32,
}

/// The decision about a delivery.
enum Verdict {
    /// Send it to this address, whose HMAC is `address`.
    Send { mail: Mail, to: String, address: String, reply_to: Option<String> },
    /// Do not send it.
    Skip(Reason),
    /// The message is not of this record, or not yet.
    Leave(Outcome),
}

impl<S: ListingStore, M: Mailer, C: Clock> Notifier<'_, S, M, C> {
    /// Delivers a message for the `attempt`th time, counted from 1.
    pub async fn deliver(&self, message: &Message, attempt: u32) -> Outcome {
        let Some(id) = TransactionId::parse(&message.id) else {
            return done("no transaction's ID");
        };
        let delivery = Delivery { id: &id, message, attempt };
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
        match self.verdict(delivery).await? {
            Verdict::Leave(outcome) => Ok(outcome),
            Verdict::Skip(reason) => {
                let marker = self.marker(delivery, State::Skipped, Some(reason.into()));
                self.end(delivery.id, &marker).await?;
                Ok(done(reason.into()))
            }
            Verdict::Send { mail, to, address, reply_to } => {
                self.count(delivery.id, &address).await?;
                let round = delivery.message.round;
                let key = format!("pledge/{}/{round}", delivery.id);
                let reply_to = reply_to.as_deref();
                let sent = self.mailer.send(&Letter { to: &to, reply_to, mail: &mail, key }).await;
                Ok(self.after_sending(delivery, sent, address, &mail).await)
            }
        }
    }

    async fn verdict(&self, delivery: &Delivery<'_>) -> Result<Verdict, StoreError> {
        let Delivery { id, message, attempt } = *delivery;
        let Some(stored) = self.store.get(&TransactionKey(id)).await? else {
            return Ok(Verdict::Leave(absent(attempt)));
        };
        let bytes = stored.value.read(TransactionKey::READ_MS).await?;
        let record: RetrievedPledgeTransaction<'_> = decode(TransactionKey::KIND, &bytes)?;
        match parse_ms(&record.created_at).cmp(&parse_ms(&message.created_at)) {
            Ordering::Less => return Ok(Verdict::Leave(absent(attempt))), // not shown yet
            Ordering::Greater => return Ok(Verdict::Leave(done("a later create's record"))),
            Ordering::Equal => {}
        }
        let recipient = record.pledges.first().map(|pledge| &*pledge.recipient.email);
        let Some(email) = recipient.filter(|email| *email != ERASED_EMAIL) else {
            return Ok(Verdict::Skip(Reason::Erased));
        };
        if !self.settings.has_origin {
            return Ok(Verdict::Skip(Reason::NoOrigin));
        }
        let profile: Option<Profile> =
            self.load(&ProfileKey(&stored.metadata.scope().unit)).await?;
        let Some(profile) = profile.filter(|profile| profile.mail) else {
            return Ok(Verdict::Skip(Reason::MailOff));
        };
        let to = match (&self.settings.test_to, record.is_live) {
            (_, true) => email,
            (Some(test_to), false) => test_to,
            (None, false) => return Ok(Verdict::Skip(Reason::TestMode)),
        };
        let Some(mail) = mail(&record, Some(&profile)) else {
            return Ok(Verdict::Skip(Reason::NoPage));
        };
        let Some(address) = self.address(to).await? else {
            return Ok(Verdict::Skip(Reason::NoSecret));
        };
        if self.has_had_its_share(id, &address).await? {
            return Ok(Verdict::Skip(Reason::DailyLimit));
        }
        Ok(Verdict::Send { mail, to: to.to_owned(), address, reply_to: profile.reply_to })
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
            // Never sooner than after any other failure: the attempts would be used up in seconds.
            Err(MailError::Temporary { code, after }) => Outcome::Later {
                seconds: wait(delivery.attempt).max(after.unwrap_or_default()).min(MAX_WAIT),
                cause: code,
            },
        }
    }

    /// Marks a message as failed that was delivered in vain for the last time.
    pub async fn bury(&self, message: &Message) -> Outcome {
        let Some(id) = TransactionId::parse(&message.id) else {
            return done("no transaction's ID");
        };
        let delivery = Delivery { id: &id, message, attempt: 0 };
        let buried = async {
            if self.has_ended(&delivery).await? {
                return Ok(done("sent or skipped before"));
            }
            let marker = self.marker(&delivery, State::Failed, Some("no-more-attempts"));
            self.fail(&id, &marker).await.map(|()| done("failed"))
        };
        let buried: Result<Outcome, StoreError> = buried.await;
        buried.unwrap_or_else(|_| again(1, "the store does not answer".to_owned()))
    }

    // ---- Records -------------------------------------------------------------------------------

    /// Whether this round has ended.
    async fn has_ended(&self, delivery: &Delivery<'_>) -> Result<bool, StoreError> {
        let ended: Option<EndedRound> = self.load(&NotificationKey(delivery.id)).await?;
        Ok(ended.is_some_and(|ended| ended.round >= delivery.message.round))
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

    /// Whether an address has had its e-mails of this day, those about this transaction apart.
    async fn has_had_its_share(
        &self,
        id: &TransactionId,
        address: &str,
    ) -> Result<bool, StoreError> {
        let now = date_time(self.clock.now_ms());
        let key = MailedKey { day: day_of(&now), address, id };
        let listed = self.store.list(&key.address_prefix(), None).await?;
        let own = key.name();
        Ok(listed.records.iter().filter(|record| record.name != own).count() >= MAX_A_DAY)
    }

    async fn address(&self, email: &str) -> Result<Option<String>, StoreError> {
        let record: Option<SecretRecord> = self.load(&SecretKey).await?;
        Ok(record.map(|record| record.secret.address(email)))
    }

    async fn load<K: Key, T: DeserializeOwned>(&self, key: &K) -> Result<Option<T>, StoreError> {
        let Some(stored) = self.store.get(key).await? else { return Ok(None) };
        decode(K::KIND, &stored.value.read(K::READ_MS).await?).map(Some)
    }
}

fn done(why: &str) -> Outcome {
    Outcome::Done(why.to_owned())
}

/// What becomes of a message whose record is not shown: it may be shown later.
fn absent(attempt: u32) -> Outcome {
    match nth(&ABSENT_AFTER, attempt) {
        Some(seconds) => Outcome::Later { seconds, cause: "no such record yet".to_owned() },
        None => done("no such record"),
    }
}

/// What becomes of a message that failed. After the last attempt the queue takes it away.
fn again(attempt: u32, cause: String) -> Outcome {
    Outcome::Later { seconds: wait(attempt), cause }
}

/// The seconds until a failed message is tried again.
fn wait(attempt: u32) -> u32 {
    let [.., last] = FAILED_AFTER;
    nth(&FAILED_AFTER, attempt).unwrap_or(last)
}

/// The wait after an attempt, counted from 1.
fn nth(waits: &[u32], attempt: u32) -> Option<u32> {
    waits.get(attempt.saturating_sub(1) as usize).copied()
}
