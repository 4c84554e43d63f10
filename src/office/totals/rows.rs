//! Which units publish a total, and up to which day it was written. The reconciliation copies from the profiles which units
//! these are ([names](crate::office::shops::rows::names)).

use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use serde::Serialize;

/// Returns at most `most` units whose total does not count up to `day` yet, in days since 1970. Those that were tried
/// longest ago come first. One query.
pub(crate) async fn due(ledger: &dyn Ledger, day: u64, most: usize) -> Result<Vec<String>> {
    ask(ledger, &Due { day, most }).await
}

/// Returns at most `most` units that have a total, but no longer publish it. One query.
pub(crate) async fn ended(ledger: &dyn Ledger, most: usize) -> Result<Vec<String>> {
    ask(ledger, &Ended { most }).await
}

/// Records that a total is about to be written. `now` is in milliseconds since 1970. One query.
pub(crate) async fn begin(ledger: &dyn Ledger, unit: &str, now: u64) -> Result<()> {
    ask(ledger, &Begin { unit, now }).await.map(drop)
}

/// Records up to which day a total counts. One query.
pub(crate) async fn end(ledger: &dyn Ledger, unit: &str, day: u64) -> Result<()> {
    ask(ledger, &End { unit, day }).await.map(drop)
}

/// Forgets a unit whose total was removed. One query.
pub(crate) async fn forget(ledger: &dyn Ledger, unit: &str) -> Result<()> {
    ask(ledger, &Forget { unit }).await.map(drop)
}

#[derive(Serialize)]
struct Due {
    day: u64,
    most: usize,
}

impl Query for Due {
    type Row = String;
    const SQL: &'static str =
        "SELECT json_quote(id) FROM names LEFT JOIN public_totals ON unit = id
WHERE kind = 'unit' AND has_total = 1 AND ifnull(counted, 0) < ?1 ->> '$.day'
ORDER BY ifnull(tried, 0), id LIMIT ?1 ->> '$.most'";
}

#[derive(Serialize)]
struct Ended {
    most: usize,
}

impl Query for Ended {
    type Row = String;
    const SQL: &'static str = "SELECT json_quote(unit) FROM public_totals
WHERE NOT EXISTS (SELECT 1 FROM names WHERE kind = 'unit' AND id = unit AND has_total = 1)
ORDER BY unit LIMIT ?1 ->> '$.most'";
}

#[derive(Serialize)]
struct Begin<'a> {
    unit: &'a str,
    now: u64,
}

impl Query for Begin<'_> {
    type Row = ();
    const SQL: &'static str =
        "INSERT INTO public_totals (unit, counted, tried) SELECT ?1 ->> '$.unit', 0, ?1 ->> '$.now'
WHERE true ON CONFLICT DO UPDATE SET tried = excluded.tried";
}

#[derive(Serialize)]
struct End<'a> {
    unit: &'a str,
    day: u64,
}

impl Query for End<'_> {
    type Row = ();
    const SQL: &'static str =
        "UPDATE public_totals SET counted = ?1 ->> '$.day' WHERE unit = ?1 ->> '$.unit'";
}

#[derive(Serialize)]
struct Forget<'a> {
    unit: &'a str,
}

impl Query for Forget<'_> {
    type Row = ();
    const SQL: &'static str = "DELETE FROM public_totals WHERE unit = ?1 ->> '$.unit'";
}
