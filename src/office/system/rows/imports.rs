//! Updates the ledger's claims (rows that lock facts) from the records in KV. Skips recent claims, because
//! KV may not show their changes yet.

use crate::office::shared::rows::claims::{Kind, recent};
use crate::office::shared::rows::port::{Ledger, Query, Result};
use crate::pledges::time::DAY_MS;
use serde::Serialize;
use std::ops::RangeInclusive;

/// One page of KV's list of records, from which the ledger's claims of one kind are updated.
#[derive(Serialize)]
pub(crate) struct Import<'a> {
    kind: Kind,
    after: &'a str,
    until: Option<&'a str>,
    names: &'a [&'a str],
    since: u64,
    ahead: u64,
    day_ago: u64,
}

impl<'a> Import<'a> {
    /// Describes a page of KV's list. The page covers the names from `after` (exclusive) to `until`
    /// (inclusive). If `until` is `None`, the page reaches the end of the list. `names` are the names on the
    /// page.
    ///
    /// `times` begins when the page was requested, and ends now. A claim that is recent at any moment in
    /// between takes precedence, because the page may not show its change yet.
    pub fn new(
        kind: Kind,
        (after, until): (&'a str, Option<&'a str>),
        names: &'a [&'a str],
        times: RangeInclusive<u64>,
    ) -> Self {
        let (asked, now) = times.into_inner();
        let (since, ahead) = (*recent(asked).start(), *recent(now).end());
        Import { kind, after, until, names, since, ahead, day_ago: asked.saturating_sub(DAY_MS) }
    }
}

/// Updates claims (rows that lock facts) from the records in KV. Adds a claim for each record without one,
/// and deletes claims without a record. Recent claims take precedence over KV, and stay as they are. The
/// claim of a removal is kept for a day, because it says who removed the record.
pub(crate) async fn import(ledger: &dyn Ledger, import: &Import<'_>) -> Result<()> {
    let statements =
        [Lost(import).statement()?, Ended(import).statement()?, Found(import).statement()?];
    ledger.run(&statements).await.map(drop)
}

/// SQL that selects the claims (rows that lock facts) whose names are in the page's range but not on the
/// page. It leaves out recent claims, which take precedence over KV.
macro_rules! unlisted {
    () => {
        "WHERE kind = ?1 ->> '$.kind' AND name > ?1 ->> '$.after' AND name <= ifnull(?1 ->> '$.until', char(1114111))
  AND at NOT BETWEEN ?1 ->> '$.since' AND ?1 ->> '$.ahead' AND name NOT IN (SELECT value FROM json_each(?1, '$.names'))"
    };
}

#[derive(Serialize)]
struct Lost<'a>(&'a Import<'a>);

impl Query for Lost<'_> {
    type Row = ();
    const SQL: &'static str = concat!(
        "DELETE FROM claims ",
        unlisted!(),
        " AND (state IN ('adding', 'kept') OR at < ?1 ->> '$.day_ago')"
    );
}

#[derive(Serialize)]
struct Ended<'a>(&'a Import<'a>);

impl Query for Ended<'_> {
    type Row = ();
    const SQL: &'static str =
        concat!("UPDATE claims SET state = 'gone' ", unlisted!(), " AND state = 'removing'");
}

/// Adds a claim (a row that locks a fact) for each listed record that has none. The claim has the time 0,
/// so that the record takes precedence. An existing claim that is no longer recent is marked as kept.
#[derive(Serialize)]
struct Found<'a>(&'a Import<'a>);

impl Query for Found<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO claims (kind, name, state, change, author, at)
SELECT ?1 ->> '$.kind', value, 'kept', '', '', 0 FROM json_each(?1, '$.names') WHERE true
ON CONFLICT DO UPDATE SET state = 'kept'
WHERE claims.state <> 'kept' AND claims.at NOT BETWEEN ?1 ->> '$.since' AND ?1 ->> '$.ahead'";
}
