//! Writes the rows of updates.

use super::updates::{Get, Pledges, Row, UpdateRow, UpdateState};
use crate::buyer::updates::MAX_UPDATES;
use crate::office::shared::rows::port::{Ledger, LedgerError, Query, Result, Statement};
use crate::pledges::store::MAX_UPDATES_BYTES;
use crate::pledges::time::parse_ms;
use serde::Serialize;

/// Maximum number of updates for one offering, month and mode. Withdrawn updates do not count.
pub const MAX_KEPT: u32 = 200;
/// Maximum number of bytes of a record besides its updates.
const FRAME_BYTES: usize = 64;

/// A change to an update. Updates are news for buyers about their pledges.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RowChange<'a> {
    /// The update's ID.
    pub id: &'a str,
    /// The revision that the change expects. An update with another revision is not changed.
    pub revision: u64,
    pub state: UpdateState,
    /// What timelines show after the change, as JSON.
    pub content: &'a str,
    /// The date in `content`.
    pub day: &'a str,
    /// The hash of the operation.
    pub operation: &'a str,
    pub by: &'a str,
    /// When the change is made, in milliseconds since 1970.
    pub at: u64,
}

/// Writes a new update, and returns it. If an update with this ID exists, returns that update unchanged.
/// `change` has the first revision. Ledger cost: 1 call.
///
/// Writes nothing and returns `None` in two cases: the offering already has [`MAX_KEPT`] updates in the
/// month, or the fulfilment already has another update.
///
/// # Errors
/// If the ledger does not answer. The update may have been written then.
pub async fn add(
    ledger: &dyn Ledger,
    pledges: &Pledges,
    fulfilment: Option<&str>,
    change: RowChange<'_>,
) -> Result<Option<UpdateRow>> {
    let add = Add { pledges, fulfilment, change, most: MAX_KEPT };
    run(ledger, add.statement()?, change.id).await
}

/// Changes an update if it has the revision that the change expects. Returns the update as it is after the
/// call; `None` if there is no update with this ID. Ledger cost: 1 call.
///
/// If the update's state after the change is published, the record with all published updates must stay
/// within [`MAX_UPDATES`] and [`MAX_UPDATES_BYTES`]. Otherwise nothing is changed.
///
/// # Errors
/// If the ledger does not answer. The update may have been changed then.
pub async fn change(ledger: &dyn Ledger, change: RowChange<'_>) -> Result<Option<UpdateRow>> {
    let limits = Limited { change, most: MAX_UPDATES, bytes: MAX_UPDATES_BYTES - FRAME_BYTES };
    run(ledger, limits.statement()?, change.id).await
}

/// Writes an update that the database has lost, or has in an older revision. Writes nothing if there is an update from
/// the same fulfilment with another ID. Returns whether an update with this ID exists now. Ledger cost:
/// 1 call.
///
/// # Errors
/// If the ledger does not answer. The update may have been written then.
pub async fn restore(ledger: &dyn Ledger, row: &UpdateRow) -> Result<bool> {
    Ok(run(ledger, restoring(row)?, &row.id).await?.is_some())
}

pub(crate) fn restoring(row: &UpdateRow) -> Result<Statement> {
    let content = serde_json::to_string(&row.update).map_err(|_| LedgerError::Damaged)?;
    let ms = |text: &str| parse_ms(text).unwrap_or_default();
    let (at, changed) = (ms(&row.at), ms(&row.changed_at));
    Restore { row, content: &content, at, changed }.statement()
}

#[derive(Serialize)]
struct Restore<'a> {
    row: &'a UpdateRow,
    content: &'a str,
    at: u64,
    changed: u64,
}

impl Query for Restore<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO updates
  (id, mode, month, offering, state, day, content, fulfilment, revision, operation, author, at, changer, changed)
SELECT it ->> '$.id', it ->> '$.pledges.mode', it ->> '$.pledges.month', it ->> '$.pledges.offering', it ->> '$.state',
  it ->> '$.update.date', ?1 ->> '$.content', it ->> '$.fulfilment', it ->> '$.revision', it ->> '$.operation',
  it ->> '$.by', ?1 ->> '$.at', it ->> '$.changedBy', ?1 ->> '$.changed'
FROM (SELECT ?1 -> '$.row' AS it)
WHERE true
ON CONFLICT (id) DO UPDATE SET state = excluded.state, day = excluded.day, content = excluded.content,
  revision = excluded.revision, operation = excluded.operation, changer = excluded.changer, changed = excluded.changed
  WHERE excluded.revision > updates.revision
ON CONFLICT DO NOTHING";
}

/// Runs a statement that changes an update, and returns the update as it is afterwards.
async fn run(ledger: &dyn Ledger, statement: Statement, id: &str) -> Result<Option<UpdateRow>> {
    let answers = ledger.run(&[statement, Get { id }.statement()?]).await?;
    Ok(Get::rows(answers.get(1).ok_or(LedgerError::Damaged)?)?.pop().map(Row::into_update))
}

#[derive(Serialize)]
struct Add<'a> {
    pledges: &'a Pledges,
    fulfilment: Option<&'a str>,
    change: RowChange<'a>,
    most: u32,
}

impl Query for Add<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO updates
  (id, mode, month, offering, state, day, content, fulfilment, revision, operation, author, at, changer, changed)
SELECT it ->> '$.id', of ->> '$.mode', of ->> '$.month', of ->> '$.offering', it ->> '$.state', it ->> '$.day',
  it ->> '$.content', ?1 ->> '$.fulfilment', it ->> '$.revision', it ->> '$.operation', it ->> '$.by', it ->> '$.at',
  it ->> '$.by', it ->> '$.at'
FROM (SELECT ?1 -> '$.change' AS it, ?1 -> '$.pledges' AS of)
WHERE (SELECT count(*) FROM updates WHERE month = of ->> '$.month' AND mode = of ->> '$.mode'
    AND offering = of ->> '$.offering' AND state <> 'withdrawn') < ?1 ->> '$.most'
ON CONFLICT DO NOTHING";
}

#[derive(Serialize)]
struct Limited<'a> {
    change: RowChange<'a>,
    most: usize,
    bytes: usize,
}

impl Query for Limited<'_> {
    type Row = ();
    const SQL: &'static str = "UPDATE updates SET state = it.state, day = it.day, content = it.content,
  revision = updates.revision + 1, operation = it.operation, changer = it.by, changed = it.at
FROM (SELECT ?1 ->> '$.change.id' AS id, ?1 ->> '$.change.revision' AS revision, ?1 ->> '$.change.state' AS state,
    ?1 ->> '$.change.day' AS day, ?1 ->> '$.change.content' AS content, ?1 ->> '$.change.operation' AS operation,
    ?1 ->> '$.change.by' AS by, ?1 ->> '$.change.at' AS at) AS it
WHERE updates.id = it.id AND updates.revision = it.revision AND (it.state <> 'published' OR (
  SELECT count(*) < ?1 ->> '$.most'
    AND ifnull(sum(length(CAST(other.content AS BLOB)) + 1), 0) + length(CAST(it.content AS BLOB)) <= ?1 ->> '$.bytes'
  FROM updates AS other WHERE other.month = updates.month AND other.mode = updates.mode
    AND other.offering = updates.offering AND other.state = 'published' AND other.id <> updates.id))";
}
