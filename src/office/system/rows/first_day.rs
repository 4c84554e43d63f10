//! What the ledger knows about how far a new service is set up.

use crate::office::shared::rows::port::{Ledger, LedgerError, Query, Result, ask};
use serde::{Deserialize, Serialize};

/// What is there, by what the ledger has. A member is 1 or 0.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Seen {
    pub live: u8,
    pub test: u8,
    /// Whether the first reconciliation is complete.
    pub passed: u8,
    /// Whether a registered unit has a name.
    pub named: u8,
    /// Whether the cron has found a bucket for backups.
    pub bucket: u8,
}

/// Reads it. One query, which reads one row for each part.
pub(crate) async fn seen(ledger: &dyn Ledger) -> Result<Seen> {
    ask(ledger, &Get {}).await?.pop().ok_or(LedgerError::Damaged)
}

#[derive(Serialize)]
struct Get {}

impl Query for Get {
    type Row = Seen;
    // D1 refuses a parameter that the statement does not use.
    const SQL: &'static str = "SELECT json_object(
  'live', EXISTS (SELECT 1 FROM scopes WHERE mode = 'live'),
  'test', EXISTS (SELECT 1 FROM scopes WHERE mode = 'test'),
  'passed', completed IS NOT NULL,
  'named', EXISTS (SELECT 1 FROM names WHERE kind = 'unit' AND name <> ''),
  'bucket', EXISTS (SELECT 1 FROM backup_state))
FROM reconciliation WHERE ?1 IS NOT NULL";
}
