//! Tracks which records of updates in Workers KV are outdated, and what they must contain.

use super::updates::Pledges;
use crate::buyer::updates::MAX_UPDATES;
use crate::office::shared::rows::port::{Ledger, LedgerError, Query, Result, ask};
use crate::pledges::scope::Mode;
use crate::pledges::settlement::Month;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The content that a record of updates in Workers KV must have.
#[derive(Debug, Default, Deserialize)]
pub struct Published {
    /// Number of changes to the published updates.
    pub revision: u64,
    /// The published updates as JSON, a list of at most [`MAX_UPDATES`], newest first.
    pub updates: Box<RawValue>,
}

/// Returns what the record of these pledges must contain; `None` if nothing was ever published for them. One query.
pub async fn published(ledger: &dyn Ledger, pledges: &Pledges) -> Result<Option<Published>> {
    Ok(ask(ledger, &Read { pledges, most: MAX_UPDATES }).await?.pop())
}

/// Returns those of some IDs with which the ledger has no update, in any state. One query.
pub async fn missing(ledger: &dyn Ledger, ids: &[String]) -> Result<Vec<String>> {
    ask(ledger, &Missing { ids }).await
}

/// Records that the published updates of a revision were written to Workers KV. Returns whether that revision
/// is still the current one. One call.
pub async fn compiled(
    ledger: &dyn Ledger,
    pledges: &Pledges,
    revision: u64,
    at: u64,
) -> Result<bool> {
    let note = Note { pledges, revision, at };
    let current = Current { pledges };
    let answers = ledger.run(&[note.statement()?, current.statement()?]).await?;
    let rows = Current::rows(answers.get(1).ok_or(LedgerError::Damaged)?)?;
    Ok(rows.first() == Some(&revision))
}

/// Adds the missing records of all updates, for updates that were restored. One call.
pub async fn complete(ledger: &dyn Ledger) -> Result<()> {
    ask(ledger, &Complete {}).await.map(drop)
}

/// Returns at most `most` records that have to be compared with their rows. Outdated records come first. Then
/// come those that were last compared before `before` (milliseconds since 1970), longest ago first. One
/// query.
pub async fn due(ledger: &dyn Ledger, before: u64, most: usize) -> Result<Vec<Pledges>> {
    ask(ledger, &Due { before, most }).await
}

/// Returns the outdated records of these months. A record is outdated if it was not written to Workers KV
/// since its published updates last changed. One query.
pub async fn outdated(
    ledger: &dyn Ledger,
    mode: Option<Mode>,
    months: &[Month],
) -> Result<Vec<Pledges>> {
    ask(ledger, &Outdated { mode, months }).await
}

/// SQL for the pledges that a record is about, as JSON: their mode, month and offering.
macro_rules! pledges {
    () => {
        "json_object('mode', mode, 'month', month, 'offering', offering)"
    };
}

/// SQL condition that selects the rows for the parameter's pledges.
macro_rules! own {
    () => {
        " month = ?1 ->> '$.pledges.month' AND mode = ?1 ->> '$.pledges.mode' AND offering = ?1 ->> '$.pledges.offering'"
    };
}

#[derive(Serialize)]
struct Read<'a> {
    pledges: &'a Pledges,
    most: usize,
}

impl Query for Read<'_> {
    type Row = Published;
    const SQL: &'static str = concat!(
        "SELECT json_object('revision', revision, 'updates', json((SELECT json_group_array(json(content)) FROM (
  SELECT content FROM updates WHERE state = 'published' AND",
        own!(),
        " ORDER BY day DESC, at DESC, id LIMIT ?1 ->> '$.most')))) FROM update_records WHERE",
        own!()
    );
}

#[derive(Serialize)]
struct Complete {}

impl Query for Complete {
    type Row = ();
    // D1 refuses a parameter that the statement does not use.
    const SQL: &'static str = "INSERT INTO update_records (mode, month, offering, revision)
SELECT DISTINCT mode, month, offering, 1 FROM updates WHERE ?1 IS NOT NULL ON CONFLICT DO NOTHING";
}

#[derive(Serialize)]
struct Missing<'a> {
    ids: &'a [String],
}

impl Query for Missing<'_> {
    type Row = String;
    const SQL: &'static str = "SELECT json_quote(value) FROM json_each(?1, '$.ids')
WHERE value NOT IN (SELECT id FROM updates)";
}

#[derive(Serialize)]
struct Note<'a> {
    pledges: &'a Pledges,
    revision: u64,
    at: u64,
}

impl Query for Note<'_> {
    type Row = ();
    const SQL: &'static str = concat!(
        "UPDATE update_records SET compiled = revision, checked = ?1 ->> '$.at' WHERE revision = ?1 ->> '$.revision' AND",
        own!()
    );
}

#[derive(Serialize)]
struct Current<'a> {
    pledges: &'a Pledges,
}

impl Query for Current<'_> {
    type Row = u64;
    const SQL: &'static str =
        concat!("SELECT CAST(revision AS TEXT) FROM update_records WHERE", own!());
}

#[derive(Serialize)]
struct Due {
    before: u64,
    most: usize,
}

impl Query for Due {
    type Row = Pledges;
    const SQL: &'static str = concat!(
        "SELECT ",
        pledges!(),
        " FROM update_records WHERE compiled IS NOT revision OR checked < ?1 ->> '$.before'
ORDER BY compiled IS revision, checked LIMIT ?1 ->> '$.most'"
    );
}

#[derive(Serialize)]
struct Outdated<'a> {
    mode: Option<Mode>,
    months: &'a [Month],
}

impl Query for Outdated<'_> {
    type Row = Pledges;
    const SQL: &'static str = concat!(
        "SELECT ",
        pledges!(),
        " FROM update_records WHERE month IN (SELECT value FROM json_each(?1, '$.months'))
  AND (?1 ->> '$.mode' IS NULL OR mode = ?1 ->> '$.mode') AND compiled IS NOT revision"
    );
}
