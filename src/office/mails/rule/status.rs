//! The state of a transaction's notification, computed from the stored records.

use super::beside::{Beside, WAITING_MS};
use super::notifying_profile;
use crate::buyer::delivery as notify;
use crate::buyer::delivery::{Marker, Queued, Reason};
use crate::office::orders::rule::Record;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::records::load;
use crate::pledges::scope::Mode;
use crate::pledges::service::Clock;
use crate::pledges::store::{
    Cancelled, CancelledKey, Key as _, NotificationKey, OperatorStore, StoreError, decode,
};
use crate::pledges::time::age_ms;
use crate::pledges::types::NotificationService;
use serde::Serialize;
use std::iter;
use strum::EnumIter;

#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// The create request did not ask for the service.
    NotAsked,
    /// The personal data was erased, and the record of the delivery result was removed with it.
    Erased,
    /// The notification service is switched off for the unit.
    Off,
    /// A test key created the transaction. An e-mail goes to the address in the Worker's variable
    /// `MAIL_TEST_TO`, and a message goes to an adapter for test keys. Without such an address or adapter,
    /// the notification is skipped. This state covers all these cases.
    Test,
    /// The notification was requested within the last 24 hours, and has no result yet. If its message is
    /// known to be in the queue, `round` is present: 1 for the first notification, and one more for each
    /// resend.
    Waiting,
    /// The mail service or the adapter accepted the notification.
    Sent,
    /// The service decided not to send the notification.
    Skipped,
    Failed,
    /// The transaction is older than the time for which delivery results are kept.
    Forgotten,
}

/// The delivery state of a notification. The JSON leaves out members whose value is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The service that delivers the notification. For e-mails, the JSON leaves it out.
    #[serde(skip_serializing_if = "NotificationService::is_email")]
    pub service: NotificationService,
    pub state: State,
    /// Why the notification was skipped or failed, as a code of this service, the mail service or the
    /// adapter. Three codes are special: `unsent` if the queue did not accept the message, `unknown` if there
    /// is no result after 24 hours, and `damaged` if a record cannot be read. If an e-mail waits for the mail
    /// service's quota, this is the mail service's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The round: 1 for the first notification, and one more for each resend.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// When the state became known, an RFC 3339 date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// When the queue should deliver the message, an RFC 3339 date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
    /// The mail service's ID for the e-mail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// When the transaction was cancelled, an RFC 3339 date-time. No notification about a cancelled
    /// transaction is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled: Option<String>,
}

impl Status {
    fn new(service: NotificationService, state: State) -> Self {
        Status {
            service,
            state,
            reason: None,
            round: None,
            at: None,
            until: None,
            attempts: None,
            provider_id: None,
            language: None,
            cancelled: None,
        }
    }

    pub(super) fn failed(service: NotificationService, reason: &str) -> Self {
        Status { reason: Some(reason.to_owned()), ..Status::new(service, State::Failed) }
    }

    /// Returns whether the notification was not sent for a cause that can be mended: it failed, or no adapter was
    /// attached.
    pub(super) fn is_unsent(&self) -> bool {
        let is_unattached = self.reason.as_deref() == Some(Reason::NotAttached.into());
        self.state == State::Failed || self.state == State::Skipped && is_unattached
    }

    /// Returns the round whose message is known to be in the queue. Round 1 is the first notification, and
    /// each later round is a resend.
    pub fn queued_round(&self) -> Option<u32> {
        self.round.filter(|_| self.state == State::Waiting)
    }

    /// Returns the round of the next resend: one more than the last known round, or 2 if no round is known.
    pub fn next_round(&self) -> u32 {
        self.round.unwrap_or(1).saturating_add(1)
    }
}

impl Status {
    fn queued(service: NotificationService, queued: Queued) -> Self {
        Status {
            reason: queued.reason,
            round: Some(queued.round),
            at: Some(queued.at),
            until: Some(queued.until),
            ..Status::new(service, State::Waiting)
        }
    }

    pub(super) fn ended(service: NotificationService, marker: Marker) -> Self {
        let state = match marker.state {
            notify::State::Sent => State::Sent,
            notify::State::Skipped => State::Skipped,
            notify::State::Failed => State::Failed,
        };
        Status {
            reason: marker.reason,
            round: Some(marker.round),
            at: Some(marker.at),
            attempts: Some(marker.attempts).filter(|attempts| *attempts > 0),
            provider_id: marker.provider_id,
            language: marker.language,
            ..Status::new(service, state)
        }
    }
}

/// Returns the delivery state of a transaction's notification by one service. KV cost: at most 4 reads, in 3
/// rounds.
///
/// # Errors
/// If the transaction is damaged, or the store fails.
pub async fn status(
    store: &impl OperatorStore,
    clock: &impl Clock,
    record: &Record,
    service: NotificationService,
) -> Result<Status> {
    let of = iter::once((&record.id, service));
    let beside = Beside::read(store, clock.now_ms(), of).await?.pop().unwrap_or_default();
    status_beside(store, clock, record, (service, beside)).await
}

