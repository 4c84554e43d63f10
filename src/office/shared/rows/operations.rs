//! Operations that take effect once, however often a form or a command sends them. Each has an ID, which a retry sends
//! again.
//!
//! A row says that an operation has begun, and later also its outcome. Rows are kept for [`KEPT_DAYS`].

use super::port::{Ledger, LedgerError, Query, Result, Statement, ask};
use crate::pledges::time::{DAY_MS, SKEW_MS};
use serde::{Deserialize, Serialize};

/// How long an operation's outcome is kept, in days.
pub const KEPT_DAYS: u64 = 90;
/// How long an attempt may take, in milliseconds. After that a retry replaces it.
pub const UNDER_WAY_MS: u64 = 30_000;
/// Maximum number of rows that one step deletes.
const MOST_FORGOTTEN: u32 = 1_000;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OperationRequest<'a> {
    /// A hash of the operation's ID and its author, so that another person cannot read the row.
    pub id: &'a str,
    /// The command, such as `keys create`.
    pub command: &'a str,
    /// A hash of the command's arguments.
    pub arguments: &'a str,
    pub attempt: &'a str,
    /// When the attempt began, in milliseconds since 1970.
    pub at: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Operation {
    pub command: String,
    pub arguments: String,
    /// When the first attempt began, in milliseconds since 1970.
    pub began: u64,
    pub attempt: String,
    /// The result of earlier attempts; `None` if there were none.
    pub after: Option<PriorOutcome>,
    /// When the operation was done, in milliseconds since 1970; `None` if it is not known to be done.
    pub done: Option<u64>,
    pub outcome: Option<String>,
}

/// The result of earlier attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PriorOutcome {
    /// Each of the earlier attempts failed, and the person was shown that.
    Failure,
    /// For at least one earlier attempt, it is not known what the person was shown.
    Silence,
}

/// Begins an operation and returns its current row. If the returned row has the `attempt` of this request, the
/// operation belongs to this attempt. An attempt replaces an earlier one that failed, or that took longer than
/// [`UNDER_WAY_MS`].
///
/// # Errors
/// If the ledger does not answer. The operation may have begun then.
pub async fn begin(ledger: &dyn Ledger, asked: &OperationRequest<'_>) -> Result<Operation> {
    let stale = asked.at.saturating_sub(UNDER_WAY_MS);
    let ahead = asked.at.saturating_add(SKEW_MS);
    let begin = Begin { asked, stale, ahead }.statement()?;
    let answers = ledger.run(&[begin, Get { id: asked.id }.statement()?]).await?;
    let mut found = Get::rows(answers.get(1).ok_or(LedgerError::Damaged)?)?;
    found.pop().ok_or(LedgerError::Damaged)
}

/// Returns an operation by the hash of its ID and author; `None` if it has not begun.
pub async fn get(ledger: &dyn Ledger, id: &str) -> Result<Option<Operation>> {
    Ok(ask(ledger, &Get { id }).await?.pop())
}

/// Records that an operation is done, and its outcome.
///
/// # Errors
/// If the ledger does not answer. A retry then does the operation again.
pub async fn finish(
    ledger: &dyn Ledger,
    asked: &OperationRequest<'_>,
    done: u64,
    outcome: &str,
) -> Result<()> {
    ask(ledger, &Finish { asked, done, outcome }).await.map(drop)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptEnd {
    /// The attempt changed nothing, so the ID can be used again.
    Untouched,
    /// The attempt may have changed something, and the person is shown that it failed. A retry continues its work.
    Failed,
    /// The person is shown an outcome, but it is not stored. A retry determines the outcome again.
    Told,
}

/// Ends an attempt without storing an outcome.
///
/// # Errors
/// If the ledger does not answer. A retry then has to wait.
pub async fn give_up(
    ledger: &dyn Ledger,
    asked: &OperationRequest<'_>,
    how: AttemptEnd,
) -> Result<()> {
    let release = Release { asked, is_told: how == AttemptEnd::Told }.statement()?;
    let statements = match how {
        AttemptEnd::Untouched => vec![Free(asked).statement()?, release],
        AttemptEnd::Failed | AttemptEnd::Told => vec![release],
    };
    ledger.run(&statements).await.map(drop)
}

/// Deletes old operations, up to [`MOST_FORGOTTEN`] at a time.
pub(crate) async fn forget(ledger: &dyn Ledger, now_ms: u64) -> Result<()> {
    let before = now_ms.saturating_sub(KEPT_DAYS * DAY_MS);
    ask(ledger, &Forget { before, most: MOST_FORGOTTEN }).await.map(drop)
}

/// Returns the statement that records an operation together with its outcome. It fails if there is an operation with
/// this ID.
pub(crate) fn recording(asked: &OperationRequest<'_>, outcome: &str) -> Result<Statement> {
    Record { asked, outcome }.statement()
}

#[derive(Serialize)]
struct Record<'a> {
    asked: &'a OperationRequest<'a>,
    outcome: &'a str,
}

