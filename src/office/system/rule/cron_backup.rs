//! Makes the backups of the cron in a bucket: all records once a week, and the rows that only the ledger has once a day.
//!
//! The file of a backup is divided into objects, its parts. Each invocation writes some of them, and notes in the
//! [index](super::backup_index) how far it has come. An invocation may be interrupted at any point: the next one continues from
//! the index. The name of a part depends on all lines up to its end. So two invocations at the same time may write parts with
//! the same number, and the index names those of the one whose write succeeded.

use super::backup_index::{
    BackupDays, BackupIndex, BackupKind, CompleteBackup, CurrentBackup, INDEX, Position,
};
use super::backup_lines::BackupLines;
use super::backup_source::{BackupSource, CALLS_OF_A_STEP};
use super::backups;
use super::backups::Backup;
use super::bucket::{Bucket, PutIf};
use super::own_rows;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::OperatorError;
use crate::office::system::rows::backup_state;
use crate::office::system::rows::backup_state::BackupAttempt;
use crate::office::system::rows::upkeep::Limits;
use crate::pledges::service::Clock;
use crate::pledges::store::{BackupStore, StoreError};
use crate::pledges::time::date_time;
use serde::Serialize;
use serde_json::Value;

/// The size from which a part is written, in bytes.
const PART_BYTES: usize = 4 * 1024 * 1024;
/// Number of characters of a SHA-256 in the name of a part.
const HASH_CHARS: usize = 16;
/// The author in the record of the last backup.
const BY: &str = "the dashboard's cron";

/// The ports of a backup.
#[expect(missing_debug_implementations, reason = "ports")]
pub struct BackupPorts<'p, B, S, C> {
    pub bucket: &'p B,
    pub store: &'p S,
    pub ledger: &'p dyn Ledger,
    pub clock: &'p C,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BackupOutcome {
    NotDue,
    /// A backup is under way. The next call continues it.
    Part,
    Complete,
    /// Another process has changed the index meanwhile.
    Busy,
}

/// Why a call ends early.
enum Stop {
    Busy,
    Failed(OperatorError),
}

impl<E: Into<OperatorError>> From<E> for Stop {
    fn from(error: E) -> Self {
        Stop::Failed(error.into())
    }
}

/// Begins the backup that is due, or continues the current one, within the limits. Deletes old backups. `place` is
/// where the records are from. A call may be interrupted at any point, and the next one continues. Records in the ledger
/// whether the call succeeded.
///
/// # Errors
/// If the bucket, the store or the ledger fails, or the database has lost rows: then no backup begins and none is deleted.
pub async fn back_up<B: Bucket, S: BackupStore, C: Clock>(
    ports: BackupPorts<'_, B, S, C>,
    place: &Value,
    days: BackupDays,
    limits: Limits,
) -> Result<BackupOutcome, OperatorError> {
    let (ledger, now, mut found) = (ports.ledger, ports.clock.now_ms(), None);
    let outcome = attempt(ports, place, days, limits, &mut found).await;
    let began = |backup: Option<&CompleteBackup>| Some(backup?.started);
    let attempt = BackupAttempt {
        now,
        full_days: days.full,
        full: found.as_ref().and_then(|index: &BackupIndex| began(index.newest(BackupKind::Full))),
        newest: found.as_ref().and_then(|index| began(index.complete.last())),
        cause: outcome.as_ref().err().map(OperatorError::to_string),
    };
    let _or_by_the_next_call = backup_state::record(ledger, attempt).await;
    outcome
}

/// Makes an attempt. Sets `found` to the index as the attempt leaves it, if it can be read.
async fn attempt<B: Bucket, S: BackupStore, C: Clock>(
    ports: BackupPorts<'_, B, S, C>,
    place: &Value,
    days: BackupDays,
    limits: Limits,
    found: &mut Option<BackupIndex>,
) -> Result<BackupOutcome, OperatorError> {
    let until = ports.clock.now_ms().saturating_add(limits.milliseconds);
    let (index, version) = load(ports.bucket).await?;
    let mut run = Run { ports, days, index, version, calls: limits.calls, until };
    let outcome = run.go_on(place).await;
    *found = Some(run.index);
    match outcome {
        Ok(outcome) => Ok(outcome),
        Err(Stop::Busy) => Ok(BackupOutcome::Busy),
        Err(Stop::Failed(error)) => Err(error),
    }
}

/// Returns the index and its version; an empty index and `None` before the first backup.
async fn load(bucket: &impl Bucket) -> Result<(BackupIndex, Option<String>), StoreError> {
    let Some(object) = bucket.get(INDEX).await? else { return Ok((BackupIndex::default(), None)) };
    let index = serde_json::from_slice(&object.bytes)
        .map_err(|error| StoreError::damaged("index of the backups", &error))?;
    Ok((index, Some(object.version)))
}

struct Run<'p, B, S, C> {
    ports: BackupPorts<'p, B, S, C>,
    days: BackupDays,
    index: BackupIndex,
    /// The version of the stored index.
    version: Option<String>,
    /// Number of calls that may still be made.
    calls: u32,
    /// The time after which no new step begins.
    until: u64,
}

