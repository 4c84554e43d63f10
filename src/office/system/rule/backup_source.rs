//! Reads what a backup contains, step by step: the records in Workers KV, then the rows that only the ledger has. Rows are read
//! last, so that they include every change that a record mentions.

use super::backup_index::Position;
use super::backup_lines::BackupLines;
use super::own_rows;
use super::own_rows::OwnRowsHeader;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::Result;
use crate::office::system::rows::own_rows::{OwnTable, page};
use crate::pledges::store::{
    BackupStore, Key, KeyInfo, MAX_READS, PriceListKey, PriceListVersionKey, SecretKey,
    TransactionKey, TransactionMetadata, UpdatesKey,
};
use serde::Deserialize as _;
use std::collections::VecDeque;
use strum::IntoEnumIterator as _;

/// Maximum size of the records of one read, in bytes, unless one record alone is larger.
const MAX_READ_BYTES: usize = 8 * 1024 * 1024;
/// Maximum size of a record of any other kind, in bytes.
const OTHER_BYTES: usize = SecretKey::MAX_BYTES;
/// Number of calls that a step makes at most, unless records must be read one by one.
pub(super) const CALLS_OF_A_STEP: u32 = 4;

/// Reads the contents of a backup. At most one page of names and the records of one read are in memory.
pub(super) struct BackupSource<'s, S> {
    store: &'s S,
    ledger: &'s dyn Ledger,
    /// The rest of the page at the position.
    page: Option<Page>,
    /// Whether this process knows that the database has lost no rows.
    is_checked: bool,
    /// Number of calls of the store and the ledger since they were last counted.
    calls: u32,
}

struct Page {
    records: VecDeque<KeyInfo>,
    next: Option<String>,
}

impl<'s, S: BackupStore> BackupSource<'s, S> {
    pub fn new(store: &'s S, ledger: &'s dyn Ledger) -> Self {
        BackupSource { store, ledger, page: None, is_checked: false, calls: 0 }
    }

    /// Returns the number of calls since this was last called.
    pub fn take_calls(&mut self) -> u32 {
        std::mem::take(&mut self.calls)
    }

    /// Adds the lines at a position, and returns the position after them.
    ///
    /// # Errors
    /// If the store or the ledger fails, or the database has lost rows.
    pub async fn copy(&mut self, position: Position, lines: &mut BackupLines) -> Result<Position> {
        match position {
            Position::Records { cursor, after } => self.copy_records(cursor, after, lines).await,
            Position::Database => self.copy_database(lines).await,
            Position::Rows { table, after } => self.copy_rows(table, after, lines).await,
            Position::End => Ok(Position::End),
        }
    }

    async fn copy_records(
        &mut self,
        cursor: Option<String>,
        after: String,
        lines: &mut BackupLines,
    ) -> Result<Position> {
        let mut page = match self.page.take() {
            Some(page) => page,
            None => self.list(cursor.as_deref(), &after).await?,
        };
        let batch = page.next_batch();
        self.copy_batch(&batch, lines).await?;
        let after = batch.into_iter().next_back().map_or(after, |record| record.name);
        if page.records.is_empty() {
            return Ok(match page.next {
                Some(next) => Position::Records { cursor: Some(next), after },
                None => Position::Database,
            });
        }
        self.page = Some(page);
        Ok(Position::Records { cursor, after })
    }

    /// Lists the records at a cursor whose names come after this one.
    async fn list(&mut self, cursor: Option<&str>, after: &str) -> Result<Page> {
        self.calls += 1;
        let page = self.store.list("", cursor).await?;
        let records = page.records.into_iter().filter(|record| &*record.name > after).collect();
        Ok(Page { records, next: page.cursor })
    }

    /// Adds a line for each record. Leaves out records that were deleted or expired after they were listed.
    async fn copy_batch(&mut self, batch: &[KeyInfo], lines: &mut BackupLines) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let names: Vec<_> = batch.iter().map(|record| record.name.clone()).collect();
        let read = self.store.get_records(&names).await?;
        self.calls = self.calls.saturating_add(read.calls);
        for (listed, record) in batch.iter().zip(read.records) {
            if let Some(record) = record {
                lines.record(&listed.name, &record, listed.expiration)?;
            }
        }
        Ok(())
    }

    /// Adds the line about the ledger's database, if one is bound.
    async fn copy_database(&mut self, lines: &mut BackupLines) -> Result<Position> {
        let Some(header) = self.check_database().await? else { return Ok(Position::End) };
        lines.row("database", &serde_json::to_string(&header)?)?;
        Ok(first_of(OwnTable::iter().next()))
    }

    /// Describes the database; `None` if none is bound. Fails for a database that has lost rows.
    async fn check_database(&mut self) -> Result<Option<OwnRowsHeader>> {
        self.calls += 2; // of the store and of the ledger
        let header = own_rows::header(self.store, self.ledger).await?;
        self.is_checked = true;
        Ok(header)
    }

    async fn copy_rows(
        &mut self,
        table: OwnTable,
        after: Option<String>,
        lines: &mut BackupLines,
    ) -> Result<Position> {
        if !self.is_checked {
            self.check_database().await?;
        }
        self.calls += 1;
        let rows = page(self.ledger, table, after.as_deref()).await?;
        for row in &rows {
            lines.row(table, row)?;
        }
        Ok(match rows.into_iter().next_back() {
            Some(row) => Position::Rows { table, after: Some(row) },
            None => first_of(OwnTable::iter().skip_while(|other| *other != table).nth(1)),
        })
    }
}

/// Returns the position at the first row of a table, or the end if there is no further table.
fn first_of(table: Option<OwnTable>) -> Position {
    table.map_or(Position::End, |table| Position::Rows { table, after: None })
}

impl Page {
    /// Removes and returns the records of the next read.
    fn next_batch(&mut self) -> Vec<KeyInfo> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while batch.len() < MAX_READS {
            let Some(record) = self.records.pop_front() else { break };
            bytes += max_bytes(&record);
            if bytes > MAX_READ_BYTES && !batch.is_empty() {
                self.records.push_front(record);
                break;
            }
            batch.push(record);
        }
        batch
    }
}

/// Returns the maximum size of a record's value, in bytes.
fn max_bytes(record: &KeyInfo) -> usize {
    let is = |prefix| record.name.starts_with(prefix);
    if is(TransactionKey::PREFIX) {
        let metadata = TransactionMetadata::deserialize(&record.metadata);
        return metadata
            .map_or(TransactionKey::MAX_BYTES, |metadata| TransactionKey::bytes(&metadata));
    }
    if is(UpdatesKey::PREFIX) {
        return UpdatesKey::MAX_BYTES;
    }
    if is(PriceListKey::PREFIX) || is(PriceListVersionKey::PREFIX) {
        return PriceListVersionKey::MAX_BYTES;
    }
    OTHER_BYTES
}
