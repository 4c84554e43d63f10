//! Backs up and restores the rows that only the ledger has: people of shops, credits and their requests, fulfilments, updates, decisions about orders of
//! shop systems, and the audit log. A row is a JSON text. A restore never replaces a newer row by an older one, and can be repeated: a person who is there stays as
//! they are, credits never change, a request is decided at most once, a fulfilment is removed at most once, and each change of an update has a higher
//! revision.

use crate::office::audit::rows as audit;
use crate::office::audit::rows::AuditRow;
use crate::office::connections::rows::orders;
use crate::office::connections::rows::orders::KeptOrder;
use crate::office::credit_requests::rows::requests;
use crate::office::credit_requests::rows::requests::RequestRow;
use crate::office::credits::rows as credits;
use crate::office::credits::rows::CreditRow;
use crate::office::fulfilment::rows::fulfilments;
use crate::office::fulfilment::rows::fulfilments::FulfilmentRow;
use crate::office::people::rows::people;
use crate::office::people::rows::people::KeptPerson;
use crate::office::shared::rows::port::{Ledger, LedgerError, Query, Result, Statement, ask};
use crate::office::updates::rows::{changes as update_changes, updates};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use strum::EnumIter;

/// Maximum number of rows on a page.
const MOST: usize = 100;
/// The reason of a credit, and of a request for one, whose transaction is erased.
const ERASED: &str = "erased";

/// A table whose rows only the ledger has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, EnumIter)]
#[serde(rename_all = "lowercase")]
pub enum OwnTable {
    Credits,
    /// Fulfilments, including removed ones.
    Fulfilments,
    /// Updates in every state.
    Updates,
    /// People of shops. Some of them may have been removed since the backup.
    People,
    /// Decisions about orders of shop systems.
    Orders,
    /// Entries of the audit log.
    Audit,
    /// Requests of shops for credits.
    Requests,
}

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
    let sql = match table {
        OwnTable::People => people::PAGE,
        OwnTable::Credits => credits::PAGE,
        OwnTable::Requests => requests::PAGE,
        OwnTable::Fulfilments => fulfilments::PAGE,
        OwnTable::Updates => updates::PAGE,
        OwnTable::Orders => orders::PAGE,
        OwnTable::Audit => audit::PAGE,
    };
    let parameter = format!("{{\"after\":{},\"most\":{MOST}}}", after.unwrap_or("{}"));
    let answers = ledger.run(&[Statement { sql, parameter }]).await?;
    answers.into_iter().next().ok_or(LedgerError::Damaged)
}

/// Writes rows that the ledger lacks, or has in an older version. `erased` are the IDs of erased transactions: their
/// credits lose their reasons. Two calls; if a row breaks a constraint, 1 more for each row.
///
/// # Errors
/// If a row is not valid, or the ledger does not answer. Some of the rows may have been written then.
pub async fn restore(
    ledger: &dyn Ledger,
    table: OwnTable,
    rows: &[String],
    erased: &[String],
) -> Result<OwnRows> {
    let rows: Vec<OwnRow> =
        rows.iter().map(|row| OwnRow::read(table, row, erased)).collect::<Result<_>>()?;
    let before = present(ledger, table, &rows).await?;
    write(ledger, &rows).await?;
    let after = present(ledger, table, &rows).await?;
    let ids = rows.iter().map(|row| &row.id);
    let refused: Vec<_> = ids.filter(|id| !after.contains(id)).cloned().collect();
    let written = after.len().saturating_sub(before.len());
    Ok(OwnRows { written, known: before.len(), refused })
}

/// Fails if the text is not a row of the table.
pub fn check(table: OwnTable, row: &str) -> Result<()> {
    OwnRow::read(table, row, &[]).map(drop)
}

/// A row to write. Its `id` is never used again, so it shows whether another row has taken its place.
struct OwnRow {
    id: String,
    write: Statement,
}

