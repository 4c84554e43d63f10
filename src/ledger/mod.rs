//! The ledger: a database of all transactions, for what operators ask: lists, sums, the claims of facts that two people
//! may change at once, and the operations that are done once.
//!
//! The records in Workers KV stay the system of record. A row is made of the metadata of a record ([`Entry`]): by a message
//! that the service sends ([`receive`]), or by the [reconciliation](reconcile) with KV, which says up to when nothing is
//! missing. All SQL is in this module; its tables are those of `migrations/`.
//!
//! A statement has one parameter, a JSON text, and each row of its answer is one JSON text: so no number is rounded, and D1's
//! limit of 100 parameters does not matter.

mod changed;
mod check;
pub mod claims;
mod entry;
mod findings;
mod gone;
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
mod settled;
mod shops;
mod state;
mod sums;
mod upkeep;

pub use changed::{ChangedPage, Next, changed};
pub use check::{Checked, check, clear};
pub use entry::{Entry, Origin, write};
pub use findings::{Finding, FindingKind, findings};
pub use gone::Removed;
pub use health::{Health, MAX_BYTES, Pass, health};
pub use kept::keep_from;
pub use orders::{Direction, Filter, Order, OrderPage, Place, by_email, by_reference, orders};
pub use quantities::{OfferingSum, quantities};
pub use receive::{Delivered, Verdict, load, receive};
pub use reconcile::{Counts, Reached, When, reconcile};
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

/// A statement of SQL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Statement {
    /// Its text. Each row of the answer has one column, a JSON text.
    pub sql: &'static str,
    /// Its parameter `?1`, a JSON text.
    pub parameter: String,
}

/// The rows of an answer, each a JSON text.
pub type Rows = Vec<String>;

/// The answers of statements, once they are there.
pub type Running<'l> = Pin<Box<dyn Future<Output = Result<Vec<Rows>, LedgerError>> + 'l>>;

/// A database with the tables of `migrations/`.
pub trait Ledger {
    /// Runs statements in one transaction, all or none, and returns the rows of each. It ends within a deadline. Every
    /// statement here may be run twice: what failed is repeated.
    fn run<'l>(&'l self, statements: &'l [Statement]) -> Running<'l>;

    /// How many bytes it had at the last answer, where that is known.
    fn bytes(&self) -> Option<u64> {
        None
    }
}

/// Why the ledger has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerError {
    /// The database does not answer, or refuses. What was to be changed may have been.
    Unavailable,
    /// A row breaks a constraint: SQLite's text, which names columns alone. Nothing was changed.
    Refused(String),
    /// The answer has another form than the statement says.
    Damaged,
}

impl Display for LedgerError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            LedgerError::Unavailable => out.write_str("the ledger does not answer, or refuses"),
            LedgerError::Refused(problem) => write!(out, "the ledger refuses a row: {problem}"),
            LedgerError::Damaged => {
                out.write_str("the ledger answers in another form: are all its migrations applied?")
            }
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

/// What a statement takes and gives.
trait Query: Serialize {
    /// Its text.
    const SQL: &'static str;
    /// A row of its answer.
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
