//! E-mails to recipients, for support: what became of each, which failed, and how one is sent again.
//!
//! A state is computed from what is stored, so that nothing must have been written for a loss to show.

mod resend;
pub mod words;

pub use resend::{DayQuery, DayStep, QueuedRounds, Resent, next_message, queue_round, resend_day};

use super::transactions::{self, Record, masked};
use super::{OperatorError, Pages, Result, load, read_values};
use crate::handle::Clock;
use crate::notify::{self, Marker, Queued};
use crate::pledge::{RetrievedPledgeTransaction, TransactionId};
use crate::recipient::{Profile, mail};
use crate::scope::Mode;
use crate::store::{
    FailedMailKey, Key, Listed, MailState, NotificationKey, OperatorStore, ProfileKey,
    QueuedMailKey, StoreError, decode,
};
use crate::time::{DAY_MS, TimeZones, age_ms, date_time, day_of, parse_ms};
use serde::{Deserialize, Serialize};

/// How long after its create, or after the queue was to deliver its message, an e-mail is no longer waited
/// for, in hours: all attempts take fewer.
pub const WAITING_HOURS: u64 = 24;
const WAITING_MS: u64 = WAITING_HOURS * 3_600_000;

/// The state of a transaction's e-mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// The create did not ask for one.
    NotAsked,
    /// The personal data was erased, and with it what became of the e-mail.
    Erased,
    /// The unit's e-mails are off.
    Off,
    /// A test key made it: it goes to `MAIL_TEST_TO` if the Worker has that variable, which is not known
    /// here, else nowhere.
    Test,
    /// It was asked for within the last 24 hours, and nothing is known of it yet; or, with a round, its
    /// message is in the queue.
    Waiting,
    /// A mail service has taken it.
    Sent,
    /// It was not to be sent.
    Skipped,
    /// It could not be sent.
    Failed,
    /// The transaction is older than what is kept of e-mails.
    Forgotten,
}

/// What became of an e-mail. Members that are not known are left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The state.
    pub state: State,
    /// Why it was skipped or failed: a code of the service or of the mail service; `unsent` if the queue
    /// did not take it, `unknown` if nothing is known of it after 24 hours, `damaged` if a record of it
    /// cannot be read. Of a message that waits for the next day: the mail service's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// 1, and more for an e-mail that was sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// When that became known, an RFC 3339 date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// When the queue delivers its message, an RFC 3339 date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// How often it was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
    /// The mail service's ID of the e-mail.
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

    /// The round whose message is known to be in the queue.
    pub fn queued_round(&self) -> Option<u32> {
        self.round.filter(|_| self.state == State::Waiting)
    }

    /// The round of an e-mail that is sent once more: the second if none is known.
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

/// What became of a transaction's e-mail.
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

/// The same, with the value of its record of the queue.
async fn status_beside(
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
        .ok_or_else(|| record.damaged_by("its time is no time"))?;
    Ok(unmarked(age_ms))
}

/// The status of an e-mail that a damaged record keeps from being sent.
fn damaged(error: OperatorError) -> Result<Option<Status>> {
    match error {
        OperatorError::Store(StoreError::Damaged(_)) => Ok(Some(Status::failed("damaged"))),
        other => Err(other),
    }
}

/// The status of an e-mail that nothing is known of.
fn unmarked(age_ms: u64) -> Status {
    let kept = NotificationKey::KEPT_SECONDS.map(|seconds| u64::from(seconds) * 1_000);
    match age_ms {
        0..WAITING_MS => Status::new(State::Waiting),
        _ if kept.is_some_and(|kept| age_ms >= kept) => Status::new(State::Forgotten),
        _ => Status::failed("unknown"),
    }
}

/// The round whose message is in the queue; `None` if it should have been delivered long ago, or the record
/// cannot be read.
fn in_queue(record: &[u8], now_ms: u64) -> Option<Queued> {
    let queued: Queued = decode(QueuedMailKey::KIND, record).ok()?;
    let until_ms = parse_ms(&queued.until)?;
    (now_ms < until_ms.saturating_add(WAITING_MS)).then_some(queued)
}

/// The profile of a unit whose e-mails are on.
async fn mailing_profile(store: &impl OperatorStore, unit: &str) -> Result<Option<Profile>> {
    let profile: Option<Profile> = load(store, ProfileKey(unit)).await?;
    Ok(profile.filter(|profile| profile.mail))
}

// ---- Show --------------------------------------------------------------------------------------

