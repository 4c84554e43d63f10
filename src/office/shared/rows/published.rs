//! The records in Workers KV that several people may change: price lists and profiles. A row is the record. Workers KV
//! has a copy, which the API reads.

use super::port::{Ledger, Query, Result, ask};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A record as its last change left it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PublishedRow {
    /// The name of the copy in Workers KV.
    pub name: String,
    /// The record; `None` if it was removed.
    pub content: Option<Box<RawValue>>,
    /// The name of the change's entry in the audit log.
    pub change: String,
    pub author: String,
    pub by_shop: bool,
    /// When the change was made, in milliseconds since 1970.
    pub at: u64,
}

/// A change of a record.
#[derive(Debug, Serialize)]
pub struct NewVersion {
    /// The change that the person saw as the last one; `None` if it is unknown, or there was none.
    pub seen: Option<String>,
    #[serde(flatten)]
    pub row: PublishedRow,
}

/// Returns a record; `None` if it was never changed in this database. One query.
pub(crate) async fn get(ledger: &dyn Ledger, name: &str) -> Result<Option<PublishedRow>> {
    Ok(ask(ledger, &Get { name }).await?.pop())
}

/// Changes records together.
///
/// # Errors
/// - [`LedgerError::Refused`](super::port::LedgerError::Refused) if one of them has another last change than the person
///   saw. Nothing was changed.
/// - If the ledger does not answer. The records may have been changed then.
pub(crate) async fn change(ledger: &dyn Ledger, versions: &[NewVersion]) -> Result<()> {
    let statements = [AreSeen(versions).statement()?, Put(versions).statement()?];
    ledger.run(&statements).await.map(drop)
}

/// Returns at most `most` records that were changed before `before` (milliseconds since 1970), and whose copies are not
/// [confirmed](confirm), oldest change first. One query.
pub(crate) async fn unconfirmed(
    ledger: &dyn Ledger,
    before: u64,
    most: usize,
) -> Result<Vec<PublishedRow>> {
    ask(ledger, &Unconfirmed { before, most }).await
}

/// Records that Workers KV shows the copy, unless the record was changed again.
pub(crate) async fn confirm(ledger: &dyn Ledger, row: &PublishedRow) -> Result<()> {
    ask(ledger, &Confirm { name: &row.name, change: &row.change }).await.map(drop)
}

/// Forgets all records: from now on, the copies in Workers KV are the records. For a restore, which writes the copies.
pub(crate) async fn forget(ledger: &dyn Ledger) -> Result<()> {
    ask(ledger, &Forget {}).await.map(drop)
}

/// SQL for a row of the table `published`, as JSON.
macro_rules! row {
    () => {
        "SELECT json_object('name', name, 'content', json(content), 'change', change, 'author', author,
  'by_shop', json(iif(by_shop, 'true', 'false')), 'at', at) FROM published "
    };
}

#[derive(Serialize)]
struct Get<'a> {
    name: &'a str,
}

impl Query for Get<'_> {
    type Row = PublishedRow;
    const SQL: &'static str = concat!(row!(), "WHERE name = ?1 ->> '$.name'");
}

/// Fails unless each record's last change is the one that the person saw, or already this one: a call may be repeated.
#[derive(Serialize)]
#[serde(transparent)]
struct AreSeen<'a>(&'a [NewVersion]);

impl Query for AreSeen<'_> {
    type Row = ();
    const SQL: &'static str =
        "INSERT INTO preconditions (kind, holds) SELECT 'version', NOT EXISTS (
  SELECT 1 FROM json_each(?1) new JOIN published p ON p.name = new.value ->> '$.name'
  WHERE p.change IS NOT new.value ->> '$.seen' AND p.change IS NOT new.value ->> '$.change')";
}

#[derive(Serialize)]
#[serde(transparent)]
struct Put<'a>(&'a [NewVersion]);

impl Query for Put<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO published (name, content, change, author, by_shop, at)
SELECT value ->> '$.name', nullif(value -> '$.content', 'null'), value ->> '$.change', value ->> '$.author',
  value ->> '$.by_shop', value ->> '$.at'
FROM json_each(?1) WHERE true
ON CONFLICT DO UPDATE SET content = excluded.content, change = excluded.change, author = excluded.author,
  by_shop = excluded.by_shop, at = excluded.at, is_confirmed = 0";
}

#[derive(Serialize)]
struct Unconfirmed {
    before: u64,
    most: usize,
}

impl Query for Unconfirmed {
    type Row = PublishedRow;
    const SQL: &'static str = concat!(
        row!(),
        "WHERE is_confirmed = 0 AND at < ?1 ->> '$.before' ORDER BY at LIMIT ?1 ->> '$.most'"
    );
}

#[derive(Serialize)]
struct Confirm<'a> {
    name: &'a str,
    change: &'a str,
}

impl Query for Confirm<'_> {
    type Row = ();
    const SQL: &'static str = "UPDATE published SET is_confirmed = 1
WHERE name = ?1 ->> '$.name' AND change = ?1 ->> '$.change'";
}

#[derive(Serialize)]
struct Forget {}

impl Query for Forget {
    type Row = ();
    // D1 refuses a parameter that the statement does not use.
    const SQL: &'static str = "DELETE FROM published WHERE ?1 IS NOT NULL";
}
