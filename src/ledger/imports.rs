//! Updates claims from the records in KV, except claims that take precedence because their change is recent.

use super::claims::{Kind, recent};
use super::{Ledger, Query, Result};
use crate::time::DAY_MS;
use serde::Serialize;
use std::ops::RangeInclusive;

/// One page of KV's list of a kind's records.
#[derive(Serialize)]
pub(super) struct Import<'a> {
    kind: Kind,
    after: &'a str,
    until: Option<&'a str>,
    names: &'a [&'a str],
    since: u64,
    ahead: u64,
    day_ago: u64,
}

impl<'a> Import<'a> {
    /// Describes a page of the list. It begins after the name `after` and ends with `until`, or at the end of the list
    /// for `None`. `names` are all names in between.
    ///
    /// `times` begins when the page was requested and ends now. The page may lack changes that were claimed since it
    /// was requested.
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

/// Updates claims from the records in KV, except those that take precedence. A claim is added for each record without
/// one. A claim without a record is deleted, but the claim of a removal is first kept for a day, because it says who
/// removed the record.
///
/// # Errors
/// If the ledger does not answer.
pub(super) async fn import(ledger: &dyn Ledger, import: &Import<'_>) -> Result<()> {
    let statements =
        [Lost(import).statement()?, Ended(import).statement()?, Found(import).statement()?];
    ledger.run(&statements).await.map(drop)
}

/// SQL that selects claims whose names are within the page's range, but which the page does not list, and which do not
/// take precedence over KV.
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

/// Adds a claim with the time 0 for a record whose change is unknown, so that the record takes precedence.
#[derive(Serialize)]
struct Found<'a>(&'a Import<'a>);

impl Query for Found<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO claims (kind, name, state, change, author, at)
SELECT ?1 ->> '$.kind', value, 'kept', '', '', 0 FROM json_each(?1, '$.names') WHERE true
ON CONFLICT DO UPDATE SET state = 'kept'
WHERE claims.state <> 'kept' AND claims.at NOT BETWEEN ?1 ->> '$.since' AND ?1 ->> '$.ahead'";
}
