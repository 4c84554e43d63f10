//! What a pass of the reconciliation finds that a person has to look at.

use super::{Ledger, Query, Result, ask};
use serde::{Deserialize, Serialize};

/// What a person has to look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What is wrong.
    pub kind: FindingKind,
    /// The name of the record, or the ID of the transaction.
    pub name: String,
    /// When it was found first, in milliseconds since 1970.
    #[serde(default)]
    pub found: u64,
    /// More about it, such as the row.
    pub detail: String,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingKind {
    /// The metadata of a record cannot be read: the transaction is in no sum.
    Damaged,
    /// A row has no record in KV any more: it was removed.
    Gone,
    /// A row was written without quantities, which are too many: they are in no sum, the charge is.
    Large,
    /// A row breaks a constraint: it was not written.
    Refused,
}

/// The first findings, sorted by kind and name, at most so many. One query.
///
/// # Errors
/// If the ledger does not answer.
pub async fn findings(ledger: &dyn Ledger, most: usize) -> Result<Vec<Finding>> {
    ask(ledger, &Findings { most }).await
}

#[derive(Serialize)]
struct Findings {
    most: usize,
}

impl Query for Findings {
    type Row = Finding;
    const SQL: &'static str =
        "SELECT json_object('kind', kind, 'name', name, 'found', found, 'detail', detail)
FROM findings ORDER BY kind, name LIMIT ?1 ->> '$.most'";
}

/// Notes findings of a pass.
#[derive(Serialize)]
pub(super) struct Note<'a> {
    pub now: u64,
    pub pass: u64,
    pub findings: &'a [Finding],
}

impl Query for Note<'_> {
    type Row = u8;
    const SQL: &'static str = "INSERT INTO findings (kind, name, found, pass, detail)
SELECT value ->> '$.kind', value ->> '$.name', ?1 ->> '$.now', ?1 ->> '$.pass', value ->> '$.detail'
FROM json_each(?1, '$.findings') WHERE true
ON CONFLICT DO UPDATE SET pass = excluded.pass, detail = excluded.detail";
}

/// The number of findings.
#[derive(Serialize)]
pub(super) struct CountFindings {}

impl Query for CountFindings {
    type Row = usize;
    const SQL: &'static str = "SELECT json_quote(count(*)) FROM findings";
}

/// Forgets what a whole pass has not found again. What is gone stays: its row is known nowhere else. So does what is too
/// large, which is not read again.
#[derive(Serialize)]
pub(super) struct Forget {
    pub pass: u64,
}

impl Query for Forget {
    type Row = u8;
    const SQL: &'static str =
        "DELETE FROM findings WHERE kind NOT IN ('gone', 'large') AND pass < ?1 ->> '$.pass'";
}
