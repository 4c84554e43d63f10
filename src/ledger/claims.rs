//! Facts that two people may change at once: that a month is paid, that a unit is in a team.
//!
//! The record in KV is what the API reads. But KV has no compare-and-set, so a change is claimed here first: of two the
//! second one hears who was first. Then the record is written, and the claim is kept. What a crash leaves between these
//! is brought in line with the record, which is what people see.

use super::{Ledger, LedgerError, Query, Result};
use serde::{Deserialize, Serialize};

/// A fact, such as a month of a shop that is marked as paid.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Fact {
    /// Its kind: `settlement` or `member`.
    pub kind: Kind,
    /// The suffix of the name of its record in KV.
    pub name: String,
}

/// What a fact is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A month of a shop is marked as paid.
    Settlement,
    /// A unit is in a team.
    Member,
}

/// Who changes a fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The name of its entry in the audit log.
    pub change: String,
    /// The person.
    pub author: String,
    /// When, in milliseconds since 1970.
    pub at: u64,
}

/// A fact as the ledger has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Which.
    #[serde(flatten)]
    pub fact: Fact,
    /// What becomes of it.
    pub state: State,
    /// The last change of it.
    #[serde(flatten)]
    pub by: Change,
}

/// What becomes of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Somebody claims it, and writes its record.
    Adding,
    /// It is so.
    Kept,
    /// Somebody takes it back, and removes its record.
    Removing,
}

/// What became of an attempt to change a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Nobody else changes it: the record can be written.
    Ours,
    /// It is this already, or somebody changes it.
    Theirs(Claim),
    /// It is not there, to be taken back.
    None,
}

/// Claims a fact that is not there yet.
///
/// # Errors
/// If the ledger does not answer. Then the claim may be there, and is given up after a while.
pub async fn add(ledger: &dyn Ledger, fact: &Fact, by: &Change) -> Result<Turn> {
    let claim = Claim { fact: fact.clone(), state: State::Adding, by: by.clone() };
    turn(ledger, Add(&claim).statement()?, &claim).await
}

/// Claims a fact that is there, to take it back.
///
/// # Errors
/// As [`add`].
pub async fn take_back(ledger: &dyn Ledger, fact: &Fact, by: &Change) -> Result<Turn> {
    let claim = Claim { fact: fact.clone(), state: State::Removing, by: by.clone() };
    turn(ledger, TakeBack(&claim).statement()?, &claim).await
}

async fn turn(ledger: &dyn Ledger, claiming: super::Statement, claim: &Claim) -> Result<Turn> {
    let answers = ledger.run(&[claiming, Get(&claim.fact).statement()?]).await?;
    let found = Get::rows(answers.get(1).ok_or(LedgerError::Damaged)?)?;
    Ok(match found.into_iter().next() {
        None => Turn::None,
        Some(found) if found.by.change == claim.by.change => Turn::Ours,
        Some(found) => Turn::Theirs(found),
    })
}

/// Ends a change: what was claimed is so, or is gone.
///
/// # Errors
/// If the ledger does not answer. Then the record in KV decides after a while.
pub async fn confirm(ledger: &dyn Ledger, fact: &Fact, by: &Change) -> Result<()> {
    end(ledger, fact, by, true).await
}

/// Gives a change up: all is as it was before.
///
/// # Errors
/// As [`confirm`].
pub async fn give_up(ledger: &dyn Ledger, fact: &Fact, by: &Change) -> Result<()> {
    end(ledger, fact, by, false).await
}

async fn end(ledger: &dyn Ledger, fact: &Fact, by: &Change, is_made: bool) -> Result<()> {
    let end = End { fact, change: &by.change, is_made };
    ledger.run(&[Forget(&end).statement()?, Keep(&end).statement()?]).await.map(drop)
}

#[derive(Serialize)]
struct Add<'a>(&'a Claim);

impl Query for Add<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO claims (kind, name, state, change, author, at)
VALUES (?1 ->> '$.kind', ?1 ->> '$.name', 'adding', ?1 ->> '$.change', ?1 ->> '$.author', ?1 ->> '$.at')
ON CONFLICT DO NOTHING";
}

