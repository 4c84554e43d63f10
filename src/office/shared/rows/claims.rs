//! Claims: locks in the ledger, for facts that two people may change at the same time. Examples: a month is
//! paid; a unit is in a team.
//!
//! The API reads the fact's record in KV. KV has no compare-and-set and shows a change late. So a person's
//! change first claims the fact in the ledger, then writes or removes the record, and then ends the claim.
//! If two people change a fact at the same time, the second change is refused, and the error names the
//! first one.
//!
//! For [`RECENT_MS`] after its change, a claim takes precedence over the record. After that time KV shows
//! the outcome everywhere, and the record takes precedence, whatever the claim says. So a claim that a
//! crash left behind blocks other changes for at most [`RECENT_MS`]. The reconciliation later updates the
//! claim from the record.

use super::port::{Ledger, LedgerError, Query, Result};
use crate::pledges::time::SKEW_MS;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// How long a claim takes precedence over the record in KV, in milliseconds.
///
/// The write of the record begins within 30 s of the change. A command may then wait up to 11.5 minutes, if
/// Cloudflare's API asks for pauses. KV shows the record everywhere 2 minutes later, and clocks differ by
/// at most 5 minutes. That is 19 minutes in all, rounded up.
pub const RECENT_MS: u64 = 20 * 60_000;

/// A fact, such as that a month of a scope is marked as paid.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Fact {
    pub kind: Kind,
    /// The name of the fact's record in KV, without its prefix.
    pub name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A month of a scope is marked as paid.
    Settlement,
    /// A unit is in a team.
    Member,
}

/// A fact as KV shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ObservedFact {
    #[serde(flatten)]
    pub fact: Fact,
    pub is_there: bool,
    /// The name of the change that wrote the record; `None` if the record does not contain it.
    pub change: Option<String>,
}

/// A change of a fact: who made it, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The name of the change's entry in the audit log; empty if unknown.
    pub change: String,
    pub author: String,
    /// When the change was made, in milliseconds since 1970.
    pub at: u64,
}

/// The ledger's entry for a fact: its state and its last change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    #[serde(flatten)]
    pub fact: Fact,
    /// Whether the fact holds, or is being changed.
    pub state: State,
    #[serde(flatten)]
    pub by: Change,
}

impl Claim {
    /// Returns whether the claim takes precedence over the record in KV.
    pub fn is_recent(&self, now_ms: u64) -> bool {
        recent(now_ms).contains(&self.by.at)
    }

    /// Returns when the record in KV takes precedence again, in milliseconds since 1970.
    pub fn ends_ms(&self) -> u64 {
        self.by.at.saturating_add(RECENT_MS)
    }
}

/// Returns the range of times in which a change counts as recent, so that its claim takes precedence over KV.
/// The range ends a few minutes from now, so that a claim from a clock that is far ahead is ignored.
pub(crate) fn recent(now_ms: u64) -> RangeInclusive<u64> {
    now_ms.saturating_sub(RECENT_MS)..=now_ms.saturating_add(SKEW_MS)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Somebody is writing the fact's record.
    Adding,
    /// The fact holds.
    Kept,
    /// Somebody is removing the fact's record.
    Removing,
    /// The fact no longer holds.
    Gone,
}

/// The state that a caller wants the facts to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum TargetState {
    /// The facts must hold.
    #[serde(rename = "adding")]
    Added,
    /// The facts must no longer hold.
    #[serde(rename = "removing")]
    Removed,
}

/// The result of an attempt to claim a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// The caller has the claim, and may write or remove the record.
    Ours,
    /// Another recent change has the claim. That change has already put the fact into the target state, is
    /// still under way, or was made after the caller read the fact.
    Theirs(Claim),
    /// No claim is needed: the record is already in the target state.
    None,
}

/// Claims facts before a change that adds or removes them. Returns one result for each fact, in the same
/// order.
///
/// # Errors
/// If the ledger does not answer. Some of the facts may have been claimed then.
pub async fn claim(
    ledger: &dyn Ledger,
    wanted: TargetState,
    seen: &[ObservedFact],
    by: &Change,
) -> Result<Vec<ClaimOutcome>> {
    let mut turns = Vec::with_capacity(seen.len());
    for seen in seen.chunks(MOST_FACTS) {
        let recent = recent(by.at);
        let claiming = Claiming { wanted, seen, by, since: *recent.start(), until: *recent.end() }
            .statement()?;
        let facts = seen.iter().map(|seen| &seen.fact).collect();
        let answers = ledger.run(&[claiming, Get { facts }.statement()?]).await?;
        let found = Get::rows(answers.get(1).ok_or(LedgerError::Damaged)?)?;
        let turn =
            |seen: &ObservedFact| turn(found.iter().find(|claim| claim.fact == seen.fact), by);
        turns.extend(seen.iter().map(turn));
    }
    Ok(turns)
}

fn turn(found: Option<&Claim>, by: &Change) -> ClaimOutcome {
    match found {
        Some(claim) if claim.by.change == by.change => ClaimOutcome::Ours,
        Some(claim) if claim.is_recent(by.at) => ClaimOutcome::Theirs(claim.clone()),
        _ => ClaimOutcome::None,
    }
}

