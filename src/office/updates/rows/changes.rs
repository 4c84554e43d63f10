//! Writes the rows of updates.

use super::updates::UpdateRow;
use crate::buyer::updates::MAX_UPDATES;
use crate::office::shared::rows::port::{LedgerError, Query, Result, Statement};
use crate::pledges::store::MAX_UPDATES_BYTES;
use crate::pledges::time::parse_ms;
use serde::Serialize;

/// Maximum number of updates for one offering, month and mode. Withdrawn updates do not count.
pub const MAX_KEPT: u32 = 200;
/// Maximum number of bytes of a record besides its updates.
const FRAME_BYTES: usize = 64;

/// Returns the statements that add an update. The first one fails if the offering already has [`MAX_KEPT`] updates in the
/// month, or if the fulfilment already has an update.
pub(crate) fn adding(row: &UpdateRow) -> Result<[Statement; 2]> {
    Ok([HasRoom { row, most: MAX_KEPT }.statement()?, restoring(row)?])
}

/// Returns the statements that change an update. The first one fails if the update no longer has the revision before
/// `row`. If `row` is published, the record with all published updates must stay within [`MAX_UPDATES`] and
/// [`MAX_UPDATES_BYTES`].
pub(crate) fn changing(row: &UpdateRow) -> Result<[Statement; 2]> {
    let length = serde_json::to_vec(&row.update).map_err(|_| LedgerError::Damaged)?.len();
    let bytes = (MAX_UPDATES_BYTES - FRAME_BYTES).saturating_sub(length);
    Ok([IsAllowed { row, most: MAX_UPDATES, bytes }.statement()?, restoring(row)?])
}

/// Returns the statement that writes an update that the database lacks, or has in an older revision. It writes nothing if
/// there is an update from the same fulfilment with another ID.
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

#[derive(Serialize)]
struct HasRoom<'a> {
    row: &'a UpdateRow,
    most: u32,
}

impl Query for HasRoom<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO preconditions (holds) SELECT count(*) < ?1 ->> '$.most'
  AND NOT EXISTS (SELECT 1 FROM updates WHERE fulfilment = ?1 ->> '$.row.fulfilment')
FROM updates WHERE month = ?1 ->> '$.row.pledges.month' AND mode = ?1 ->> '$.row.pledges.mode'
  AND offering = ?1 ->> '$.row.pledges.offering' AND state <> 'withdrawn'";
}

#[derive(Serialize)]
struct IsAllowed<'a> {
    row: &'a UpdateRow,
    most: usize,
    /// The number of bytes that other published updates may have.
    bytes: usize,
}

impl Query for IsAllowed<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO preconditions (holds) SELECT EXISTS (SELECT 1 FROM updates
WHERE id = ?1 ->> '$.row.id' AND revision + 1 = ?1 ->> '$.row.revision' AND (?1 ->> '$.row.state' <> 'published' OR (
  SELECT count(*) < ?1 ->> '$.most'
    AND ifnull(sum(length(CAST(other.content AS BLOB)) + 1), 0) <= ?1 ->> '$.bytes'
  FROM updates AS other WHERE other.month = updates.month AND other.mode = updates.mode
    AND other.offering = updates.offering AND other.state = 'published' AND other.id <> updates.id)))";
}