impl Query for Record<'_> {
    type Row = ();
    const SQL: &'static str =
        "INSERT INTO operations (id, command, arguments, began, attempted, attempt, done, outcome)
VALUES (?1 ->> '$.asked.id', ?1 ->> '$.asked.command', ?1 ->> '$.asked.arguments', ?1 ->> '$.asked.at', 0,
  ?1 ->> '$.asked.attempt', ?1 ->> '$.asked.at', ?1 ->> '$.outcome')";
}

#[derive(Serialize)]
struct Begin<'a> {
    asked: &'a OperationRequest<'a>,
    stale: u64,
    ahead: u64,
}

/// Inserts an operation, or takes it over from an attempt that failed or took too long. A wrong clock may give an
/// attempt a time far in the future. Such an attempt does not block other attempts. Running the statement twice
/// changes nothing more.
impl Query for Begin<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO operations (id, command, arguments, began, attempted, attempt)
VALUES (?1 ->> '$.asked.id', ?1 ->> '$.asked.command', ?1 ->> '$.asked.arguments',
  ?1 ->> '$.asked.at', ?1 ->> '$.asked.at', ?1 ->> '$.asked.attempt')
ON CONFLICT DO UPDATE SET attempted = excluded.attempted, attempt = excluded.attempt,
  after = iif(operations.attempted = 0 AND ifnull(operations.after, '') <> 'silence', 'failure', 'silence')
WHERE operations.done IS NULL AND operations.attempt <> excluded.attempt
  AND operations.command = excluded.command AND operations.arguments = excluded.arguments
  AND operations.attempted NOT BETWEEN ?1 ->> '$.stale' + 1 AND ?1 ->> '$.ahead'";
}

#[derive(Serialize)]
struct Get<'a> {
    id: &'a str,
}

impl Query for Get<'_> {
    type Row = Operation;
    const SQL: &'static str = "SELECT json_object('command', command, 'arguments', arguments, 'began', began, 'attempt', attempt,
  'after', after, 'done', done, 'outcome', outcome)
FROM operations WHERE id = ?1 ->> '$.id'";
}

#[derive(Serialize)]
struct Finish<'a> {
    asked: &'a OperationRequest<'a>,
    done: u64,
    outcome: &'a str,
}

/// Stores the outcome of the attempt that finishes first. A later attempt changes nothing.
impl Query for Finish<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO operations (id, command, arguments, began, attempted, attempt, done, outcome)
VALUES (?1 ->> '$.asked.id', ?1 ->> '$.asked.command', ?1 ->> '$.asked.arguments',
  ?1 ->> '$.asked.at', ?1 ->> '$.asked.at', ?1 ->> '$.asked.attempt', ?1 ->> '$.done', ?1 ->> '$.outcome')
ON CONFLICT DO UPDATE SET done = excluded.done, outcome = excluded.outcome
WHERE operations.done IS NULL AND operations.command = excluded.command AND operations.arguments = excluded.arguments";
}

#[derive(Serialize)]
struct Release<'a> {
    asked: &'a OperationRequest<'a>,
    is_told: bool,
}

impl Query for Release<'_> {
    type Row = ();
    const SQL: &'static str =
        "UPDATE operations SET attempted = 0, after = iif(?1 ->> '$.is_told', 'silence', after)
WHERE id = ?1 ->> '$.asked.id' AND attempt = ?1 ->> '$.asked.attempt' AND done IS NULL";
}

/// Deletes the operation's row, unless an earlier attempt began it.
#[derive(Serialize)]
struct Free<'a>(&'a OperationRequest<'a>);

impl Query for Free<'_> {
    type Row = ();
    const SQL: &'static str = "DELETE FROM operations
WHERE id = ?1 ->> '$.id' AND attempt = ?1 ->> '$.attempt' AND done IS NULL AND after IS NULL";
}

#[derive(Serialize)]
struct Forget {
    before: u64,
    most: u32,
}

impl Query for Forget {
    type Row = ();
    const SQL: &'static str = "DELETE FROM operations WHERE id IN
  (SELECT id FROM operations WHERE began < ?1 ->> '$.before' ORDER BY began LIMIT ?1 ->> '$.most')";
}
