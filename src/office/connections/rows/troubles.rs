//! Finds the connections that somebody has to look at.

use super::connections::of_unit;
use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use crate::pledges::orders::System;
use crate::pledges::time::DAY_MS;
use serde::{Deserialize, Serialize};

/// How long a delivery may wait before somebody has to look at it, in milliseconds.
const WAITING_MS: u64 = 15 * 60_000;
/// A connection is silent if nothing was received for ten times the average time between its last ten deliveries; but at least
/// for a day, and at the latest after two weeks. Times are in milliseconds.
const LEAST_SILENT_MS: u64 = DAY_MS;
const MOST_SILENT_MS: u64 = 14 * DAY_MS;

/// A connection that somebody has to look at.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Trouble {
    pub connection: String,
    pub unit: String,
    pub system: System,
    /// The shop's address in the system.
    pub store: String,
    /// Number of deliveries that wait because something did not answer.
    pub waiting: u64,
    /// Why missed orders could not be fetched.
    pub problem: Option<String>,
    /// When something was received last, in milliseconds since 1970, if that is unusually long ago.
    pub silent: Option<u64>,
}

/// Returns the connections of a unit, or of all units, that somebody has to look at: at most 100. One query, which reads the last ten
/// deliveries of each connection.
pub(crate) async fn troubles(
    ledger: &dyn Ledger,
    unit: Option<&str>,
    now: u64,
) -> Result<Vec<Trouble>> {
    let before = now.saturating_sub(WAITING_MS);
    let (least, most) = (LEAST_SILENT_MS, MOST_SILENT_MS);
    ask(ledger, &Troubles { unit, now, before, least, most }).await
}

#[derive(Serialize)]
struct Troubles<'a> {
    unit: Option<&'a str>,
    now: u64,
    before: u64,
    least: u64,
    most: u64,
}

impl Query for Troubles<'_> {
    type Row = Trouble;
    const SQL: &'static str = concat!(
        "WITH waits AS MATERIALIZED (
  SELECT connection, count(*) AS number FROM received WHERE outcome = 'waiting' AND at < ?1 ->> '$.before' GROUP BY connection
), connections AS MATERIALIZED (
  SELECT substr(name, 12) AS own, content FROM published ",
        of_unit!(),
        "), times AS MATERIALIZED (
  SELECT own, content, (SELECT max(at) FROM received WHERE connection = own) AS last,
    (SELECT at FROM received WHERE connection = own ORDER BY at DESC LIMIT 1 OFFSET 9) AS tenth FROM connections
), found AS (
  SELECT own, content, ifnull(waits.number, 0) AS waiting, fetches.problem AS problem,
    iif(?1 ->> '$.now' - last > max(?1 ->> '$.least', min(?1 ->> '$.most', (last - tenth) / 9 * 10)), last, NULL) AS silent
  FROM times LEFT JOIN waits ON waits.connection = own
    LEFT JOIN fetches ON fetches.connection = own AND content ->> '$.token' IS NOT NULL
)
SELECT json_object('connection', own, 'unit', content ->> '$.unit', 'system', content ->> '$.system',
  'store', content ->> '$.store', 'waiting', waiting, 'problem', problem, 'silent', silent)
FROM found WHERE waiting > 0 OR problem IS NOT NULL OR silent IS NOT NULL
ORDER BY waiting DESC, own LIMIT 100"
    );
}
