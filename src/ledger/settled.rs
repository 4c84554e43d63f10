//! Shops whose month is marked as paid, from the claims of settlements.

use super::{Ledger, Query, Result, ask};
use crate::scope::{Mode, Scope};
use crate::settlement::Month;
use crate::store::SettlementKey;
use serde::Serialize;

/// Returns the shops whose month is marked as paid, including shops without transactions. One query.
///
/// # Errors
/// If the ledger does not answer.
pub async fn settled(
    ledger: &dyn Ledger,
    mode: Option<Mode>,
    units: Option<&[String]>,
    month: Month,
) -> Result<Vec<Scope>> {
    let names = ask(ledger, &Settled { month }).await?;
    let shops = names.iter().filter_map(|name| {
        let SettlementKey { mode, unit, month: of } = SettlementKey::parse_suffix(name)?;
        (of == month).then(|| Scope { mode, unit: unit.to_owned() })
    });
    let is_wanted = |shop: &Scope| {
        mode.is_none_or(|mode| mode == shop.mode)
            && units.is_none_or(|units| units.contains(&shop.unit))
    };
    Ok(shops.filter(is_wanted).collect())
}

#[derive(Serialize)]
struct Settled {
    month: Month,
}

impl Query for Settled {
    type Row = String;
    const SQL: &'static str = "SELECT json_quote(name) FROM claims
WHERE kind = 'settlement' AND state IN ('kept', 'removing') AND substr(name, -8) = ':' || (?1 ->> '$.month') ORDER BY name";
}
