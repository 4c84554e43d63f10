//! The records in Workers KV that several people may change: price lists, profiles, payments of months, and memberships
//! of teams. A row is the record. Workers KV has a copy, which the API reads.

use super::port::{Ledger, Query, Result, Statement, ask};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A record as its last change left it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PublishedRow {
    /// The name of the copy in Workers KV.
    pub name: String,
    /// The record; `None` if it was removed.
    pub content: Option<Box<RawValue>>,
    /// The name of the change's entry in the audit log; empty if unknown.
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

/// Returns those of some records that were changed in this database, sorted by name. One query per 1,000 names.
pub(crate) async fn get_all(ledger: &dyn Ledger, names: &[String]) -> Result<Vec<PublishedRow>> {
    let mut found = Vec::new();
    for names in names.chunks(MOST_NAMES) {
        found.extend(ask(ledger, &GetAll { names }).await?);
    }
    Ok(found)
}

/// Returns the statements that change records together. The first one fails if one of the records has another last change
/// than the person saw.
pub(crate) fn changing(versions: &[NewVersion]) -> Result<[Statement; 2]> {
    Ok([AreSeen(versions).statement()?, Put(versions).statement()?])
}

/// Adds records as Workers KV has them, except those that have a row which is as new. A change that the audit log lacks is
/// newer, whatever its time says: clocks differ. The copies are compared as those of old records. If the audit log lacks the
/// entry of an added change, notes a finding. `now` is in milliseconds since 1970. One call per 1,000 records.
pub(crate) async fn adopt(ledger: &dyn Ledger, now: u64, rows: &[PublishedRow]) -> Result<()> {
    for rows in rows.chunks(MOST_NAMES) {
        ledger.run(&[Adopt(rows).statement()?, FindCopies { now, rows }.statement()?]).await?;
    }
    Ok(())
}

/// Returns at most `most` records whose copies have to be compared: those that were changed before `before`, and not
/// [confirmed](confirm) since `confirmed`. Those that were never confirmed come first, oldest change first. Times are
/// milliseconds since 1970. One query.
pub(crate) async fn to_compare(
    ledger: &dyn Ledger,
    before: u64,
    confirmed: u64,
    most: usize,
) -> Result<Vec<PublishedRow>> {
    ask(ledger, &ToCompare { before, confirmed, most }).await
}

/// Records that Workers KV shows these copies at a time, or does not show them (0). Leaves out records that were changed
/// again. One query.
pub(crate) async fn confirm(
    ledger: &dyn Ledger,
    rows: &[PublishedRow],
    confirmed: u64,
) -> Result<()> {
    let rows: Vec<_> = rows.iter().map(|row| [&*row.name, &*row.change]).collect();
    match rows.as_slice() {
        [] => Ok(()),
        rows => ask(ledger, &Confirm { rows, confirmed }).await.map(drop),
    }
}

/// Prepares rows for copies that a restore has written. Forgets price lists and profiles: from now on, their copies are
/// the records. The copies of all other records will be compared with their rows again.
pub(crate) async fn forget(ledger: &dyn Ledger) -> Result<()> {
    ledger.run(&[Forget {}.statement()?, CompareAgain {}.statement()?]).await.map(drop)
}

/// Lets all copies be compared again, as copies of old records: after the database was set back, and for records of the demo,
/// which were written just now but are dated in the past. One query.
pub(crate) async fn compare_again(ledger: &dyn Ledger) -> Result<()> {
    ask(ledger, &CompareAgain {}).await.map(drop)
}

/// Maximum number of records in a statement: D1 accepts a text of 2 MB, and a name has at most 512 bytes.
const MOST_NAMES: usize = 1_000;

/// SQL for a row of the table `published`, as JSON.
macro_rules! row {
    () => {
        "SELECT json_object('name', name, 'content', json(content), 'change', change, 'author', author,
  'by_shop', json(iif(by_shop, 'true', 'false')), 'at', at) FROM published "
    };
}
pub(crate) use row;

#[derive(Serialize)]
struct Get<'a> {
    name: &'a str,
}

impl Query for Get<'_> {
    type Row = PublishedRow;
    const SQL: &'static str = concat!(row!(), "WHERE name = ?1 ->> '$.name'");
}

#[derive(Serialize)]
struct GetAll<'a> {
    names: &'a [String],
}

