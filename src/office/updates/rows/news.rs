//! The updates of which buyers still have to be told by e-mail.

use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use crate::pledges::settlement::Month;
use serde::{Deserialize, Serialize};

/// A walk through the list of buyers to tell. It has a position, from which the next step continues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walk {
    /// The month of the pledges.
    pub month: Month,
    pub offering: String,
    /// When the walk was to begin, in milliseconds since 1970.
    due: u64,
    /// The cursor of the next page of KV's list.
    pub cursor: Option<String>,
    /// The last name of the page before.
    pub after: String,
    /// Whether another walk follows in the next month.
    again: bool,
    /// The IDs of the published updates which say that something was done, or verified.
    pub updates: Vec<String>,
}

/// Returns the walk that has been due longest; `None` if none is. One query.
pub async fn due(ledger: &dyn Ledger, now_ms: u64) -> Result<Option<Walk>> {
    Ok(ask(ledger, &Due { now_ms }).await?.pop())
}

/// Moves a walk, unless an update was published or another process has moved it in the meantime. One query.
pub async fn advance(
    ledger: &dyn Ledger,
    walk: &Walk,
    cursor: Option<&str>,
    after: &str,
) -> Result<()> {
    ask(ledger, &Advance { walk, cursor, after }).await.map(drop)
}

/// Ends a walk, or puts it off to `next_ms` if another one follows. Does nothing if an update was published or another process
/// has moved the walk in the meantime. One call.
pub async fn end(ledger: &dyn Ledger, walk: &Walk, next_ms: u64) -> Result<()> {
    match walk.again && !walk.updates.is_empty() {
        true => ask(ledger, &PutOff { walk, next_ms }).await.map(drop),
        false => ask(ledger, &End { walk }).await.map(drop),
    }
}

#[derive(Serialize)]
struct Due {
    now_ms: u64,
}

impl Query for Due {
    type Row = Walk;
    const SQL: &'static str = "SELECT json_object('month', month, 'offering', offering, 'due', due, 'cursor', cursor,
  'after', after, 'again', json(iif(again, 'true', 'false')), 'updates', json((SELECT json_group_array(id) FROM updates
    WHERE month = news.month AND mode = 'live' AND offering = news.offering AND state = 'published'
      AND content ->> '$.stage' IN ('done', 'verified'))))
FROM news WHERE due <= ?1 ->> '$.now_ms' AND NOT EXISTS (SELECT 1 FROM update_records WHERE month = news.month
  AND mode = 'live' AND offering = news.offering AND compiled IS NOT revision) ORDER BY due LIMIT 1";
}

/// SQL condition that selects a walk where it was found.
macro_rules! found {
    () => {
        " WHERE month = ?1 ->> '$.walk.month' AND offering = ?1 ->> '$.walk.offering' AND due = ?1 ->> '$.walk.due'
  AND after = ?1 ->> '$.walk.after'"
    };
}

#[derive(Serialize)]
struct Advance<'a> {
    walk: &'a Walk,
    cursor: Option<&'a str>,
    after: &'a str,
}

impl Query for Advance<'_> {
    type Row = ();
    const SQL: &'static str =
        concat!("UPDATE news SET cursor = ?1 ->> '$.cursor', after = ?1 ->> '$.after'", found!());
}

#[derive(Serialize)]
struct PutOff<'a> {
    walk: &'a Walk,
    next_ms: u64,
}

impl Query for PutOff<'_> {
    type Row = ();
    const SQL: &'static str = concat!(
        "UPDATE news SET due = ?1 ->> '$.next_ms', cursor = NULL, after = '', again = 0",
        found!()
    );
}

#[derive(Serialize)]
struct End<'a> {
    walk: &'a Walk,
}

impl Query for End<'_> {
    type Row = ();
    const SQL: &'static str = concat!("DELETE FROM news", found!());
}
