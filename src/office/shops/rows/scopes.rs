//! Scopes that have transactions.

use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use crate::pledges::scope::{Mode, Scope};
use serde::Serialize;

/// Returns the scopes that have transactions, for the given units or for all units. One query.
pub async fn scopes(
    ledger: &dyn Ledger,
    mode: Option<Mode>,
    units: Option<&[String]>,
) -> Result<Vec<Scope>> {
    ask(ledger, &Scopes { mode, units }).await
}

/// SQL: a table expression `wanted(scope, mode, unit)` with the requested scopes.
macro_rules! wanted {
    () => {
        "wanted AS (
  SELECT scope, mode, unit FROM scopes
  WHERE (?1 ->> '$.mode' IS NULL OR mode = ?1 ->> '$.mode')
    AND (?1 ->> '$.units' IS NULL OR unit IN (SELECT value FROM json_each(?1, '$.units')))
)"
    };
}
pub(crate) use wanted;

#[derive(Serialize)]
struct Scopes<'a> {
    mode: Option<Mode>,
    units: Option<&'a [String]>,
}

impl Query for Scopes<'_> {
    type Row = Scope;
    const SQL: &'static str = concat!(
        "WITH ",
        wanted!(),
        " SELECT json_object('unit', unit, 'mode', mode) FROM wanted ORDER BY unit, mode"
    );
}
