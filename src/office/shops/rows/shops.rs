//! Shops that have transactions.

use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use crate::pledges::scope::{Mode, Scope};
use serde::Serialize;

/// Returns the shops that have transactions, for the given units or for all units. One query.
pub async fn shops(
    ledger: &dyn Ledger,
    mode: Option<Mode>,
    units: Option<&[String]>,
) -> Result<Vec<Scope>> {
    let rows = ask(ledger, &Shops { mode, units }).await?;
    Ok(rows.into_iter().map(|(mode, unit)| Scope { mode, unit }).collect())
}

/// SQL: a table expression `wanted(shop, mode, unit)` with the requested shops.
macro_rules! wanted {
    () => {
        "wanted AS (
  SELECT shop, mode, unit FROM shops
  WHERE (?1 ->> '$.mode' IS NULL OR mode = ?1 ->> '$.mode')
    AND (?1 ->> '$.units' IS NULL OR unit IN (SELECT value FROM json_each(?1, '$.units')))
)"
    };
}
pub(crate) use wanted;

#[derive(Serialize)]
struct Shops<'a> {
    mode: Option<Mode>,
    units: Option<&'a [String]>,
}

impl Query for Shops<'_> {
    type Row = (Mode, String);
    const SQL: &'static str = concat!(
        "WITH ",
        wanted!(),
        " SELECT json_array(mode, unit) FROM wanted ORDER BY unit, mode"
    );
}
