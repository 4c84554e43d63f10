//! Lists connections, which are rows of the table `published`.

use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use crate::office::shared::rows::published;
use crate::office::shared::rows::published::PublishedRow;
use crate::pledges::scope::Scope;
use serde::Serialize;

/// Returns the connections of a unit, or of all units, newest first. One query.
pub(crate) async fn all(ledger: &dyn Ledger, unit: Option<&str>) -> Result<Vec<PublishedRow>> {
    ask(ledger, &All { unit }).await
}

/// Returns the units and modes that have connections. One query.
pub(crate) async fn scopes(ledger: &dyn Ledger) -> Result<Vec<Scope>> {
    ask(ledger, &Scopes { unit: None }).await
}

/// An SQL clause that selects the connections of the unit `$.unit`, or of all units.
macro_rules! of_unit {
    () => {
        "WHERE name BETWEEN 'connection:' AND 'connection;' AND content IS NOT NULL
  AND ifnull(content ->> '$.unit' = ?1 ->> '$.unit', ?1 ->> '$.unit' IS NULL)
"
    };
}
pub(super) use of_unit;

#[derive(Serialize)]
struct All<'a> {
    unit: Option<&'a str>,
}

impl Query for All<'_> {
    type Row = PublishedRow;
    const SQL: &'static str =
        concat!(published::row!(), of_unit!(), "ORDER BY at DESC, name LIMIT 500");
}

#[derive(Serialize)]
struct Scopes<'a> {
    unit: Option<&'a str>,
}

impl Query for Scopes<'_> {
    type Row = Scope;
    const SQL: &'static str = concat!(
        "SELECT DISTINCT json_object('mode', content ->> '$.mode', 'unit', content ->> '$.unit') FROM published ",
        of_unit!()
    );
}
