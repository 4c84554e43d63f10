//! A ledger in memory, on SQLite.

#![expect(clippy::panic, reason = "a statement of ours is wrong")]

use crate::service::FixedClock;
use futures_executor::block_on;
use impact_pledge::office::shared::rows::port::{
    Ledger, LedgerError, QueryFuture, Rows, Statement,
};
use impact_pledge::office::system::rows::reconcile;
use impact_pledge::office::system::rows::reconcile::{PassOutcome, PassTiming};
use impact_pledge::office::system::rule::adopt::adopt;
use impact_pledge::pledges::store::OperatorStore;
use rusqlite::{Connection, ErrorCode};
use std::cell::{Cell, RefCell};
use std::fs;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::LazyLock;

/// The maximum size of a text in D1, in bytes. SQLite allows far more.
const MAX_TEXT: usize = 2_000_000;

/// Number of prepared statements that are kept: most of a test's time would be SQLite's parser.
const STATEMENTS: usize = 256;

/// An in-memory database with the tables of `src/office/system/migrations`. A test can make calls to the database fail.
#[derive(Debug)]
pub struct SqliteLedger {
    connection: RefCell<Connection>,
    failing: Cell<Failing>,
    /// The number of calls that still succeed before calls begin to fail.
    spared: Cell<usize>,
    /// SQL that runs before a later call: the number of calls until then, and the SQL.
    meanwhile: RefCell<Option<(usize, String)>>,
    /// The number of calls.
    pub calls: Cell<usize>,
    /// The size that the database reports, in bytes.
    pub bytes: Cell<Option<u64>>,
}

/// How calls fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failing {
    /// No call fails.
    Not,
    /// No database is bound.
    Unbound,
    /// Calls fail and do nothing.
    Before,
    /// Calls take effect, but report a failure.
    After,
}

thread_local! {
    /// Databases in memory that the thread's tests no longer use, with empty tables.
    static SPARE: RefCell<Vec<Connection>> = RefCell::default();
}

/// The version of the schema after all migrations.
static VERSION: LazyLock<Rows> =
    LazyLock::new(|| ManuallyDrop::new(SqliteLedger::migrated()).schema());

impl Default for SqliteLedger {
    fn default() -> Self {
        match SPARE.with_borrow_mut(Vec::pop) {
            Some(connection) => SqliteLedger::new(connection),
            None => SqliteLedger::migrated(),
        }
    }
}

/// Keeps a database in memory for later, because a new one takes longer than most tests. One with tables of a test goes.
impl Drop for SqliteLedger {
    fn drop(&mut self) {
        let is_in_memory = self.connection.get_mut().path() == Some("");
        if std::thread::panicking() || !is_in_memory || self.schema() != *VERSION {
            return;
        }
        self.clear();
        let unused = Connection::open_in_memory().unwrap();
        let connection = std::mem::replace(self.connection.get_mut(), unused);
        SPARE.with_borrow_mut(|spare| spare.push(connection));
    }
}

/// The texts of the files in `src/office/system/migrations`, in order.
static MIGRATIONS: LazyLock<String> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../src/office/system/migrations");
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read_to_string(file).unwrap()).collect()
});

impl SqliteLedger {
    fn new(connection: Connection) -> Self {
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        SqliteLedger {
            connection: RefCell::new(connection),
            failing: Cell::new(Failing::Not),
            spared: Cell::default(),
            meanwhile: RefCell::default(),
            calls: Cell::default(),
            bytes: Cell::default(),
        }
    }

    fn migrated() -> Self {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(&MIGRATIONS).unwrap();
        SqliteLedger::new(connection)
    }

    /// Returns the version of the schema, and what a test has added to it.
    fn schema(&self) -> Rows {
        self.sql("SELECT schema_version FROM pragma_schema_version UNION ALL SELECT name FROM sqlite_temp_schema")
    }

    /// Creates a database in a file, to be filled fast: it does not survive a crash.
    pub fn create(file: &Path) -> Self {
        let connection = Connection::open(file).unwrap();
        let fast =
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -2000000;";
        connection.execute_batch(fast).unwrap();
        connection.execute_batch(&MIGRATIONS).unwrap();
        SqliteLedger::new(connection)
    }

    /// Opens a database that [`create`](Self::create) made.
    pub fn open(file: &Path) -> Self {
        SqliteLedger::new(Connection::open(file).unwrap())
    }

    /// Makes all later calls fail in this way.
    pub fn set_failing(&self, failing: Failing) {
        self.failing.set(failing);
    }

    /// Lets this number of calls succeed, and then makes calls fail in this way.
    pub fn set_failing_after(&self, calls: usize, failing: Failing) {
        self.spared.set(calls);
        self.failing.set(failing);
    }

    /// Lets this number of calls pass, and then runs SQL before the next call, as another request would at that moment.
    pub fn set_meanwhile(&self, calls: usize, sql: &str) {
        self.meanwhile.replace(Some((calls, sql.to_owned())));
    }