/// Returns the claims of facts that have one. A claim may be too old to matter: see [`Claim::is_recent`].
pub async fn get(ledger: &dyn Ledger, facts: &[Fact]) -> Result<Vec<Claim>> {
    let mut claims = Vec::new();
    for facts in facts.chunks(MOST_FACTS) {
        claims.extend(super::port::ask(ledger, &Get { facts: facts.iter().collect() }).await?);
    }
    Ok(claims)
}

/// Records that a change was made: the added facts now hold, and the removed facts no longer hold.
///
/// # Errors
/// If the ledger does not answer. The records in KV take precedence after [`RECENT_MS`].
pub async fn confirm(ledger: &dyn Ledger, facts: &[Fact], by: &Change) -> Result<()> {
    end(ledger, facts, by, true).await
}

/// Cancels a change, and restores the claims as they were before it.
///
/// # Errors
/// If the ledger does not answer. The records in KV take precedence after [`RECENT_MS`].
pub async fn give_up(ledger: &dyn Ledger, facts: &[Fact], by: &Change) -> Result<()> {
    end(ledger, facts, by, false).await
}

async fn end(ledger: &dyn Ledger, facts: &[Fact], by: &Change, is_made: bool) -> Result<()> {
    for facts in facts.chunks(MOST_FACTS) {
        let end = End { facts, change: &by.change, is_made };
        ledger.run(&[Forget(&end).statement()?, Settle(&end).statement()?]).await?;
    }
    Ok(())
}

/// Maximum number of facts in a statement: D1 accepts a text of 2 MB, and a name has at most 512 bytes.
const MOST_FACTS: usize = 1_000;

#[derive(Serialize)]
struct Claiming<'a> {
    wanted: TargetState,
    seen: &'a [ObservedFact],
    by: &'a Change,
    since: u64,
    until: u64,
}

impl Query for Claiming<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO claims (kind, name, state, change, author, at)
SELECT seen.value ->> '$.kind', seen.value ->> '$.name',
  ?1 ->> '$.wanted', ?1 ->> '$.by.change', ?1 ->> '$.by.author', ?1 ->> '$.by.at'
FROM json_each(?1, '$.seen') seen LEFT JOIN claims recent
  ON recent.kind = seen.value ->> '$.kind' AND recent.name = seen.value ->> '$.name'
    AND recent.at BETWEEN ?1 ->> '$.since' AND ?1 ->> '$.until'
WHERE CASE ?1 ->> '$.wanted'
  WHEN 'adding' THEN ifnull(recent.state = 'gone', NOT seen.value ->> '$.is_there')
  ELSE ifnull(recent.state = 'kept' AND (recent.change = '' OR seen.value ->> '$.change' IS NULL
    OR recent.change = seen.value ->> '$.change'), seen.value ->> '$.is_there')
END
ON CONFLICT DO UPDATE SET state = excluded.state, change = excluded.change, author = excluded.author, at = excluded.at,
  before = json_object('state', claims.state, 'change', claims.change, 'author', claims.author, 'at', claims.at)";
}

#[derive(Serialize)]
struct Get<'a> {
    facts: Vec<&'a Fact>,
}

impl Query for Get<'_> {
    type Row = Claim;
    const SQL: &'static str =
        "SELECT json_object('kind', c.kind, 'name', c.name, 'state', c.state, 'change', c.change,
  'author', c.author, 'at', c.at)
FROM json_each(?1, '$.facts') fact JOIN claims c
  ON c.kind = fact.value ->> '$.kind' AND c.name = fact.value ->> '$.name'";
}

#[derive(Serialize)]
struct End<'a> {
    facts: &'a [Fact],
    change: &'a str,
    is_made: bool,
}

/// SQL that selects the claims of the change that is being confirmed or cancelled.
macro_rules! ended {
    () => {
        "WHERE change = ?1 ->> '$.change' AND (kind, name) IN
  (SELECT value ->> '$.kind', value ->> '$.name' FROM json_each(?1, '$.facts'))"
    };
}

#[derive(Serialize)]
struct Forget<'a>(&'a End<'a>);

impl Query for Forget<'_> {
    type Row = ();
    const SQL: &'static str = concat!(
        "DELETE FROM claims ",
        ended!(),
        " AND state = 'adding' AND before IS NULL AND NOT ?1 ->> '$.is_made'"
    );
}

/// Ends the claims of a change. If the change was made, sets the final state of each claim. If the change
/// was cancelled, restores the earlier claim, such as that of an earlier removal. If a cancelled removal
/// replaced no earlier claim, the fact still holds.
#[derive(Serialize)]
struct Settle<'a>(&'a End<'a>);

impl Query for Settle<'_> {
    type Row = ();
    const SQL: &'static str = concat!(
        "UPDATE claims SET before = NULL,
  state = iif(?1 ->> '$.is_made', iif(state = 'removing', 'gone', 'kept'), ifnull(before ->> '$.state', 'kept')),
  change = iif(?1 ->> '$.is_made', change, ifnull(before ->> '$.change', '')),
  author = iif(?1 ->> '$.is_made', author, ifnull(before ->> '$.author', '')),
  at = iif(?1 ->> '$.is_made', at, ifnull(before ->> '$.at', 0)) ",
        ended!(),
        " AND state IN ('adding', 'removing')"
    );
}
