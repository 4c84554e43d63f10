//! The ledger: a D1 database of all transactions. It serves operators' lists and sums, locks facts that two people may
//! change at the same time, and makes each operation take effect once.
//!
//! The records in Workers KV remain the system of record. A row is made from the metadata of a record ([`Entry`]). It
//! arrives by a message that the service sends ([`receive`]), or by the [reconciliation](reconcile) with KV, whose
//! watermark says up to when the ledger is complete. All SQL is in this module; `migrations/` defines the tables.
//!
//! Each statement has one parameter, a JSON text, and each row of its answer is one JSON text. So no number is rounded,
//! and D1's limit of 100 parameters does not matter.

mod changed;
mod check;
pub mod claims;
pub mod credits;
mod entry;
mod findings;
pub mod fulfilments;
mod health;
mod imports;
mod kept;
mod listing;
mod money;
pub mod operations;
mod orders;
mod page;
mod quantities;
mod receive;
mod reconcile;
mod removal;
mod settled;
mod shops;
mod state;
mod sums;
mod upkeep;

pub use changed::{ChangedPage, Next, changed};
pub use check::{CheckReport, check, clear};
pub use entry::{Entry, Origin, stored_quantities, write};
pub use findings::{Finding, FindingKind, findings};
pub use health::{Health, MAX_BYTES, Pass, health};
pub use kept::keep_from;
pub use orders::{Direction, Filter, Order, OrderPage, PageCursor, by_email, by_reference, orders};
pub use quantities::{OfferingSum, quantities};
pub use receive::{Delivered, Verdict, load, receive};
pub use reconcile::{Counts, PassOutcome, PassTiming, reconcile};
pub use removal::Removed;
pub use settled::settled;
pub use shops::shops;
pub use state::{Part, SHOWN_AFTER_MS, State, state};
pub use sums::{MonthSum, months_of, sums};
pub use upkeep::{Limits, Upkeep, holder, keep_up};

use crate::store::StoreError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::pin::Pin;

/// An SQL statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Statement {
    /// The SQL. Each row of the answer has one column, a JSON text.
    pub sql: &'static str,
    /// The parameter `?1`, a JSON text.
    pub parameter: String,
}

/// The rows of an answer, each a JSON text.
pub type Rows = Vec<String>;

/// The future answers of statements.
pub type QueryFuture<'l> = Pin<Box<dyn Future<Output = Result<Vec<Rows>, LedgerError>> + 'l>>;

/// A database with the tables of `migrations/`.
pub trait Ledger {
    /// Runs statements in one transaction and returns the rows of each. It ends within a deadline. Implementations
    /// retry after a failure, so every statement here may run twice.
    fn run<'l>(&'l self, statements: &'l [Statement]) -> QueryFuture<'l>;

    /// Returns the size of the database in bytes at the last answer, if known.
    fn bytes(&self) -> Option<u64> {
        None
    }
}

/// Why the ledger has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerError {
    /// The database does not answer or refuses. The statements may have taken effect.
    Unavailable,
    /// A row breaks a constraint, and nothing was changed. The text is SQLite's, and names only columns.
    Refused(String),
    /// The answer does not have the form that the statement defines.
    Damaged,
}

impl Display for LedgerError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            LedgerError::Unavailable => out.write_str("the ledger does not answer, or refuses"),
            LedgerError::Refused(problem) => write!(out, "the ledger refuses a row: {problem}"),
            LedgerError::Damaged => out.write_str(
                "the ledger's answer has an unexpected form: check that all migrations are applied",
            ),
        }
    }
}

impl Error for LedgerError {}

impl From<LedgerError> for StoreError {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::Unavailable => StoreError::Unavailable,
            LedgerError::Refused(_) | LedgerError::Damaged => {
                StoreError::Damaged(error.to_string())
            }
        }
    }
}

type Result<T, E = LedgerError> = std::result::Result<T, E>;

/// A statement with its parameter and the type of its rows.
trait Query: Serialize {
    /// The SQL.
    const SQL: &'static str;
    /// A row of the answer.
    type Row: DeserializeOwned;

    fn statement(&self) -> Result<Statement> {
        let parameter = serde_json::to_string(self).map_err(|_| LedgerError::Damaged)?;
        Ok(Statement { sql: Self::SQL, parameter })
    }

    fn rows(rows: &[String]) -> Result<Vec<Self::Row>> {
        let row = |row: &String| serde_json::from_str(row).map_err(|_| LedgerError::Damaged);
        rows.iter().map(row).collect()
    }
}

/// Runs one statement.
async fn ask<Q: Query>(ledger: &dyn Ledger, query: &Q) -> Result<Vec<Q::Row>> {
    let answers = ledger.run(&[query.statement()?]).await?;
    Q::rows(answers.first().ok_or(LedgerError::Damaged)?)
}
