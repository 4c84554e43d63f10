//! Findings: problems that a reconciliation pass cannot correct, so that a person has to check them.

use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// A problem that a person has to check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub kind: FindingKind,
    /// The name of the record, or the ID of the transaction.
    pub name: String,
    /// When the problem was first found, in milliseconds since 1970.
    #[serde(default)]
    pub found: u64,
    /// Details of the problem, such as the row.
    pub detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum FindingKind {
    /// After a loss of rows, a record was taken from its copy in KV, and the audit log lacks the entry of its change.
    Copy,
    /// The metadata of a record cannot be read, so the transaction is missing from all sums.
    Damaged,
    /// A row was removed, because its record was no longer in KV.
    Gone,
    /// A row was written without quantities, because they are too large. Sums include the charge of the transaction,
    /// but not its quantities.
    Large,
    /// A row was not written because it breaks a constraint.
    Refused,
    /// After a loss of rows, Workers KV has updates that the database lacks.
    Update,
}

impl FindingKind {
    /// Returns the name, such as `damaged`.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Returns up to `most` findings, sorted by kind and name. One query.
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

/// Stores findings. A finding that is already stored gets the new details.
#[derive(Serialize)]
pub(crate) struct Note<'a> {
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

#[derive(Serialize)]
pub(crate) struct CountFindings {}

impl Query for CountFindings {
    type Row = usize;
    const SQL: &'static str = "SELECT json_quote(count(*)) FROM findings";
}

/// Deletes findings that the last complete reconciliation pass did not find again. Keeps the kinds that a pass does not
/// find again: `copy`, `gone`, `update`, and `large`, as it does not read large records again.
#[derive(Serialize)]
pub(crate) struct Forget {
    pub pass: u64,
}

impl Query for Forget {
    type Row = u8;
    const SQL: &'static str = "DELETE FROM findings WHERE kind NOT IN ('copy', 'gone', 'large', 'update') AND pass < ?1 ->> '$.pass'";
}
