//! Backs up and restores the rows that only the ledger has. A row is a JSON object of its columns, as text. A restore never
//! replaces a newer row by an older one, and can be repeated.

pub use super::own_tables::OwnTable;
use super::own_tables::{Sql, names};
use crate::office::people::rows::people::parse_place;
use crate::office::shared::rows::port::{Ledger, LedgerError, Result, Statement};
use serde::Serialize;
use serde_json::{Map, Value};

/// Maximum number of rows on a page.
const MOST: usize = 100;

/// The outcome of writing rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OwnRows {
    pub written: usize,
    pub known: usize,
    /// The IDs of the rows that could not be written, because other rows have taken their place.
    pub refused: Vec<String>,
}

/// Returns a page of a table's rows. `after` is the last row of the previous page; `None` for the first page. The last
/// page has no row. One query.
pub async fn page(
    ledger: &dyn Ledger,
    table: OwnTable,
    after: Option<&str>,
) -> Result<Vec<String>> {
    let parameter = format!("{{\"after\":{},\"most\":{MOST}}}", after.unwrap_or("{}"));
    ask(ledger, Statement { sql: &sql(table)?.page, parameter }).await
}

/// Writes rows that the ledger lacks, or has in an older version. `erased` are the IDs of erased transactions: their
/// credits and requests lose their reasons, and their notes stay deleted. Two calls; if a row breaks a constraint, 1 more
/// for each row.
///
/// # Errors
/// If a row is not valid, or the ledger does not answer. Some of the rows may have been written then.
pub async fn restore(
    ledger: &dyn Ledger,
    table: OwnTable,
    rows: &[String],
    erased: &[String],
) -> Result<OwnRows> {
    let mut read = rows.iter().map(|row| parsed(table, row)).collect::<Result<Vec<_>>>()?;
    read.retain_mut(|row| !is_erased(row, erased) || (table.table().erase)(row));
    let before = present(ledger, table, &read).await?;
    write(ledger, table, &read).await?;
    let after = present(ledger, table, &read).await?;
    let refused = read.iter().enumerate().filter(|(at, _)| !after.contains(at));
    let refused = refused.map(|(_, row)| id(table, row)).collect();
    let written = after.len().saturating_sub(before.len());
    Ok(OwnRows { written, known: before.len(), refused })
}

fn is_erased(row: &Row, erased: &[String]) -> bool {
    row.get("id").and_then(Value::as_str).is_some_and(|id| erased.iter().any(|it| it == id))
}

/// Fails if the text is not a row of the table.
pub fn check(table: OwnTable, row: &str) -> Result<()> {
    parsed(table, row).map(drop)
}

/// A row: a text, a number or `null` for each column.
type Row = Map<String, Value>;

fn parsed(table: OwnTable, row: &str) -> Result<Row> {
    let row: Row = serde_json::from_str(row).map_err(|_| LedgerError::Damaged)?;
    let columns = table.table().columns;
    let has_all = names(columns).all(|column| row.contains_key(column));
    let has_others = row.len() != names(columns).count();
    let is_flat = row.values().all(|it| it.is_string() || it.is_number() || it.is_null());
    let place = row.get("place").and_then(Value::as_str);
    let is_there = table != OwnTable::People || place.and_then(parse_place).is_some();
    (has_all && !has_others && is_flat && is_there).then_some(row).ok_or(LedgerError::Damaged)
}

/// Returns a text that identifies the row.
fn id(table: OwnTable, row: &Row) -> String {
    let value = |column| match row.get(column) {
        Some(Value::String(text)) => text.clone(),
        other => other.map(Value::to_string).unwrap_or_default(),
    };
    names(table.table().identity).map(value).collect::<Vec<_>>().join(" ")
}

/// Writes rows together. If one of them breaks a constraint, writes each row alone, and leaves out
/// the rows that break one.
async fn write(ledger: &dyn Ledger, table: OwnTable, rows: &[Row]) -> Result<()> {
    let together: Vec<_> = rows
        .iter()
        .map(|row| Ok(Statement { sql: &sql(table)?.restore, parameter: json(row)? }))
        .collect::<Result<_>>()?;
    match ledger.run(&together).await {
        Err(LedgerError::Refused(_)) => {}
        done => return done.map(drop),
    }
    for one in &together {
        match ledger.run(std::slice::from_ref(one)).await {
            Ok(_) | Err(LedgerError::Refused(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Returns the positions of those rows that the ledger has, in any version.
async fn present(ledger: &dyn Ledger, table: OwnTable, rows: &[Row]) -> Result<Vec<usize>> {
    let statement = Statement { sql: &sql(table)?.present, parameter: json(rows)? };
    let found = ask(ledger, statement).await?;
    found.iter().map(|at| at.parse().map_err(|_| LedgerError::Damaged)).collect()
}

fn sql(table: OwnTable) -> Result<&'static Sql> {
    table.sql().ok_or(LedgerError::Damaged)
}

fn json(value: &(impl Serialize + ?Sized)) -> Result<String> {
    serde_json::to_string(value).map_err(|_| LedgerError::Damaged)
}

async fn ask(ledger: &dyn Ledger, statement: Statement) -> Result<Vec<String>> {
    ledger.run(&[statement]).await?.into_iter().next().ok_or(LedgerError::Damaged)
}
