//! The e-mails to people: those that wait, and the log of those that were sent.

use crate::office::shared::rows::port::{Ledger, LedgerError, Query, Result, ask};
use serde::{Deserialize, Serialize};
use strum::{EnumCount, EnumIter, IntoStaticStr, VariantNames};

/// What an e-mail is about.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    EnumCount,
    EnumIter,
    IntoStaticStr,
    VariantNames,
    Serialize,
    Deserialize,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum NoticeKind {
    /// A month has ended, and shops owe something for it.
    Month,
    /// The statement of a shop for a month is there.
    Statement,
    /// E-mails and messages to the buyers of a shop failed.
    Bounces,
    /// E-mails and messages to buyers failed, and can be sent again.
    Failures,
    /// The ledger has a problem.
    Ledger,
}

impl NoticeKind {
    /// Returns the name, such as `month`.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum NoticeState {
    Waiting,
    /// An attempt has begun. If it ended without a result, the e-mail may have been sent.
    Sending,
    Sent,
    Failed,
}

impl NoticeState {
    /// Returns the name, such as `sent`.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// An e-mail to one person. There is one for each address, kind and period.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// The [normal address](crate::office::people::rows::people::normal_address).
    pub address: String,
    pub kind: NoticeKind,
    /// The UTC day or month that it is about, such as `2026-11-30` or `2026-11`.
    pub period: String,
    pub state: NoticeState,
    /// When the state changed, in milliseconds since 1970.
    pub at: u64,
    /// When the next attempt may begin, in milliseconds since 1970; `None` if there is none.
    pub due: Option<u64>,
    /// Number of attempts that began.
    pub attempts: u32,
    /// The attempt that may end the state `sending`.
    pub holder: String,
    /// The code of the last failure.
    pub cause: Option<String>,
}

/// The e-mails of one kind about one period that are to be sent.
#[derive(Clone, Debug, Serialize)]
pub struct Planned<'a> {
    pub kind: NoticeKind,
    pub period: &'a str,
    pub addresses: &'a [String],
    pub now: u64,
    /// When the first attempt may begin, in milliseconds since 1970.
    pub due: u64,
}

/// Adds e-mails that are not there yet, except for people who have switched the kind off. One query.
pub async fn plan(ledger: &dyn Ledger, planned: &Planned<'_>) -> Result<()> {
    ask(ledger, planned).await.map(drop)
}

impl Query for Planned<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO notices (address, kind, period, state, at, due)
SELECT value, ?1 ->> '$.kind', ?1 ->> '$.period', 'waiting', ?1 ->> '$.now', ?1 ->> '$.due'
FROM json_each(?1, '$.addresses')
WHERE NOT EXISTS (SELECT 1 FROM notices_off o WHERE o.address = value AND o.kind = ?1 ->> '$.kind')
ON CONFLICT DO NOTHING";
}

/// Returns at most `most` e-mails whose attempt may begin, those that wait longest first. One query.
pub async fn due(ledger: &dyn Ledger, now: u64, most: usize) -> Result<Vec<Notice>> {
    ask(ledger, &Due { now, most }).await
}

macro_rules! notice {
    () => {
        "SELECT json_object('address', address, 'kind', kind, 'period', period, 'state', state, 'at', at, 'due', due,
  'attempts', attempts, 'holder', holder, 'cause', cause) FROM notices "
    };
}

macro_rules! is_this {
    () => {
        "WHERE address = ?1 ->> '$.address' AND kind = ?1 ->> '$.kind' AND period = ?1 ->> '$.period'"
    };
}

#[derive(Serialize)]
struct Due {
    now: u64,
    most: usize,
}

impl Query for Due {
    type Row = Notice;
    const SQL: &'static str = concat!(
        notice!(),
        "WHERE due <= ?1 ->> '$.now' ORDER BY due, kind, address LIMIT ?1 ->> '$.most'"
    );
}

/// One e-mail, for an attempt.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Attempt<'a> {
    pub address: &'a str,
    pub kind: NoticeKind,
    pub period: &'a str,
    /// A text that only this attempt has.
    pub holder: &'a str,
    pub now: u64,
}

/// Begins an attempt to send an e-mail. Returns `false` if another attempt has begun, or the person has switched the kind off. One
/// call.
pub async fn begin(ledger: &dyn Ledger, attempt: Attempt<'_>) -> Result<bool> {
    let answers = ledger.run(&[Begin(attempt).statement()?, Get(attempt).statement()?]).await?;
    let found = Get::rows(answers.get(1).ok_or(LedgerError::Damaged)?)?.pop();
    Ok(found.is_some_and(|found| found.holder == attempt.holder))
}

