//! Whose deliveries are, as far as the records in Workers KV are kept.

use super::received::MOST;
use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use crate::pledges::store::ReceivedKey;
use serde::Serialize;

/// Returns the IDs of deliveries whose rows do not say whose they are, because they were not read yet, or cannot be read: at most
/// 100 after an ID, in order. One query.
pub(crate) async fn unsettled(ledger: &dyn Ledger, after: &str) -> Result<Vec<String>> {
    ask(ledger, &After { after, most: MOST }).await
}

/// Lists deliveries as waiting, unless they have a row. One query per 100 deliveries.
pub(crate) async fn add(ledger: &dyn Ledger, keys: &[ReceivedKey]) -> Result<()> {
    for keys in keys.chunks(MOST) {
        let rows = keys.iter().map(|key| Unread {
            delivery: key.id(),
            connection: key.connection().as_str(),
            at: key.time_ms(),
        });
        ask(ledger, &Add { rows: rows.collect() }).await?;
    }
    Ok(())
}

/// Returns the IDs of deliveries whose records have data of a person, at most 100. One query.
pub(crate) async fn of_people(ledger: &dyn Ledger, people: &[String]) -> Result<Vec<String>> {
    ask(ledger, &OfPeople { people, most: MOST }).await
}

/// Records that the records of deliveries were deleted, because their buyer was erased. One query.
pub(crate) async fn forget_people(ledger: &dyn Ledger, ids: &[String]) -> Result<()> {
    ask(ledger, &ForgetPeople { ids }).await.map(drop)
}

#[derive(Serialize)]
struct After<'a> {
    after: &'a str,
    most: usize,
}

impl Query for After<'_> {
    type Row = String;
    const SQL: &'static str = "SELECT json_quote(delivery) FROM received
WHERE outcome IN ('waiting', 'unreadable') AND delivery > ?1 ->> '$.after' ORDER BY delivery LIMIT ?1 ->> '$.most'";
}

#[derive(Serialize)]
struct Unread<'a> {
    delivery: String,
    connection: &'a str,
    at: u64,
}

#[derive(Serialize)]
struct Add<'a> {
    rows: Vec<Unread<'a>>,
}

impl Query for Add<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO received (delivery, connection, at, outcome)
SELECT value ->> '$.delivery', value ->> '$.connection', value ->> '$.at', 'waiting' FROM json_each(?1, '$.rows') WHERE true
ON CONFLICT DO NOTHING";
}

#[derive(Serialize)]
struct OfPeople<'a> {
    people: &'a [String],
    most: usize,
}

impl Query for OfPeople<'_> {
    type Row = String;
    const SQL: &'static str = "SELECT json_quote(delivery) FROM received
WHERE person IN (SELECT value FROM json_each(?1, '$.people')) LIMIT ?1 ->> '$.most'";
}

#[derive(Serialize)]
struct ForgetPeople<'a> {
    ids: &'a [String],
}

impl Query for ForgetPeople<'_> {
    type Row = ();
    const SQL: &'static str =
        "UPDATE received SET person = NULL, detail = iif(outcome IN ('waiting', 'unreadable'), 'The buyer was erased.', detail),
  outcome = iif(outcome IN ('waiting', 'unreadable'), 'lost', outcome)
WHERE delivery IN (SELECT value FROM json_each(?1, '$.ids'))";
}
