//! How far the orders of connections were fetched.

use crate::office::shared::rows::port::{Ledger, Query, Result, Statement, ask};
use crate::pledges::orders::ConnectionId;
use serde::{Deserialize, Serialize};

/// How far the orders of a connection were fetched. Times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchRow {
    pub connection: ConnectionId,
    /// The last change that was fetched.
    pub since: u64,
    /// The orders that the next fetch lists again: the times of their changes, and hashes of them.
    pub seen: Vec<(u64, String)>,
    /// When to fetch again.
    pub due: u64,
    /// When a fetch reached the end of the list last.
    pub done: Option<u64>,
    /// Why the last fetch failed.
    pub problem: Option<String>,
    /// Counts how often somebody set `since`.
    pub version: u64,
}

/// Returns the connections with a token whose orders have to be fetched, longest due first. One query.
pub(crate) async fn due(ledger: &dyn Ledger, now: u64, most: usize) -> Result<Vec<FetchRow>> {
    ask(ledger, &Due { now, most }).await
}

/// Returns how far the orders of a connection were fetched; `None` if it has no token. One query.
pub(crate) async fn get(
    ledger: &dyn Ledger,
    connection: &ConnectionId,
) -> Result<Option<FetchRow>> {
    Ok(ask(ledger, &Get { connection }).await?.pop())
}

/// Writes how far the orders of a connection were fetched, unless somebody set the time meanwhile. One query.
pub(crate) async fn keep(ledger: &dyn Ledger, row: &FetchRow) -> Result<()> {
    ask(ledger, &Keep(row)).await.map(drop)
}

/// Returns the statement that lets the orders of a connection be fetched from a time on.
pub(crate) fn restarting(connection: &ConnectionId, since: u64) -> Result<Statement> {
    Restart { connection, since }.statement()
}

/// SQL for a connection with a token, as JSON. Before its first fetch, it has no row.
macro_rules! fetched {
    () => {
        "SELECT json_object('connection', substr(p.name, 12), 'since', ifnull(f.since, p.content ->> '$.token.since'),
  'seen', json(ifnull(f.seen, '[]')), 'due', ifnull(f.due, 0), 'done', f.done, 'problem', f.problem,
  'version', ifnull(f.version, 0))
FROM published p LEFT JOIN fetches f ON f.connection = substr(p.name, 12)
WHERE p.content ->> '$.token' IS NOT NULL "
    };
}

#[derive(Serialize)]
struct Due {
    now: u64,
    most: usize,
}

impl Query for Due {
    type Row = FetchRow;
    const SQL: &'static str = concat!(
        fetched!(),
        "AND p.name BETWEEN 'connection:' AND 'connection;' AND ifnull(f.due, 0) <= ?1 ->> '$.now'
ORDER BY ifnull(f.due, 0), p.name LIMIT ?1 ->> '$.most'"
    );
}

#[derive(Serialize)]
struct Get<'a> {
    connection: &'a ConnectionId,
}

impl Query for Get<'_> {
    type Row = FetchRow;
    const SQL: &'static str =
        concat!(fetched!(), "AND p.name = 'connection:' || (?1 ->> '$.connection')");
}

#[derive(Serialize)]
#[serde(transparent)]
struct Keep<'a>(&'a FetchRow);

impl Query for Keep<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO fetches (connection, since, seen, due, done, problem, version)
VALUES (?1 ->> '$.connection', ?1 ->> '$.since', ?1 -> '$.seen', ?1 ->> '$.due', ?1 ->> '$.done', ?1 ->> '$.problem',
  ?1 ->> '$.version')
ON CONFLICT DO UPDATE SET since = excluded.since, seen = excluded.seen, due = excluded.due, done = excluded.done,
  problem = excluded.problem WHERE version = excluded.version";
}

#[derive(Serialize)]
struct Restart<'a> {
    connection: &'a ConnectionId,
    since: u64,
}

impl Query for Restart<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO fetches (connection, since, seen, due, version)
VALUES (?1 ->> '$.connection', ?1 ->> '$.since', '[]', 0, 1)
ON CONFLICT DO UPDATE SET since = excluded.since, seen = '[]', due = 0, problem = NULL, version = version + 1";
}
