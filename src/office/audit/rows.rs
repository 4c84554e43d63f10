//! The rows of the audit log. Their names sort the newest first.

use crate::office::shared::rows::port::{Ledger, Query, Result, Statement, ask};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AuditRow {
    /// The entry's name, `audit:{inverted time}:{random}`.
    pub name: String,
    /// The entry, as JSON.
    pub content: String,
}

/// Returns the statement that adds entries. Entries that are there stay as they are.
pub(crate) fn adding(rows: &[AuditRow]) -> Result<Statement> {
    Add(rows).statement()
}

/// Returns at most `most` entries whose names follow `after`: newest first. One query.
pub(crate) async fn page(ledger: &dyn Ledger, after: &str, most: usize) -> Result<Vec<AuditRow>> {
    ask(ledger, &Page { after, most }).await
}

/// Returns an entry; `None` if the ledger does not have it. One query.
pub(crate) async fn get(ledger: &dyn Ledger, name: &str) -> Result<Option<AuditRow>> {
    Ok(ask(ledger, &Get { name }).await?.pop())
}

/// Returns those of some names that the ledger does not have. One query.
pub(crate) async fn missing(ledger: &dyn Ledger, names: &[String]) -> Result<Vec<String>> {
    ask(ledger, &Missing { names }).await
}

#[derive(Serialize)]
#[serde(transparent)]
struct Add<'a>(&'a [AuditRow]);

impl Query for Add<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO audit (name, content)
SELECT value ->> '$.name', value ->> '$.content' FROM json_each(?1) WHERE true ON CONFLICT DO NOTHING";
}

#[derive(Serialize)]
struct Page<'a> {
    after: &'a str,
    most: usize,
}

impl Query for Page<'_> {
    type Row = AuditRow;
    const SQL: &'static str = "SELECT json_object('name', name, 'content', content) FROM audit
WHERE name > ?1 ->> '$.after' ORDER BY name LIMIT ?1 ->> '$.most'";
}

#[derive(Serialize)]
struct Get<'a> {
    name: &'a str,
}

impl Query for Get<'_> {
    type Row = AuditRow;
    const SQL: &'static str = "SELECT json_object('name', name, 'content', content) FROM audit WHERE name = ?1 ->> '$.name'";
}

#[derive(Serialize)]
struct Missing<'a> {
    names: &'a [String],
}

impl Query for Missing<'_> {
    type Row = String;
    const SQL: &'static str = "SELECT json_quote(value) FROM json_each(?1, '$.names')
WHERE NOT EXISTS (SELECT 1 FROM audit WHERE name = value) ORDER BY value";
}
