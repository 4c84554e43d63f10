//! What shop systems sent, and what became of it.

use crate::office::shared::rows::port::{Ledger, Query, Result, Statement, ask};
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// How long a row is kept, in days.
pub const KEPT_DAYS: u64 = 90;
/// Maximum number of rows on a page, and of names in a query.
pub const MOST: usize = 100;

/// What became of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Fate {
    /// It has to be read again, because something did not answer.
    Waiting,
    /// The order's pledge was recorded.
    Pledged,
    /// The order was pledged before, and stays as it was pledged.
    Known,
    /// A refund was credited.
    Credited,
    /// The order pledges nothing, because its refund came first.
    Held,
    /// Nothing is pledged, for the reason in `detail`.
    Skipped,
    /// It is about something else than an order that could be pledged.
    Ignored,
    /// The service refused the pledge, for the reason in `detail`.
    Refused,
    /// It is not an order, or not in a form that is known.
    Unreadable,
    /// The connection was ended.
    Ended,
    /// Workers KV no longer has what was sent.
    Lost,
}

impl Fate {
    /// Returns whether another attempt may pledge the order, for example after a change of the settings.
    pub fn can_retry(self) -> bool {
        matches!(self, Fate::Skipped | Fate::Refused | Fate::Unreadable)
    }

    /// The outcomes after which what was sent is not needed any more.
    const OVER: [Fate; 5] =
        [Fate::Pledged, Fate::Known, Fate::Credited, Fate::Ignored, Fate::Ended];

    /// Returns whether what was sent is not needed any more.
    pub fn is_over(self) -> bool {
        Fate::OVER.contains(&self)
    }

    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A delivery, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceivedRow {
    /// The [ID](crate::pledges::store::ReceivedKey::id) of the delivery.
    pub delivery: String,
    pub connection: String,
    /// When it was received, in milliseconds since 1970.
    pub at: u64,
    #[serde(flatten)]
    pub finding: Finding,
}

/// What became of a delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub outcome: Fate,
    /// The order's ID in the shop system.
    pub number: Option<String>,
    /// The order's number as people see it.
    pub shown: Option<String>,
    /// Why nothing was pledged, or what differs from the order's pledge: one or more sentences.
    pub detail: Option<String>,
    /// The transaction that was recorded for the order.
    pub id: Option<String>,
    /// A hash of the buyer's address, while the record in Workers KV has personal data.
    pub person: Option<String>,
}

impl Finding {
    pub fn new(outcome: Fate) -> Self {
        Finding { outcome, number: None, shown: None, detail: None, id: None, person: None }
    }

    #[must_use]
    pub fn because(self, detail: impl Into<String>) -> Self {
        Finding { detail: Some(detail.into()), ..self }
    }
}

/// Writes what became of a delivery. Another attempt may have read it meanwhile: then the outcome stands after which what was
/// sent is not needed any more, and `pledged` above all. One query.
pub(crate) async fn keep(ledger: &dyn Ledger, row: &ReceivedRow) -> Result<()> {
    ask(ledger, &Keep { row, over: Fate::OVER }).await.map(drop)
}

/// Returns a delivery; `None` if it was not read yet. One query.
pub(crate) async fn get(ledger: &dyn Ledger, id: &str) -> Result<Option<ReceivedRow>> {
    Ok(ask(ledger, &Get { id }).await?.pop())
}

/// Returns the last deliveries of a connection before a time (milliseconds since 1970), newest first. One query.
pub(crate) async fn of_connection(
    ledger: &dyn Ledger,
    connection: &str,
    before: u64,
) -> Result<Vec<ReceivedRow>> {
    ask(ledger, &OfConnection { connection, before, most: MOST }).await
}

/// Returns the IDs of deliveries that have to be read again, oldest first: at most 20 of each connection, so that a shop
/// system that does not answer does not keep others waiting. One query.
pub(crate) async fn waiting(ledger: &dyn Ledger) -> Result<Vec<String>> {
    ask(ledger, &Waiting { most: MOST, each: 20 }).await
}

/// Returns those of some IDs of deliveries that have no row, or whose records are not needed any more. One query.
pub(crate) async fn unfinished(ledger: &dyn Ledger, ids: &[String]) -> Result<Vec<String>> {
    ask(ledger, &Unfinished { ids, over: Fate::OVER }).await
}

/// Returns the time until which the records in Workers KV were compared, in milliseconds since 1970; `None` if they never were.
pub(crate) async fn complete(ledger: &dyn Ledger) -> Result<Option<u64>> {
    Ok(ask(ledger, &Complete {}).await?.pop())
}

pub(crate) async fn set_complete(ledger: &dyn Ledger, complete: u64) -> Result<()> {
    ask(ledger, &SetComplete { complete }).await.map(drop)
}

/// Returns the statement that lets a delivery be read again.
pub(crate) fn retrying(id: &str) -> Result<Statement> {
    Retry { id }.statement()
}

/// Returns the statement that lets all deliveries of a connection be read again whose records are kept.
pub(crate) fn retrying_all(connection: &str) -> Result<Statement> {
    RetryAll { connection }.statement()
}