impl<B: Bucket, S: BackupStore, C: Clock> Run<'_, B, S, C> {
    async fn go_on(&mut self, place: &Value) -> Result<BackupOutcome, Stop> {
        self.record_last().await?;
        self.forget_expired().await?;
        self.delete_forgotten().await?;
        let current = match self.index.current.clone() {
            Some(current) => current,
            None => match self.begin().await? {
                Some(begun) => begun,
                None => return Ok(BackupOutcome::NotDue),
            },
        };
        self.copy(current, place).await
    }

    /// Writes the record of the last backup into the namespace, unless that was done.
    async fn record_last(&mut self) -> Result<(), Stop> {
        let Some(last) = self.index.unrecorded() else { return Ok(()) };
        let records = if last.kind == BackupKind::Full { last.records } else { last.rows };
        let made = Backup { at: date_time(last.completed), records, by: BY.to_owned() };
        last.is_recorded = true;
        let key = last.kind.key();
        backups::put(self.ports.store, key, &made).await?;
        self.save().await
    }

    /// Takes old backups out of the index. After a loss of the ledger's rows, all backups are kept.
    async fn forget_expired(&mut self) -> Result<(), Stop> {
        let expired = self.index.expired(self.ports.clock.now_ms(), self.days);
        if expired.is_empty() {
            return Ok(());
        }
        self.has_ledger().await?;
        self.index.forget(expired);
        self.save().await
    }

    /// Deletes the objects of backups that are no longer in the index.
    async fn delete_forgotten(&mut self) -> Result<(), Stop> {
        while let Some(name) = self.index.deleting.last() {
            let prefix = format!("{name}/");
            let mut names = self.ports.bucket.list(&prefix).await?;
            while !names.is_empty() {
                self.ports.bucket.delete(&names).await?;
                names = self.ports.bucket.list(&prefix).await?;
            }
            self.index.deleting.pop();
            self.save().await?;
        }
        Ok(())
    }

    /// Begins the backup that is due, if any.
    async fn begin(&mut self) -> Result<Option<CurrentBackup>, Stop> {
        let now_ms = self.ports.clock.now_ms();
        if self.index.due(now_ms, self.days, true).is_none() {
            return Ok(None);
        }
        let has_ledger = self.has_ledger().await?;
        let Some(kind) = self.index.due(now_ms, self.days, has_ledger) else { return Ok(None) };
        let begun = self.index.begin(kind, now_ms);
        self.save().await?;
        Ok(Some(begun))
    }

    /// Returns whether a database is bound. Fails if it has lost rows.
    async fn has_ledger(&self) -> Result<bool, OperatorError> {
        Ok(own_rows::header(self.ports.store, self.ports.ledger).await?.is_some())
    }

    async fn copy(
        &mut self,
        mut current: CurrentBackup,
        place: &Value,
    ) -> Result<BackupOutcome, Stop> {
        let mut lines = BackupLines::after(&current.written)?;
        if current.parts.is_empty() {
            lines.header(place, &date_time(current.started))?;
        }
        let mut source = BackupSource::new(self.ports.store, self.ports.ledger);
        while self.has_budget() {
            self.fill_part(&mut source, &mut current, &mut lines).await?;
            if current.position == Position::End {
                return self.finish(current, lines).await;
            }
            self.write_part(&mut current, &mut lines).await?;
            self.index.current = Some(current.clone());
            self.save().await?;
        }
        Ok(BackupOutcome::Part)
    }

    /// Collects the lines of the next part.
    async fn fill_part(
        &mut self,
        source: &mut BackupSource<'_, S>,
        current: &mut CurrentBackup,
        lines: &mut BackupLines,
    ) -> Result<(), OperatorError> {
        while current.position != Position::End && lines.len() < PART_BYTES && self.has_budget() {
            current.position = source.copy(current.position.clone(), lines).await?;
            self.calls = self.calls.saturating_sub(source.take_calls());
        }
        Ok(())
    }

    async fn finish(
        &mut self,
        mut current: CurrentBackup,
        mut lines: BackupLines,
    ) -> Result<BackupOutcome, Stop> {
        let sha256 = lines.end()?;
        self.write_part(&mut current, &mut lines).await?;
        self.index.complete(current, sha256);
        self.save().await?;
        self.record_last().await?;
        Ok(BackupOutcome::Complete)
    }

    async fn write_part(
        &mut self,
        current: &mut CurrentBackup,
        lines: &mut BackupLines,
    ) -> Result<(), StoreError> {
        let number = current.parts.len() + 1;
        let hash: String = lines.sha256().chars().take(HASH_CHARS).collect();
        let name = format!("{}/{number:05}-{hash}", current.name);
        self.calls = self.calls.saturating_sub(2); // with the write of the index
        self.ports.bucket.put(&name, lines.take(), PutIf::Always).await?;
        current.parts.push(name);
        current.written = lines.written();
        current.saved = self.ports.clock.now_ms();
        Ok(())
    }

    /// Writes the index. Ends the call if another process has changed it.
    async fn save(&mut self) -> Result<(), Stop> {
        let bytes = serde_json::to_vec(&self.index)?;
        let condition = self.version.as_deref().map_or(PutIf::Missing, PutIf::Version);
        let version = self.ports.bucket.put(INDEX, bytes, condition).await?;
        self.version = Some(version.ok_or(Stop::Busy)?);
        Ok(())
    }

    fn has_budget(&self) -> bool {
        self.calls >= CALLS_OF_A_STEP && self.ports.clock.now_ms() < self.until
    }
}
