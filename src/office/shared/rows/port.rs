//! The interface to the database, and the errors and queries that all files of this module use.

use crate::pledges::store::StoreError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::pin::Pin;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Statement {
    /// The SQL. Each row of the answer has one column, a JSON text.
    pub sql: &'static str,
    /// The parameter `?1`, a JSON text.
    pub parameter: String,
}

/// The rows of an answer, each a JSON text.
pub type Rows = Vec<String>;

/// A future that returns the answers to statements, one list of rows for each statement.
pub type QueryFuture<'l> = Pin<Box<dyn Future<Output = Result<Vec<Rows>, LedgerError>> + 'l>>;

/// A database with the tables of `src/office/system/migrations`.
pub trait Ledger {
    /// Runs statements in one database transaction, and returns the rows of each statement. Fails if a deadline passes.
    /// Implementations retry after a failure. So statements must be safe to run twice, or be refused the second time.
    fn run<'l>(&'l self, statements: &'l [Statement]) -> QueryFuture<'l>;

    /// Returns the size of the database in bytes, according to its last answer. Returns `None` if the size is
    /// unknown.
    fn bytes(&self) -> Option<u64> {
        None
    }
}

/// The ledger of a place without a database: it refuses all statements.
#[derive(Clone, Copy, Debug)]
pub struct Unbound;

impl Ledger for Unbound {
    fn run<'l>(&'l self, _: &'l [Statement]) -> QueryFuture<'l> {
        Box::pin(async { Err(LedgerError::Unbound) })
    }
}

/// Why the ledger has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerError {
    /// No database is bound.
    Unbound,
    /// The database does not answer, or refuses the statements. The statements may have taken effect.
    Unavailable,
    /// A row would break a constraint, so nothing was changed. The text is SQLite's message. It contains
    /// names of columns, but no values.
    Refused(String),
    /// The database's answer does not have the form that the SQL statement defines.
    Damaged,
}

impl Display for LedgerError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            LedgerError::Unbound => out.write_str(
                "this needs the ledger, but no database is bound as `LEDGER_DB`. Deploy the dashboard with \
                 its database (see docs/ledger.md)",
            ),
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
            LedgerError::Unbound | LedgerError::Unavailable => StoreError::Unavailable,
            LedgerError::Refused(_) | LedgerError::Damaged => {
                StoreError::Damaged(error.to_string())
            }
        }
    }
}

pub(crate) type Result<T, E = LedgerError> = std::result::Result<T, E>;

/// A statement with its parameter and the type of its rows.
pub(crate) trait Query: Serialize {
    const SQL: &'static str;
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

/// Returns the answer; `None` if no database is bound.
pub(crate) fn if_bound<T>(answer: Result<T>) -> Result<Option<T>> {
    match answer {
        Err(LedgerError::Unbound) => Ok(None),
        answer => answer.map(Some),
    }
}

pub(crate) async fn ask<Q: Query>(ledger: &dyn Ledger, query: &Q) -> Result<Vec<Q::Row>> {
    let answers = ledger.run(&[query.statement()?]).await?;
    Q::rows(answers.first().ok_or(LedgerError::Damaged)?)
}
