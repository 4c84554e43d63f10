//! Versions of the amounts due. A month is marked as paid only if what is due for it is still the same: whatever changes
//! a transaction, a credit or an earlier payment raises the version in the same database transaction, by triggers.
//!
//! A version exists while somebody marks the month, and after an attempt that was refused.

use crate::office::shared::rows::port::{Ledger, LedgerError, Query, Result, Statement};
use crate::pledges::settlement::{Month, ScopeMonth};
use serde::Serialize;

/// Returns the version of what is due for a month. From now on, changes raise it. Ledger cost: 1 call.
pub(crate) async fn watch(ledger: &dyn Ledger, of: &ScopeMonth) -> Result<u64> {
    let of = Of::new(of);
    let answers = ledger.run(&[Begin(&of).statement()?, Get(&of).statement()?]).await?;
    let found = Get::rows(answers.get(1).ok_or(LedgerError::Damaged)?)?;
    found.into_iter().next().ok_or(LedgerError::Damaged)
}

/// Returns statements for the database transaction that marks a month as paid; they run before the month is marked. The
/// first one fails unless the version is still this one.
pub(crate) fn still(of: &ScopeMonth, version: u64) -> Result<[Statement; 2]> {
    let of = Of::new(of);
    Ok([IsStill { of: &of, version }.statement()?, End(&of).statement()?])
}

#[derive(Serialize)]
struct Of {
    /// Mode and unit, such as `live:shop`.
    scope: String,
    month: Month,
}

impl Of {
    fn new(ScopeMonth { scope, month }: &ScopeMonth) -> Self {
        Of { scope: [scope.mode.name(), ":", &scope.unit].concat(), month: *month }
    }
}

#[derive(Serialize)]
struct Begin<'a>(&'a Of);

impl Query for Begin<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO due_versions (scope, month)
VALUES (?1 ->> '$.scope', ?1 ->> '$.month') ON CONFLICT DO NOTHING";
}

#[derive(Serialize)]
struct Get<'a>(&'a Of);

impl Query for Get<'_> {
    type Row = u64;
    const SQL: &'static str = "SELECT json(version) FROM due_versions
WHERE scope = ?1 ->> '$.scope' AND month = ?1 ->> '$.month'";
}

#[derive(Serialize)]
struct IsStill<'a> {
    #[serde(flatten)]
    of: &'a Of,
    version: u64,
}

impl Query for IsStill<'_> {
    type Row = ();
    const SQL: &'static str =
        "INSERT INTO preconditions (holds) SELECT EXISTS (SELECT 1 FROM due_versions
WHERE scope = ?1 ->> '$.scope' AND month = ?1 ->> '$.month' AND version = ?1 ->> '$.version')";
}

#[derive(Serialize)]
struct End<'a>(&'a Of);

impl Query for End<'_> {
    type Row = ();
    const SQL: &'static str =
        "DELETE FROM due_versions WHERE scope = ?1 ->> '$.scope' AND month = ?1 ->> '$.month'";
}
