//! Claims are brought in line with the records in KV, where no change of the last minutes counts more.

use super::claims::{Kind, recent};
use super::{Ledger, Query, Result};
use crate::time::DAY_MS;
use serde::Serialize;
use std::ops::RangeInclusive;

/// The facts of a kind that KV has, among the names of a part of its list.
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
    /// The part begins after the name `after`, and ends with `until`; `None`: at the end. `names` are all of it. It was asked
    /// for at the first of `times`, and nothing that was claimed since then is in it.
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

/// Brings claims in line with the records in KV, but for those that count more: facts that are missing are kept, those whose
/// record is gone are forgotten. Who removed a record is known for a day.
///
/// # Errors
/// If the ledger does not answer.
pub(super) async fn import(ledger: &dyn Ledger, import: &Import<'_>) -> Result<()> {
    let statements =
        [Lost(import).statement()?, Ended(import).statement()?, Found(import).statement()?];
    ledger.run(&statements).await.map(drop)
}

/// Claims of the part that are not listed, and do not count more.
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

/// A fact whose change is not known is as old as can be: its record counts.
#[derive(Serialize)]
struct Found<'a>(&'a Import<'a>);

impl Query for Found<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO claims (kind, name, state, change, author, at)
SELECT ?1 ->> '$.kind', value, 'kept', '', '', 0 FROM json_each(?1, '$.names') WHERE true
ON CONFLICT DO UPDATE SET state = 'kept'
WHERE claims.state <> 'kept' AND claims.at NOT BETWEEN ?1 ->> '$.since' AND ?1 ->> '$.ahead'";
}