/// A transaction with the state of its e-mail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Shown {
    /// The transaction's ID.
    pub id: String,
    /// Whether a test or a live key made it.
    pub mode: Mode,
    /// The unit that it belongs to.
    pub unit: String,
    /// Creation time, an RFC 3339 date-time.
    pub created_at: String,
    /// The first characters of the recipient's address.
    pub recipient: String,
    /// What became of the e-mail.
    pub mail: Status,
}

/// Shows what became of a transaction's e-mail.
///
/// # Errors
/// If the transaction is damaged, or the store fails.
pub async fn show(
    store: &impl OperatorStore,
    clock: &impl Clock,
    record: &Record,
) -> Result<Shown> {
    shown(record, status(store, clock, record).await?)
}

fn shown(record: &Record, mail: Status) -> Result<Shown> {
    let (metadata, transaction) = (record.metadata()?, record.transaction()?);
    Ok(Shown {
        id: record.id.to_string(),
        mode: metadata.mode,
        unit: metadata.unit,
        created_at: transaction.created_at.to_string(),
        recipient: masked_recipient(&transaction),
        mail,
    })
}

// ---- Failures ----------------------------------------------------------------------------------

/// Which failures are listed.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct FailedQuery {
    /// Those of this UTC day alone, such as `2026-11-21`.
    pub day: Option<String>,
    /// At most so many.
    pub limit: usize,
    /// Those after this one of such a list, a day and an ID: `2026-11-21:ptran_…`.
    #[serde(default)]
    pub after: Option<String>,
}

impl FailedQuery {
    /// Days and IDs of those that it asks for: newer days come first.
    fn wanted(&self, page: &[Listed]) -> Vec<(String, TransactionId)> {
        let after = self.after.as_deref().and_then(|after| after.split_once(':'));
        let is_after = |(day, id): &(String, TransactionId)| {
            after.is_none_or(|(last, last_id)| (last, id.as_str()) > (day.as_str(), last_id))
        };
        page.iter().filter_map(day_and_id).filter(is_after).collect()
    }
}

/// E-mails that failed, those of the newest day first.
#[derive(Clone, Debug, Serialize)]
pub struct Failures {
    /// The e-mails. One that failed in several rounds may be there several times.
    pub failed: Vec<FailedMail>,
    /// Whether there are more.
    pub more: bool,
}

/// An e-mail that failed on a day.
#[derive(Clone, Debug, Serialize)]
pub struct FailedMail {
    /// The UTC day.
    pub day: String,
    /// The transaction's ID.
    pub id: String,
    /// The transaction, and what has become of its e-mail since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<Shown>,
    /// Why it cannot be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Lists e-mails that failed within 90 days, or had to wait for another day. Those of the last minute may be
/// missing, and those that nobody heard of again: no list has them.
///
/// # Errors
/// If the store fails.
pub async fn failed(
    store: &impl OperatorStore,
    clock: &impl Clock,
    query: &FailedQuery,
) -> Result<Failures> {
    let mut names = newest(store, clock.now_ms(), query).await?;
    let more = names.len() > query.limit;
    names.truncate(query.limit);
    let keys: Vec<_> = names.iter().map(|(_, id)| QueuedMailKey(id)).collect();
    let queued = read_values(store, &keys).await?;
    let mut failed = Vec::with_capacity(names.len());
    for ((day, id), queued) in names.into_iter().zip(queued) {
        let (now, problem) = match show_by_id(store, clock, &id, queued).await {
            Ok(shown) => (Some(shown), None),
            Err(OperatorError::Invalid(problem)) => (None, Some(problem)),
            Err(error) => return Err(error),
        };
        failed.push(FailedMail { day, id: id.into_string(), now, problem });
    }
    Ok(Failures { failed, more })
}

async fn show_by_id(
    store: &impl OperatorStore,
    clock: &impl Clock,
    id: &TransactionId,
    queued: Option<Vec<u8>>,
) -> Result<Shown> {
    let record = transactions::get(store, id.as_str()).await?;
    let mail = status_beside(store, clock, &record, queued).await?;
    shown(&record, mail)
}

/// Days and IDs of failures, the newest day first: more than the limit if there are more. One list call
/// finds all of them, or else one or more for each day.
async fn newest(
    store: &impl OperatorStore,
    now_ms: u64,
    query: &FailedQuery,
) -> Result<Vec<(String, TransactionId)>> {
    let days = match &query.day {
        Some(day) => vec![day.clone()],
        None => {
            let all = store.list(FailedMailKey::PREFIX, None).await?;
            if all.cursor.is_none() {
                let mut found = query.wanted(&all.records);
                found.sort_by(|(a, _), (b, _)| b.cmp(a));
                return Ok(found);
            }
            let after = query.after.as_deref().unwrap_or("~"); // which is after each day
            days_back(now_ms).into_iter().filter(|day| **day <= *after).collect()
        }
    };
    let mut found = Vec::new();
    for day in days {
        let mut pages = Pages::new(store, FailedMailKey::day_prefix(&day));
        while found.len() <= query.limit
            && let Some(page) = pages.next().await?
        {
            found.extend(query.wanted(&page));
        }
    }
    Ok(found)
}

fn day_and_id(record: &Listed) -> Option<(String, TransactionId)> {
    let (day, id) = FailedMailKey::parse(&record.name)?;
    Some((day.to_owned(), id))
}

/// The days that failures are kept for, today first.
fn days_back(now_ms: u64) -> Vec<String> {
    let kept = FailedMailKey::KEPT_SECONDS.map_or(0, |seconds| u64::from(seconds) * 1_000 / DAY_MS);
    let day = |back| day_of(&date_time(now_ms.saturating_sub(back * DAY_MS))).to_owned();
    (0..=kept).map(day).collect()
}

// ---- Preview -----------------------------------------------------------------------------------

/// An e-mail as it would be sent now. Text and HTML have the recipient's name and the address of the
/// page, which opens it to whoever has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// The transaction's ID.
    pub id: String,
    /// The first characters of the recipient's address.
    pub to: String,
    /// The name of the sender.
    pub sender: String,
    /// The address that answers go to.
    pub reply_to: Option<String>,
    /// The language.
    pub language: &'static str,
    /// The subject.
    pub subject: String,
    /// The content as plain text.
    pub text: String,
    /// The content as HTML.
    pub html: String,
}