/// Begins an attempt. Running the statement twice changes nothing more.
#[derive(Serialize)]
struct Begin<'a>(Attempt<'a>);

impl Query for Begin<'_> {
    type Row = ();
    const SQL: &'static str = concat!(
        "UPDATE notices SET state = 'sending', at = ?1 ->> '$.now', due = NULL, attempts = attempts + 1,
  holder = ?1 ->> '$.holder' ",
        is_this!(),
        " AND due <= ?1 ->> '$.now'"
    );
}

#[derive(Serialize)]
struct Get<'a>(Attempt<'a>);

impl Query for Get<'_> {
    type Row = Notice;
    const SQL: &'static str = concat!(notice!(), is_this!());
}

/// The result of an attempt.
#[derive(Clone, Debug, Serialize)]
pub struct AttemptEnd<'a> {
    #[serde(flatten)]
    pub attempt: Attempt<'a>,
    pub state: NoticeState,
    pub cause: Option<&'a str>,
    /// When the next attempt may begin, in milliseconds since 1970; `None` for no other attempt.
    pub due: Option<u64>,
}

/// Stores the result of an attempt. One query.
pub async fn end(ledger: &dyn Ledger, end: &AttemptEnd<'_>) -> Result<()> {
    ask(ledger, end).await.map(drop)
}

impl Query for AttemptEnd<'_> {
    type Row = ();
    const SQL: &'static str = concat!(
        "UPDATE notices SET state = ?1 ->> '$.state', at = ?1 ->> '$.now', due = ?1 ->> '$.due', cause = ?1 ->> '$.cause' ",
        is_this!(),
        " AND state = 'sending' AND holder = ?1 ->> '$.holder'"
    );
}

/// Gives an e-mail up that must not be sent any more: deletes it if no attempt began, otherwise ends its attempts. One call.
pub async fn withdraw(ledger: &dyn Ledger, attempt: Attempt<'_>) -> Result<()> {
    let statements = [Delete(attempt).statement()?, GiveUp(attempt).statement()?];
    ledger.run(&statements).await.map(drop)
}

#[derive(Serialize)]
struct Delete<'a>(Attempt<'a>);

impl Query for Delete<'_> {
    type Row = ();
    const SQL: &'static str = concat!("DELETE FROM notices ", is_this!(), " AND state = 'waiting'");
}

#[derive(Serialize)]
struct GiveUp<'a>(Attempt<'a>);

impl Query for GiveUp<'_> {
    type Row = ();
    const SQL: &'static str = concat!("UPDATE notices SET due = NULL ", is_this!());
}

/// Maximum number of rows that one call deletes.
const MOST_FORGOTTEN: usize = 10_000;

/// Deletes e-mails whose state last changed before this time, in milliseconds since 1970. One query.
pub async fn forget(ledger: &dyn Ledger, before: u64) -> Result<()> {
    ask(ledger, &Forget { before, most: MOST_FORGOTTEN }).await.map(drop)
}

#[derive(Serialize)]
struct Forget {
    before: u64,
    most: usize,
}

impl Query for Forget {
    type Row = ();
    const SQL: &'static str = "DELETE FROM notices WHERE (address, kind, period) IN (
  SELECT address, kind, period FROM notices WHERE at < ?1 ->> '$.before' ORDER BY at LIMIT ?1 ->> '$.most')";
}

/// Selects e-mails of the log.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LogQuery<'a> {
    pub address: Option<&'a str>,
    pub kind: Option<NoticeKind>,
    pub most: usize,
    /// Number of e-mails to skip.
    pub skipped: usize,
}

/// Returns e-mails, the newest first. One query.
pub async fn log(ledger: &dyn Ledger, query: &LogQuery<'_>) -> Result<Vec<Notice>> {
    ask(ledger, query).await
}

impl Query for LogQuery<'_> {
    type Row = Notice;
    const SQL: &'static str = concat!(
        notice!(),
        "WHERE (?1 ->> '$.address' IS NULL OR address = ?1 ->> '$.address')
  AND (?1 ->> '$.kind' IS NULL OR kind = ?1 ->> '$.kind')
ORDER BY at DESC, kind, address, period LIMIT ?1 ->> '$.most' OFFSET ?1 ->> '$.skipped'"
    );
}