impl Query for GetAll<'_> {
    type Row = PublishedRow;
    const SQL: &'static str =
        concat!(row!(), "WHERE name IN (SELECT value FROM json_each(?1, '$.names')) ORDER BY name");
}

/// Fails unless each record's last change is the one that the person saw.
#[derive(Serialize)]
#[serde(transparent)]
struct AreSeen<'a>(&'a [NewVersion]);

impl Query for AreSeen<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO preconditions (holds) SELECT NOT EXISTS (
  SELECT 1 FROM json_each(?1) new JOIN published p ON p.name = new.value ->> '$.name'
  WHERE p.change <> ifnull(new.value ->> '$.seen', ''))";
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
  by_shop = excluded.by_shop, at = excluded.at, confirmed = 0";
}

#[derive(Serialize)]
#[serde(transparent)]
struct Adopt<'a>(&'a [PublishedRow]);

impl Query for Adopt<'_> {
    type Row = ();
    const SQL: &'static str =
        "INSERT INTO published (name, content, change, author, by_shop, at, confirmed)
SELECT value ->> '$.name', nullif(value -> '$.content', 'null'), value ->> '$.change', value ->> '$.author', value ->> '$.by_shop',
  value ->> '$.at', 1
FROM json_each(?1) WHERE true
ON CONFLICT DO UPDATE SET content = excluded.content, change = excluded.change, author = excluded.author,
  by_shop = excluded.by_shop, at = excluded.at, confirmed = 1
WHERE excluded.at > published.at OR excluded.change NOT IN ('', published.change)
  AND NOT EXISTS (SELECT 1 FROM audit WHERE name = excluded.change)";
}

/// Notes a finding for each of the records that is as given, if the audit log lacks the entry of its last change.
#[derive(Serialize)]
struct FindCopies<'a> {
    now: u64,
    rows: &'a [PublishedRow],
}

impl Query for FindCopies<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO findings (kind, name, found, pass, detail)
SELECT 'copy', p.name, ?1 ->> '$.now', 0, iif(p.content IS NULL, 'removed by ', 'by ') || p.author
FROM json_each(?1, '$.rows') given
JOIN published p ON p.name = given.value ->> '$.name' AND p.change = given.value ->> '$.change'
WHERE p.change <> '' AND NOT EXISTS (SELECT 1 FROM audit WHERE audit.name = p.change)
ON CONFLICT DO UPDATE SET detail = excluded.detail";
}

#[derive(Serialize)]
struct ToCompare {
    before: u64,
    confirmed: u64,
    most: usize,
}

impl Query for ToCompare {
    type Row = PublishedRow;
    const SQL: &'static str = concat!(
        row!(),
        "WHERE confirmed < ?1 ->> '$.confirmed' AND at < ?1 ->> '$.before'
ORDER BY confirmed, at LIMIT ?1 ->> '$.most'"
    );
}

#[derive(Serialize)]
struct Confirm<'a> {
    rows: &'a [[&'a str; 2]],
    confirmed: u64,
}

impl Query for Confirm<'_> {
    type Row = ();
    const SQL: &'static str =
        "UPDATE published SET confirmed = ?1 ->> '$.confirmed' WHERE (name, change) IN
  (SELECT value ->> '$[0]', value ->> '$[1]' FROM json_each(?1, '$.rows'))";
}

/// Counts the copies that Workers KV does not show although their records were changed before `before` (milliseconds
/// since 1970). Returns the number, and the time of the first such change.
#[derive(Serialize)]
pub(crate) struct CountUnpublished {
    pub before: u64,
}

impl Query for CountUnpublished {
    type Row = (usize, Option<u64>);
    const SQL: &'static str = "SELECT json_array(count(*), min(at)) FROM published
WHERE confirmed = 0 AND at < ?1 ->> '$.before'";
}

#[derive(Serialize)]
struct Forget {}

impl Query for Forget {
    type Row = ();
    // D1 refuses a parameter that the statement does not use.
    const SQL: &'static str = "DELETE FROM published WHERE ?1 IS NOT NULL AND name NOT LIKE 'settlement:%' AND name NOT LIKE 'member:%' AND name NOT LIKE 'connection:%'";
}

#[derive(Serialize)]
struct CompareAgain {}

impl Query for CompareAgain {
    type Row = ();
    const SQL: &'static str = "UPDATE published SET confirmed = 1 WHERE ?1 IS NOT NULL";
}