/// Writes the e-mail of a transaction, also of one that would not be sent.
///
/// # Errors
/// If the transaction was erased, has no address of its page or is damaged, or the store fails.
pub async fn preview(
    store: &impl OperatorStore,
    zones: &dyn TimeZones,
    record: &Record,
) -> Result<Preview> {
    drafted(store, zones, record, &record.transaction()?).await
}

/// The address of the page in a [masked preview](masked_preview), where nothing is.
pub const NOWHERE: &str = "https://preview.invalid/";

/// As [`preview`], with the recipient and all texts cut to their first characters, and [`NOWHERE`] for the
/// address of the page.
///
/// # Errors
/// As [`preview`].
pub async fn masked_preview(
    store: &impl OperatorStore,
    zones: &dyn TimeZones,
    record: &Record,
) -> Result<Preview> {
    let mut transaction = record.masked()?;
    transaction.timeline_url = Some(NOWHERE.into());
    drafted(store, zones, record, &transaction).await
}

/// The e-mail about a transaction, which may be masked.
async fn drafted(
    store: &impl OperatorStore,
    zones: &dyn TimeZones,
    record: &Record,
    transaction: &RetrievedPledgeTransaction<'_>,
) -> Result<Preview> {
    refuse_erased(record)?;
    let profile: Option<Profile> = load(store, ProfileKey(&record.metadata()?.unit)).await?;
    let mail = mail(transaction, profile.as_ref(), zones)
        .ok_or_else(|| refusal(record, "its record has no address of its page"))?;
    Ok(Preview {
        id: record.id.to_string(),
        to: masked_recipient(&record.transaction()?),
        sender: mail.sender,
        reply_to: profile.and_then(|profile| profile.reply_to),
        language: mail.language.tag(),
        subject: mail.subject,
        text: mail.text,
        html: mail.html,
    })
}

/// The first characters of the recipient's address.
fn masked_recipient(transaction: &RetrievedPledgeTransaction<'_>) -> String {
    let pledge = transaction.pledges.first();
    pledge.map(|pledge| masked(&pledge.recipient.email)).unwrap_or_default()
}

fn refuse_erased(record: &Record) -> Result<()> {
    match record.metadata()?.summary.erased {
        Some(time) => Err(refusal(record, &format!("its recipient was erased on {time}"))),
        None => Ok(()),
    }
}

fn refusal(record: &Record, why: &str) -> OperatorError {
    OperatorError::Invalid(format!("there is no e-mail of {} to send: {why}", record.id))
}
