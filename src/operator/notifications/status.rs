//! The state of a transaction's e-mail, computed from the stored records.

use super::mailing_profile;
use crate::notify::{self, Marker, Queued};
use crate::operator::transactions::Record;
use crate::operator::{OperatorError, Result, load};
use crate::scope::Mode;
use crate::service::Clock;
use crate::store::{
    Key, MailState, NotificationKey, OperatorStore, QueuedMailKey, StoreError, decode,
};
use crate::time::{age_ms, parse_ms};
use serde::Serialize;
use strum::EnumIter;

/// Hours after which an e-mail without a delivery result counts as failed. They begin at the create request, or when
/// the queue should have delivered the message. All attempts together take less time.
pub const WAITING_HOURS: u64 = 24;
const WAITING_MS: u64 = WAITING_HOURS * 3_600_000;

/// The state of a transaction's e-mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// The create request did not ask for an e-mail.
    NotAsked,
    /// The personal data was erased, and the delivery result with it.
    Erased,
    /// The unit's e-mails are off.
    Off,
    /// A test key created the transaction. If the Worker has the variable `MAIL_TEST_TO`, the e-mail goes to that
    /// address; otherwise it is skipped. This state does not say which.
    Test,
    /// The e-mail was requested within the last 24 hours, and has no result yet. If `round` is present, its message is
    /// known to be queued.
    Waiting,
    /// The mail service accepted the e-mail.
    Sent,
    /// The service decided not to send the e-mail.
    Skipped,
    /// The e-mail could not be sent.
    Failed,
    /// The transaction is older than the time for which delivery results are kept.
    Forgotten,
}

/// The delivery state of an e-mail. Unknown members are left out of the JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The state.
    pub state: State,
    /// Why the e-mail was skipped or failed: a code of the service or of the mail service. Also `unsent` if the queue
    /// did not accept the message, `unknown` if there is no result after 24 hours, and `damaged` if a record cannot be
    /// read. For a message that waits for the next day, the mail service's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The round: 1 for the first e-mail, and one more for each resend.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// When the state became known, an RFC 3339 date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// When the queue should deliver the message, an RFC 3339 date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Number of delivery attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
    /// The mail service's ID for the e-mail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// The language of the e-mail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

impl Status {
    fn new(state: State) -> Self {
        Status {
            state,
            reason: None,
            round: None,
            at: None,
            until: None,
            attempts: None,
            provider_id: None,
            language: None,
        }
    }

    fn failed(reason: &str) -> Self {
        Status { reason: Some(reason.to_owned()), ..Status::new(State::Failed) }
    }

    /// Returns the round whose message is known to be queued.
    pub fn queued_round(&self) -> Option<u32> {
        self.round.filter(|_| self.state == State::Waiting)
    }

    /// Returns the round of a resend: the second if no round is known.
    pub fn next_round(&self) -> u32 {
        self.round.unwrap_or(1).saturating_add(1)
    }
}

impl From<Queued> for Status {
    fn from(queued: Queued) -> Self {
        Status {
            reason: queued.reason,
            round: Some(queued.round),
            at: Some(queued.at),
            until: Some(queued.until),
            ..Status::new(State::Waiting)
        }
    }
}

impl From<Marker> for Status {
    fn from(marker: Marker) -> Self {
        Status {
            state: match marker.state {
                notify::State::Sent => State::Sent,
                notify::State::Skipped => State::Skipped,
                notify::State::Failed => State::Failed,
            },
            reason: marker.reason,
            round: Some(marker.round),
            at: Some(marker.at),
            until: None,
            attempts: Some(marker.attempts).filter(|attempts| *attempts > 0),
            provider_id: marker.provider_id,
            language: marker.language,
        }
    }
}

/// Returns the delivery state of a transaction's e-mail.
///
/// # Errors
/// If the transaction is damaged, or the store fails.
pub async fn status(
    store: &impl OperatorStore,
    clock: &impl Clock,
    record: &Record,
) -> Result<Status> {
    let queued = store.get_values(&[QueuedMailKey(&record.id)]).await?;
    status_beside(store, clock, record, queued.into_iter().flatten().next()).await
}

/// Returns the [`status`] of an e-mail. `queued` is the value of its [`Queued`] record, which was already read.
pub(super) async fn status_beside(
    store: &impl OperatorStore,
    clock: &impl Clock,
    record: &Record,
    queued: Option<Vec<u8>>,
) -> Result<Status> {
    let metadata = record.metadata()?;
    if !record.asks_for_mail()? {
        return Ok(Status::new(State::NotAsked));
    }
    if metadata.summary.erased.is_some() {
        return Ok(Status::new(State::Erased));
    }
    let marker: Result<Option<Marker>> = load(store, NotificationKey(&record.id)).await;
    let ended = marker.map(|marker| marker.map(Status::from)).or_else(damaged)?;
    let last = ended.as_ref().and_then(|ended| ended.round).unwrap_or_default();
    let queued = queued.and_then(|queued| in_queue(&queued, clock.now_ms()));
    if let Some(queued) = queued.filter(|queued| queued.round > last) {
        return Ok(queued.into());
    }
    if let Some(ended) = ended {
        return Ok(ended);
    }
    if metadata.summary.mail == Some(MailState::Unsent) {
        return Ok(Status::failed("unsent"));
    }
    let profile = mailing_profile(store, &metadata.unit).await;
    let profile = profile.map(|profile| profile.is_none().then(|| Status::new(State::Off)));
    if let Some(off) = profile.or_else(damaged)? {
        return Ok(off);
    }
    if metadata.mode == Mode::Test {
        return Ok(Status::new(State::Test));
    }
    let created_at = record.transaction()?.created_at;
    let age_ms = age_ms(&created_at, clock.now_ms())
        .ok_or_else(|| record.damaged_by("its time is not a valid date-time"))?;
    Ok(unmarked(age_ms))
}

/// Returns the status of an e-mail that cannot be sent because a record is damaged. Returns other errors unchanged.
fn damaged(error: OperatorError) -> Result<Option<Status>> {
    match error {
        OperatorError::Store(StoreError::Damaged(_)) => Ok(Some(Status::failed("damaged"))),
        other => Err(other),
    }
}

/// Returns the status of an e-mail without a result, by the age of its transaction.
fn unmarked(age_ms: u64) -> Status {
    let kept = NotificationKey::KEPT_SECONDS.map(|seconds| u64::from(seconds) * 1_000);
    match age_ms {
        0..WAITING_MS => Status::new(State::Waiting),
        _ if kept.is_some_and(|kept| age_ms >= kept) => Status::new(State::Forgotten),
        _ => Status::failed("unknown"),
    }
}

/// Returns the round whose message is queued; `None` if it should have been delivered more than 24 hours ago, or the record
/// cannot be read.
pub(super) fn in_queue(record: &[u8], now_ms: u64) -> Option<Queued> {
    let queued: Queued = decode(QueuedMailKey::KIND, record).ok()?;
    let until_ms = parse_ms(&queued.until)?;
    (now_ms < until_ms.saturating_add(WAITING_MS)).then_some(queued)
}
