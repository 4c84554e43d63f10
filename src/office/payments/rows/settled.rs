//! Finds which months of which scopes are marked as paid.

use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use crate::pledges::scope::Mode;
use crate::pledges::settlement::{Month, ScopeMonth};
use crate::pledges::store::SettlementKey;
use serde::Serialize;
use serde_json::value::RawValue;

/// Returns those of these months that are marked as paid, each with its scope and the record of the payment; with `None`,
/// all such months. Includes scopes without transactions. Those of test keys come
/// first, then those of live keys, each sorted by unit and month. Ledger cost: 1 query.
pub(crate) async fn settled(
    ledger: &dyn Ledger,
    mode: Option<Mode>,
    units: Option<&[String]>,
    months: Option<&[Month]>,
) -> Result<Vec<(ScopeMonth, Box<RawValue>)>> {
    let modes: Vec<_> = mode.map_or(vec![Mode::Test, Mode::Live], |mode| vec![mode]);
    let scopes = units.map(|units| {
        let scope = |mode: &Mode, unit: &String| [mode.name(), ":", unit].concat();
        modes.iter().flat_map(|mode| units.iter().map(move |unit| scope(mode, unit))).collect()
    });
    let found = ask(ledger, &Settled { scopes, months }).await?;
    let of = |(name, record): (String, _)| Some((SettlementKey::parse(&name)?, record));
    let is_wanted = |(of, _): &(ScopeMonth, _)| modes.contains(&of.scope.mode);
    Ok(found.into_iter().filter_map(of).filter(is_wanted).collect())
}

#[derive(Serialize)]
struct Settled<'m> {
    /// Modes and units, such as `live:shop`.
    scopes: Option<Vec<String>>,
    months: Option<&'m [Month]>,
}

/// The names of payments are `settlement:{scope}:{month}`. `;` is the character after `:`.
impl Query for Settled<'_> {
    type Row = (String, Box<RawValue>);
    const SQL: &'static str = "SELECT json_array(name, json(content)) FROM published
WHERE name > 'settlement:' AND name < 'settlement;' AND content IS NOT NULL
  AND (?1 ->> '$.months' IS NULL OR substr(name, -7) IN (SELECT value FROM json_each(?1, '$.months')))
  AND (?1 ->> '$.scopes' IS NULL
    OR substr(name, 12, length(name) - 19) IN (SELECT value FROM json_each(?1, '$.scopes')))
ORDER BY substr(name, 12, 4) DESC, name";
}