impl OwnRow {
    fn read(table: OwnTable, row: &str, erased: &[String]) -> Result<Self> {
        let (id, write) = match table {
            OwnTable::People => {
                let person: KeptPerson = parsed(row)?;
                let write = people::restoring(&person)?;
                (person.id, write)
            }
            OwnTable::Credits => {
                let mut credit: CreditRow = parsed(row)?;
                if erased.contains(&credit.id) {
                    ERASED.clone_into(&mut credit.reason);
                }
                (credit.operation.clone(), credits::restoring(&credit)?)
            }
            OwnTable::Requests => {
                let mut row: RequestRow = parsed(row)?;
                if erased.contains(&row.id) {
                    row.forget_reasons(ERASED);
                }
                (row.request.clone(), requests::restoring(&row)?)
            }
            OwnTable::Fulfilments => {
                let row: FulfilmentRow = parsed(row)?;
                (row.id.clone(), fulfilments::restoring(&row)?)
            }
            OwnTable::Updates => {
                let row = parsed::<updates::Row>(row)?.into_update();
                (row.id.clone(), update_changes::restoring(&row)?)
            }
            OwnTable::Orders => {
                let order: KeptOrder = parsed(row)?;
                (order.id()?, orders::restoring(&order)?)
            }
            OwnTable::Audit => {
                let row: AuditRow = parsed(row)?;
                let write = audit::adding(std::slice::from_ref(&row))?;
                (row.name, write)
            }
        };
        Ok(OwnRow { id, write })
    }
}

fn parsed<T: DeserializeOwned>(row: &str) -> Result<T> {
    serde_json::from_str(row).map_err(|_| LedgerError::Damaged)
}

/// Writes rows together. If one of them breaks a constraint, writes each row alone, and leaves out
/// the rows that break one.
async fn write(ledger: &dyn Ledger, rows: &[OwnRow]) -> Result<()> {
    let together: Vec<_> = rows.iter().map(|row| row.write.clone()).collect();
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

/// Returns the IDs of those rows that the ledger has, in any version.
async fn present(ledger: &dyn Ledger, table: OwnTable, rows: &[OwnRow]) -> Result<Vec<String>> {
    let ids: Vec<_> = rows.iter().map(|row| &*row.id).collect();
    match table {
        OwnTable::People => ask(ledger, &People { ids }).await,
        OwnTable::Credits => ask(ledger, &Credits { ids }).await,
        OwnTable::Requests => ask(ledger, &Requests { ids }).await,
        OwnTable::Fulfilments => ask(ledger, &Fulfilments { ids }).await,
        OwnTable::Updates => ask(ledger, &Updates { ids }).await,
        OwnTable::Orders => ask(ledger, &Orders { ids }).await,
        OwnTable::Audit => ask(ledger, &Audit { ids }).await,
    }
}

/// Declares a query for those of some IDs that a table has.
macro_rules! present {
    ($name:ident, $sql:literal) => {
        #[derive(Serialize)]
        struct $name<'a> {
            ids: Vec<&'a str>,
        }

        impl Query for $name<'_> {
            type Row = String;
            const SQL: &'static str = $sql;
        }
    };
}

present!(
    People,
    "SELECT json_quote(value) FROM json_each(?1, '$.ids') JOIN people
  ON place = substr(value, 1, instr(value, ' ') - 1) AND address = substr(value, instr(value, ' ') + 1)"
);
present!(
    Credits,
    "SELECT json_quote(operation) FROM json_each(?1, '$.ids') JOIN credits ON operation = value"
);
present!(
    Requests,
    "SELECT json_quote(request) FROM json_each(?1, '$.ids') JOIN credit_requests ON request = value"
);
present!(
    Fulfilments,
    "SELECT json_quote(fulfilments.id) FROM json_each(?1, '$.ids') JOIN fulfilments ON fulfilments.id = value"
);
present!(
    Updates,
    "SELECT json_quote(updates.id) FROM json_each(?1, '$.ids') JOIN updates ON updates.id = value"
);
present!(
    Orders,
    "SELECT json_quote(value) FROM json_each(?1, '$.ids') JOIN shop_orders ON unit = value ->> '$[0]'
  AND mode = value ->> '$[1]' AND system = value ->> '$[2]' AND store = value ->> '$[3]' AND number = value ->> '$[4]'"
);
present!(Audit, "SELECT json_quote(name) FROM json_each(?1, '$.ids') JOIN audit ON name = value");