/// Deletes rows that were received before a time (milliseconds since 1970). One query.
pub(crate) async fn forget(ledger: &dyn Ledger, before: u64) -> Result<()> {
    ask(ledger, &Forget { before }).await.map(drop)
}

/// SQL for a row, as JSON.
macro_rules! row {
    () => {
        "SELECT json_object('delivery', delivery, 'connection', connection, 'at', at, 'outcome', outcome, 'number', number,
  'shown', shown, 'detail', detail, 'id', id, 'person', person) FROM received "
    };
}

#[derive(Serialize)]
struct Keep<'a> {
    #[serde(flatten)]
    row: &'a ReceivedRow,
    over: [Fate; 5],
}

impl Query for Keep<'_> {
    type Row = ();
    const SQL: &'static str =
        "INSERT INTO received (delivery, connection, at, outcome, number, shown, detail, id, person)
VALUES (?1 ->> '$.delivery', ?1 ->> '$.connection', ?1 ->> '$.at', ?1 ->> '$.outcome', ?1 ->> '$.number', ?1 ->> '$.shown',
  ?1 ->> '$.detail', ?1 ->> '$.id', ?1 ->> '$.person')
ON CONFLICT DO UPDATE SET outcome = excluded.outcome, number = ifnull(excluded.number, number),
  shown = ifnull(excluded.shown, shown), detail = excluded.detail, id = excluded.id,
  person = iif(excluded.outcome = 'waiting', ifnull(excluded.person, person), excluded.person)
WHERE received.outcome = 'waiting' OR excluded.outcome = 'pledged'
  OR (excluded.outcome IN (SELECT value FROM json_each(?1, '$.over')))
    > (received.outcome IN (SELECT value FROM json_each(?1, '$.over')))";
}

#[derive(Serialize)]
struct Get<'a> {
    id: &'a str,
}

impl Query for Get<'_> {
    type Row = ReceivedRow;
    const SQL: &'static str = concat!(row!(), "WHERE delivery = ?1 ->> '$.id'");
}

#[derive(Serialize)]
struct OfConnection<'a> {
    connection: &'a str,
    before: u64,
    most: usize,
}

impl Query for OfConnection<'_> {
    type Row = ReceivedRow;
    const SQL: &'static str = concat!(
        row!(),
        "WHERE connection = ?1 ->> '$.connection' AND at < ?1 ->> '$.before' ORDER BY at DESC LIMIT ?1 ->> '$.most'"
    );
}

#[derive(Serialize)]
struct Waiting {
    most: usize,
    each: usize,
}

impl Query for Waiting {
    type Row = String;
    const SQL: &'static str = "SELECT json_quote(delivery) FROM
  (SELECT delivery, at, row_number() OVER (PARTITION BY connection ORDER BY at) AS number FROM received WHERE outcome = 'waiting')
WHERE number <= ?1 ->> '$.each' ORDER BY at LIMIT ?1 ->> '$.most'";
}

#[derive(Serialize)]
struct Unfinished<'a> {
    ids: &'a [String],
    over: [Fate; 5],
}

impl Query for Unfinished<'_> {
    type Row = String;
    const SQL: &'static str = "SELECT json_quote(value) FROM json_each(?1, '$.ids')
WHERE value NOT IN (SELECT delivery FROM received WHERE delivery IN (SELECT value FROM json_each(?1, '$.ids'))
  AND outcome NOT IN (SELECT value FROM json_each(?1, '$.over')))";
}

#[derive(Serialize)]
struct Complete {}

impl Query for Complete {
    type Row = u64;
    const SQL: &'static str = "SELECT json_quote(complete) FROM intake WHERE ?1 IS NOT NULL"; // D1 refuses an unused parameter
}

#[derive(Serialize)]
struct SetComplete {
    complete: u64,
}

impl Query for SetComplete {
    type Row = ();
    const SQL: &'static str = "INSERT INTO intake (one, complete) VALUES (1, ?1 ->> '$.complete')
ON CONFLICT DO UPDATE SET complete = excluded.complete";
}

#[derive(Serialize)]
struct Forget {
    before: u64,
}

impl Query for Forget {
    type Row = ();
    const SQL: &'static str = "DELETE FROM received WHERE delivery IN
  (SELECT delivery FROM received WHERE delivery < printf('%07d', ?1 ->> '$.before' / 3600000) ORDER BY delivery LIMIT 1000)";
}

#[derive(Serialize)]
struct Retry<'a> {
    id: &'a str,
}

impl Query for Retry<'_> {
    type Row = ();
    const SQL: &'static str = "UPDATE received SET outcome = 'waiting', detail = NULL WHERE delivery = ?1 ->> '$.id' AND outcome IN ('skipped', 'refused', 'unreadable')";
}

#[derive(Serialize)]
struct RetryAll<'a> {
    connection: &'a str,
}

impl Query for RetryAll<'_> {
    type Row = ();
    const SQL: &'static str =
        "UPDATE received SET outcome = 'waiting', detail = NULL WHERE connection = ?1 ->> '$.connection'
  AND outcome IN ('skipped', 'refused', 'unreadable', 'held')";
}
