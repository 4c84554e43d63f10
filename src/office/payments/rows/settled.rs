//! Finds which months of which scopes are marked as paid. The ledger has a row, called a claim, for each such
//! month.

use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use crate::pledges::scope::Mode;
use crate::pledges::settlement::{Month, ScopeMonth};
use crate::pledges::store::SettlementKey;
use serde::Serialize;

/// Returns those of these months that are marked as paid, each with its scope; with `None`, all such months. Includes
/// scopes without transactions. Ledger cost: 1 query.
pub async fn settled(
    ledger: &dyn Ledger,
    mode: Option<Mode>,
    units: Option<&[String]>,
    months: Option<&[Month]>,
) -> Result<Vec<ScopeMonth>> {
    let names = ask(ledger, &Settled { months }).await?;
    let settled = names.iter().filter_map(|name| SettlementKey::parse_suffix(name));
    let is_wanted = |ScopeMonth { scope, month }: &ScopeMonth| {
        months.is_none_or(|months| months.contains(month))
            && mode.is_none_or(|mode| mode == scope.mode)
            && units.is_none_or(|units| units.contains(&scope.unit))
    };
    Ok(settled.filter(is_wanted).collect())
}

#[derive(Serialize)]
struct Settled<'m> {
    months: Option<&'m [Month]>,
}

impl Query for Settled<'_> {
    type Row = String;
    const SQL: &'static str = "SELECT json_quote(name) FROM claims
WHERE kind = 'settlement' AND state IN ('kept', 'removing')
  AND (?1 ->> '$.months' IS NULL OR substr(name, -7) IN (SELECT value FROM json_each(?1, '$.months'))) ORDER BY name";
}