    fn run_meanwhile(&self) {
        let due = match self.meanwhile.take() {
            Some((0, sql)) => return drop(self.sql(&sql)),
            due => due.map(|(calls, sql)| (calls - 1, sql)),
        };
        self.meanwhile.replace(due);
    }

    /// Writes the rows of all records in a store: runs a reconciliation pass, and adds rows for payments and
    /// memberships, as a restore does.
    #[track_caller]
    pub fn reconcile(&self, store: &impl OperatorStore, now_ms: u64) {
        self.sql("UPDATE reconciliation SET completed = NULL"); // otherwise a second pass at the same moment is not due
        let clock = FixedClock(Cell::new(now_ms));
        let pass = reconcile::reconcile(self, store, &clock, ("a test", PassTiming::Now), u32::MAX);
        assert_eq!(block_on(pass).unwrap().0, PassOutcome::Complete);
        block_on(adopt(store, self, now_ms)).unwrap();
    }

    /// Runs SQL of a test, and returns the first column of its rows as text.
    #[track_caller]
    pub fn sql(&self, sql: &str) -> Rows {
        self.rows(sql, "null").unwrap()
    }

    /// Empties all tables, which is faster than a new database.
    pub fn clear(&self) {
        let tables = self.sql("SELECT name FROM sqlite_schema WHERE type = 'table'");
        tables.iter().for_each(|table| drop(self.sql(&format!("DELETE FROM {table}"))));
        self.sql("INSERT INTO reconciliation (one) VALUES (1)");
    }

    /// Returns SQLite's query plan for a statement.
    pub fn plan(&self, statement: &Statement) -> Vec<String> {
        let connection = self.connection.borrow();
        let mut query =
            connection.prepare(&["EXPLAIN QUERY PLAN ", statement.sql].concat()).unwrap();
        let parameters = [&statement.parameter].into_iter().take(query.parameter_count());
        let parameters = rusqlite::params_from_iter(parameters);
        let rows = query.query_map(parameters, |row| row.get("detail")).unwrap();
        rows.map(Result::unwrap).collect()
    }

    fn rows(&self, sql: &str, parameter: &str) -> rusqlite::Result<Rows> {
        let connection = self.connection.borrow();
        let mut query = connection.prepare_cached(sql)?;
        let parameters = [parameter].into_iter().take(query.parameter_count());
        let text = |row: &rusqlite::Row<'_>| {
            let value: rusqlite::types::Value = row.get(0)?;
            Ok(match value {
                rusqlite::types::Value::Text(text) => text,
                rusqlite::types::Value::Integer(number) => number.to_string(),
                other => format!("{other:?}"),
            })
        };
        query.query_map(rusqlite::params_from_iter(parameters), text)?.collect()
    }

    fn run_all(&self, statements: &[Statement]) -> Result<Vec<Rows>, LedgerError> {
        self.calls.set(self.calls.get() + 1);
        self.run_meanwhile();
        let failing = match self.spared.get() {
            0 => self.failing.get(),
            spared => {
                self.spared.set(spared - 1);
                Failing::Not
            }
        };
        match failing {
            Failing::Unbound => return Err(LedgerError::Unbound),
            Failing::Before => return Err(LedgerError::Unavailable),
            Failing::Not | Failing::After => {}
        }
        for Statement { sql, parameter } in statements {
            assert!(parameter.len() <= MAX_TEXT, "{} bytes for {sql}", parameter.len());
        }
        self.sql("BEGIN");
        let rows = |it: &Statement| self.rows(it.sql, &it.parameter).map_err(error);
        let answers: Result<Vec<Rows>, LedgerError> = statements.iter().map(rows).collect();
        self.sql(if answers.is_ok() { "COMMIT" } else { "ROLLBACK" });
        match failing {
            Failing::After => Err(LedgerError::Unavailable),
            _ => answers,
        }
    }
}

/// A ledger that records all statements and passes them on to another ledger.
#[derive(Debug)]
pub struct Recorder<'l> {
    ledger: &'l SqliteLedger,
    statements: RefCell<Vec<Statement>>,
}

impl<'l> Recorder<'l> {
    pub fn new(ledger: &'l SqliteLedger) -> Self {
        Recorder { ledger, statements: RefCell::default() }
    }

    /// Returns the statements since the last call.
    pub fn take(&self) -> Vec<Statement> {
        self.statements.take()
    }
}

impl Ledger for Recorder<'_> {
    fn run<'l>(&'l self, statements: &'l [Statement]) -> QueryFuture<'l> {
        self.statements.borrow_mut().extend_from_slice(statements);
        self.ledger.run(statements)
    }
}

fn error(error: rusqlite::Error) -> LedgerError {
    match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) => LedgerError::Refused(error.to_string()),
        _ => panic!("{error}"),
    }
}

impl Ledger for SqliteLedger {
    fn run<'l>(&'l self, statements: &'l [Statement]) -> QueryFuture<'l> {
        Box::pin(async { self.run_all(statements) })
    }

    fn bytes(&self) -> Option<u64> {
        self.bytes.get()
    }
}