#[derive(Serialize)]
struct TakeBack<'a>(&'a Claim);

impl Query for TakeBack<'_> {
    type Row = ();
    const SQL: &'static str = "UPDATE claims
SET state = 'removing', change = ?1 ->> '$.change', author = ?1 ->> '$.author', at = ?1 ->> '$.at'
WHERE kind = ?1 ->> '$.kind' AND name = ?1 ->> '$.name' AND state = 'kept'";
}

#[derive(Serialize)]
struct Get<'a>(&'a Fact);

impl Query for Get<'_> {
    type Row = Claim;
    const SQL: &'static str = "SELECT json_object('kind', kind, 'name', name, 'state', state, 'change', change, 'author', author, 'at', at)
FROM claims WHERE kind = ?1 ->> '$.kind' AND name = ?1 ->> '$.name'";
}

#[derive(Serialize)]
struct End<'a> {
    #[serde(flatten)]
    fact: &'a Fact,
    change: &'a str,
    is_made: bool,
}

#[derive(Serialize)]
struct Forget<'a>(&'a End<'a>);

impl Query for Forget<'_> {
    type Row = ();
    const SQL: &'static str = "DELETE FROM claims
WHERE kind = ?1 ->> '$.kind' AND name = ?1 ->> '$.name' AND change = ?1 ->> '$.change'
  AND state = iif(?1 ->> '$.is_made', 'removing', 'adding')";
}

#[derive(Serialize)]
struct Keep<'a>(&'a End<'a>);

impl Query for Keep<'_> {
    type Row = ();
    const SQL: &'static str = "UPDATE claims SET state = 'kept'
WHERE kind = ?1 ->> '$.kind' AND name = ?1 ->> '$.name' AND change = ?1 ->> '$.change'";
}

// ---- Repair --------------------------------------------------------------------------------------

/// The facts of a kind that KV has, among the names of a part of its list.
#[derive(Serialize)]
pub(super) struct Import<'a> {
    pub kind: Kind,
    /// The part begins after this name, and ends with `until`; `None`: at the end.
    pub after: &'a str,
    pub until: Option<&'a str>,
    /// All names of the part.
    pub names: &'a [String],
    /// Claims that were changed since are left, as KV may not show them yet.
    pub unless_since: u64,
    pub now: u64,
}

/// Brings claims in line with the records in KV: facts that are missing are kept, those whose record is gone are
/// forgotten. Returns how many were changed.
///
/// # Errors
/// If the ledger does not answer.
pub(super) async fn import(ledger: &dyn Ledger, import: Import<'_>) -> Result<usize> {
    let statements = [Gone(&import).statement()?, Restored(&import).statement()?];
    let answers = ledger.run(&statements).await?;
    Ok(answers.iter().map(Vec::len).sum())
}

#[derive(Serialize)]
struct Gone<'a>(&'a Import<'a>);

impl Query for Gone<'_> {
    type Row = String;
    const SQL: &'static str = "DELETE FROM claims
WHERE kind = ?1 ->> '$.kind' AND name > ?1 ->> '$.after' AND (?1 ->> '$.until' IS NULL OR name <= ?1 ->> '$.until')
  AND at < ?1 ->> '$.unless_since' AND name NOT IN (SELECT value FROM json_each(?1, '$.names'))
RETURNING json_quote(name)";
}

#[derive(Serialize)]
struct Restored<'a>(&'a Import<'a>);

impl Query for Restored<'_> {
    type Row = String;
    const SQL: &'static str = "INSERT INTO claims (kind, name, state, change, author, at)
SELECT ?1 ->> '$.kind', value, 'kept', '', '', ?1 ->> '$.now' FROM json_each(?1, '$.names') WHERE true
ON CONFLICT DO UPDATE SET state = 'kept' WHERE claims.state <> 'kept' AND claims.at < ?1 ->> '$.unless_since'
RETURNING json_quote(name)";
}
