//! Finds the people of units.

use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use serde::Serialize;

/// Maximum number of units in one query.
const MAX_UNITS: usize = 1_000;

/// Returns the addresses of the people who belong to these units, or to a team that has one of them. Sorted, each once. One query per
/// 1,000 units.
pub async fn people_of(ledger: &dyn Ledger, units: &[&str]) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for units in units.chunks(MAX_UNITS) {
        all.extend(ask(ledger, &PeopleOf { units }).await?);
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

#[derive(Serialize)]
struct PeopleOf<'a> {
    units: &'a [&'a str],
}

/// The names of a team's units are between `member:{team}:` and `member:{team};`, because `;` is the character after `:`.
impl Query for PeopleOf<'_> {
    type Row = String;
    const SQL: &'static str = "WITH wanted AS MATERIALIZED (SELECT value AS unit FROM json_each(?1, '$.units')),
teams AS MATERIALIZED (SELECT DISTINCT place FROM people WHERE place > 'team:' AND place < 'team;'),
places AS (
  SELECT 'unit:' || unit AS place FROM wanted
  UNION
  SELECT place FROM teams WHERE EXISTS (
    SELECT 1 FROM published m WHERE m.content IS NOT NULL
      AND m.name > 'member:' || substr(place, 6) || ':' AND m.name < 'member:' || substr(place, 6) || ';'
      AND substr(m.name, length(place) + 4) IN (SELECT unit FROM wanted)
  )
)
SELECT DISTINCT json_quote(p.address) FROM places JOIN people p ON p.place = places.place";
}
