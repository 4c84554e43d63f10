//! Removes rows whose record is gone from KV.

use crate::office::shared::rows::port::{Ledger, LedgerError, Query, Result};
use serde::{Deserialize, Serialize};

/// Removes rows, and adds a finding for each. Returns the removed rows. Both changes are in one database
/// transaction, so that no sum changes without an explanation.
pub async fn remove(
    ledger: &dyn Ledger,
    ids: &[String],
    pass: u64,
    now_ms: u64,
) -> Result<Vec<Removed>> {
    let remove = Remove { ids, pass, now: now_ms };
    let answers = ledger.run(&[Name(&remove).statement()?, remove.statement()?]).await?;
    Remove::rows(answers.get(1).ok_or(LedgerError::Damaged)?)
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removed {
    /// The transaction's ID.
    pub id: String,
    /// When the transaction was created, in milliseconds since 1970.
    pub created: u64,
    pub currency: String,
    /// The charge in cents; `None` if it is larger than 9 × 10^15.
    pub cents: Option<u64>,
}

#[derive(Serialize)]
struct Name<'a>(&'a Remove<'a>);

impl Query for Name<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO findings (kind, name, found, pass, detail)
SELECT 'gone', id, ?1 ->> '$.now', ?1 ->> '$.pass',
  json_object('id', id, 'created', created, 'currency', currency, 'cents', cents)
FROM transactions WHERE id IN (SELECT value FROM json_each(?1, '$.ids'))
ON CONFLICT DO UPDATE SET found = excluded.found, pass = excluded.pass, detail = excluded.detail";
}

#[derive(Serialize)]
struct Remove<'a> {
    ids: &'a [String],
    pass: u64,
    now: u64,
}

impl Query for Remove<'_> {
    type Row = Removed;
    const SQL: &'static str =
        "DELETE FROM transactions WHERE id IN (SELECT value FROM json_each(?1, '$.ids'))
RETURNING json_object('id', id, 'created', created, 'currency', currency, 'cents', cents)";
}