/// Returns the delivery state of the e-mail, even if it was not requested, and the delivery state of each messaging
/// service that the create request asked for. KV cost: at most 2 reads, and 2 more for each state.
///
/// # Errors
/// As [`status`].
pub async fn statuses(
    store: &impl OperatorStore,
    clock: &impl Clock,
    record: &Record,
) -> Result<(Status, Vec<Status>)> {
    let email = NotificationService::Email;
    let messages = record.services()?.into_iter().filter(|service| !service.is_email());
    let services: Vec<_> = iter::once(email).chain(messages).collect();
    let of = services.iter().map(|service| (&record.id, *service));
    let mut beside = Beside::read(store, clock.now_ms(), of).await?.into_iter();
    let of_email = beside.next().unwrap_or_default();
    let mail = status_beside(store, clock, record, (email, of_email)).await?;
    let mut messages = Vec::with_capacity(services.len());
    for (service, beside) in services.into_iter().skip(1).zip(beside) {
        messages.push(status_beside(store, clock, record, (service, beside)).await?);
    }
    Ok((mail, messages))
}

/// Returns the [`status`] of a transaction's notification by one service. Takes the records that the caller has
/// already read.
pub(super) async fn status_beside(
    store: &impl OperatorStore,
    clock: &impl Clock,
    record: &Record,
    (service, Beside { queued, cancelled }): (NotificationService, Beside),
) -> Result<Status> {
    let metadata = record.metadata()?;
    if !record.services()?.contains(&service) {
        return Ok(Status::new(service, State::NotAsked));
    }
    if metadata.summary.erased.is_some() {
        return Ok(Status::new(service, State::Erased));
    }
    let Ok(cancelled) =
        cancelled.map(|mark| decode::<Cancelled>(CancelledKey::KIND, &mark)).transpose()
    else {
        return Ok(Status::failed(service, "damaged"));
    };
    let status = requested(store, clock, record, (service, queued)).await?;
    Ok(Status { cancelled: cancelled.map(|cancelled| cancelled.at), ..status })
}

/// Returns the status of a notification that was requested, as if its transaction was not cancelled.
async fn requested(
    store: &impl OperatorStore,
    clock: &impl Clock,
    record: &Record,
    (service, queued): (NotificationService, Option<Queued>),
) -> Result<Status> {
    let metadata = record.metadata()?;
    let marker: Result<Option<Marker>> = load(store, NotificationKey(&record.id, service)).await;
    let ended = marker.map(|marker| marker.map(|marker| Status::ended(service, marker)));
    let ended = ended.or_else(|error| damaged(service, error))?;
    let last = ended.as_ref().and_then(|ended| ended.round).unwrap_or_default();
    if let Some(queued) = queued.filter(|queued| queued.round > last) {
        return Ok(Status::queued(service, queued));
    }
    if let Some(ended) = ended {
        return Ok(ended);
    }
    if metadata.summary.unsent().any(|unsent| unsent == service) {
        return Ok(Status::failed(service, "unsent"));
    }
    let profile = notifying_profile(store, &metadata.scope.unit, service).await;
    let off = profile.map(|profile| profile.is_none().then(|| Status::new(service, State::Off)));
    if let Some(off) = off.or_else(|error| damaged(service, error))? {
        return Ok(off);
    }
    if metadata.scope.mode == Mode::Test {
        return Ok(Status::new(service, State::Test));
    }
    let created_at = record.transaction()?.created_at;
    let age_ms = age_ms(&created_at, clock.now_ms()).ok_or_else(|| {
        record.damaged_by("the transaction's creation time is not a valid date-time")
    })?;
    Ok(unmarked(service, age_ms))
}

/// Turns the error for a damaged record into the status of a failed notification. Returns any other error
/// unchanged.
fn damaged(service: NotificationService, error: OperatorError) -> Result<Option<Status>> {
    match error {
        OperatorError::Store(StoreError::Damaged(_)) => {
            Ok(Some(Status::failed(service, "damaged")))
        }
        other => Err(other),
    }
}

/// Returns the status of a notification without a stored result: waiting, failed or forgotten, depending on
/// its transaction's age.
fn unmarked(service: NotificationService, age_ms: u64) -> Status {
    let kept = NotificationKey::KEPT_SECONDS.map(|seconds| u64::from(seconds) * 1_000);
    match age_ms {
        0..WAITING_MS => Status::new(service, State::Waiting),
        _ if kept.is_some_and(|kept| age_ms >= kept) => Status::new(service, State::Forgotten),
        _ => Status::failed(service, "unknown"),
    }
}
