//! The operator's functions: create keys and teams, set prices and profiles, find, sum and erase transactions, resend
//! e-mails, mark payments. They run on an [`OperatorStore`] and hold at most one page of records in memory.
//!
//! The caller, such as a command or a page of the dashboard, handles input and output.

pub mod audit;
pub mod backups;
mod claimed_change;
mod coverage;
pub mod credits;
pub mod csv;
pub mod delays;
pub mod demo;
pub mod dues;
pub mod fulfilments;
pub mod increment;
pub mod kept;
pub mod keys;
pub mod notifications;
mod once;
mod operation_id;
mod payable;
pub mod payments;
mod position;
pub mod prices;
pub mod quantities;
pub mod register;
pub mod restore;
pub mod roles;
mod secret;
pub mod seed;
mod shared_record;
mod sum;
pub mod teams;
pub mod transactions;
pub mod units;
pub mod usage;

pub use coverage::{Coverage, DamagedRecords};
pub use once::{Done, was_done};
pub use operation_id::OperationId;
pub use shared_record::RecordVersion;
pub use sum::{Settled, Sum};

use crate::ledger::{Ledger, LedgerError};
use crate::store::{Key, KeyInfo, MAX_READS, NoMetadata, OperatorStore, StoreError, decode};
use crate::version::Version;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::error::Error;
use std::fmt::{self, Display, Formatter};

type Result<T, E = OperatorError> = std::result::Result<T, E>;

/// Why a function failed. The text is for the operator, and contains no key and no personal data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperatorError {
    /// The store did not answer or refused the call, or a record is damaged.
    Store(StoreError),
    /// The ledger did not answer or refused the call.
    Ledger(LedgerError),
    /// A repeated request for an operation that is running or was begun before. The request changed nothing; the text
    /// says what to do.
    Repeated(String),
    /// Any other problem and, if there is one, its remedy.
    Invalid(String),
}

impl Display for OperatorError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            OperatorError::Ledger(error) => return error.fmt(out),
            OperatorError::Store(StoreError::Unavailable) => {
                "the store did not answer, or refused the request"
            }
            OperatorError::Store(StoreError::Busy) => "the store is busy: try again in a moment",
            OperatorError::Store(StoreError::Damaged(problem))
            | OperatorError::Repeated(problem)
            | OperatorError::Invalid(problem) => problem,
        })
    }
}

impl Error for OperatorError {}

impl From<StoreError> for OperatorError {
    fn from(error: StoreError) -> Self {
        OperatorError::Store(error)
    }
}

impl From<LedgerError> for OperatorError {
    fn from(error: LedgerError) -> Self {
        OperatorError::Ledger(error)
    }
}

/// Returns the ledger.
///
/// # Errors
/// If no database is bound. The error says what to do.
pub fn bound(ledger: Option<&dyn Ledger>) -> Result<&dyn Ledger> {
    ledger.ok_or_else(|| {
        OperatorError::Invalid(
            "this needs the ledger, but no database is bound here as `LEDGER_DB`. Deploy the dashboard \
             with its database: see docs/ledger.md"
                .to_owned(),
        )
    })
}

/// A record cannot be encoded, or input breaks a rule of its type.
impl From<serde_json::Error> for OperatorError {
    fn from(error: serde_json::Error) -> Self {
        OperatorError::Invalid(without_position(&error))
    }
}

/// Largest number of list pages that are searched for matching records: 10,000 names.
pub const MAX_PAGES: usize = 10;

/// Reads a list page by page.
struct Pages<'s, S> {
    store: &'s S,
    prefix: String,
    cursor: Option<String>,
    is_last: bool,
}

impl<'s, S: OperatorStore> Pages<'s, S> {
    fn new(store: &'s S, prefix: impl Into<String>) -> Self {
        Pages { store, prefix: prefix.into(), cursor: None, is_last: false }
    }

    /// Returns the next page; `None` after the last one.
    async fn next(&mut self) -> Result<Option<Vec<KeyInfo>>> {
        if self.is_last {
            return Ok(None);
        }
        let page = self.store.list(&self.prefix, self.cursor.as_deref()).await?;
        self.is_last = page.cursor.is_none();
        self.cursor = page.cursor;
        Ok(Some(page.records))
    }
}

/// Collects what `read` returns for the names of all records with a prefix. KV cost: 1 list per 1,000 records.
async fn names<T>(
    store: &impl OperatorStore,
    prefix: String,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>> {
    let mut found = Vec::new();
    let mut pages = Pages::new(store, prefix);
    while let Some(page) = pages.next().await? {
        found.extend(page.iter().filter_map(|record| read(&record.name)));
    }
    Ok(found)
}

/// Reads the values of any number of records, in the order of the keys. KV cost: 1 read per 100 records.
async fn read_values<K: Key>(
    store: &impl OperatorStore,
    keys: &[K],
) -> Result<Vec<Option<Vec<u8>>>> {
    let mut values = Vec::with_capacity(keys.len());
    for keys in keys.chunks(MAX_READS) {
        values.extend(store.get_values(keys).await?);
    }
    Ok(values)
}

/// Reads the value of a record; `None` if the record does not exist. KV cost: 1 read.
async fn read_value<K: Key>(store: &impl OperatorStore, key: K) -> Result<Option<Vec<u8>>> {
    Ok(store.get_values(&[key]).await?.into_iter().flatten().next())
}

/// Reads and decodes a record; `None` if the record does not exist. KV cost: 1 read.
async fn load<K: Key, T: DeserializeOwned>(
    store: &impl OperatorStore,
    key: K,
) -> Result<Option<T>> {
    let value = read_value(store, key).await?;
    Ok(value.map(|value| decode(K::KIND, &value)).transpose()?)
}

/// Writes a record that has no metadata, with the version of its format.
async fn put_record<K: Key<Metadata = NoMetadata>>(
    store: &impl OperatorStore,
    key: &K,
    record: &impl Serialize,
) -> Result<()> {
    Ok(store.put(key, encode(record)?, &NoMetadata).await?)
}

fn encode(record: &impl Serialize) -> Result<Vec<u8>> {
    #[derive(Serialize)]
    struct Versioned<'r, R> {
        #[serde(flatten)]
        record: &'r R,
        version: Version,
    }
    Ok(serde_json::to_vec(&Versioned { record, version: Version })?)
}

/// Returns an error's text without line and column, which do not help for a record, because a record has only one line.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.as_str(), |(problem, _)| problem).to_owned()
}
