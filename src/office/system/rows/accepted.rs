//! Tasks of the home page that a person accepted.

use crate::office::shared::rows::port::{Ledger, Query, Result, Statement, ask};
use serde::{Deserialize, Serialize};
use strum::{EnumIter, IntoStaticStr, VariantNames};

/// The kind of a task that can be accepted: other tasks end once their cause is mended.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    EnumIter,
    IntoStaticStr,
    VariantNames,
    Serialize,
    Deserialize,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum TaskKind {
    /// Unpriced pledges of a month.
    Unpriced,
    /// A transaction with an unusual charge.
    Unusual,
    /// Pledges for an offering in a month of which buyers were told nothing.
    Untold,
    /// A unit without a live transaction.
    Idle,
    /// A finding of the ledger.
    Finding,
    /// A connection to a shop system with a problem.
    Connection,
}

impl TaskKind {
    /// Returns the name, such as `unusual`.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A task that was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedTask {
    pub task: TaskKind,
    /// What the task is about, such as the ID of a transaction.
    pub subject: String,
    /// What was true when the task was accepted.
    pub facts: String,
    pub reason: String,
    pub author: String,
    /// When the task was accepted, in milliseconds since 1970.
    pub at: u64,
}

/// Returns at most `most` accepted tasks, newest first. One query.
pub async fn accepted(ledger: &dyn Ledger, most: usize) -> Result<Vec<AcceptedTask>> {
    ask(ledger, &Accepted { most }).await
}

/// Returns the statement that accepts tasks. A task that was accepted before with other facts is accepted with the new ones.
pub(crate) fn accepting(tasks: &[AcceptedTask]) -> Result<Statement> {
    Accept { tasks }.statement()
}

/// Returns the statement that removes the acceptance of a task.
pub(crate) fn reopening(task: TaskKind, subject: &str) -> Result<Statement> {
    Reopen { task, subject }.statement()
}

#[derive(Serialize)]
struct Reopen<'a> {
    task: TaskKind,
    subject: &'a str,
}

impl Query for Reopen<'_> {
    type Row = ();
    const SQL: &'static str =
        "DELETE FROM accepted_tasks WHERE task = ?1 ->> '$.task' AND subject = ?1 ->> '$.subject'";
}

#[derive(Serialize)]
struct Accepted {
    most: usize,
}

impl Query for Accepted {
    type Row = AcceptedTask;
    const SQL: &'static str =
        "SELECT json_object('task', task, 'subject', subject, 'facts', facts, 'reason', reason,
  'author', author, 'at', at)
FROM accepted_tasks ORDER BY at DESC, task, subject LIMIT ?1 ->> '$.most'";
}

#[derive(Serialize)]
struct Accept<'a> {
    tasks: &'a [AcceptedTask],
}

impl Query for Accept<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT OR REPLACE INTO accepted_tasks (task, subject, facts, reason, author, at)
SELECT value ->> '$.task', value ->> '$.subject', value ->> '$.facts', value ->> '$.reason', value ->> '$.author',
  value ->> '$.at'
FROM json_each(?1, '$.tasks')";
}
