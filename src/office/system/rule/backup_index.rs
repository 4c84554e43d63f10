//! The index of the backups that the cron makes: which are complete, how far the current one has come, and which are to be
//! deleted. It also decides which backup is due, and which ones are old.
//!
//! The index is one object of the bucket. Each change is a write on the condition that nobody has changed it since, so two
//! invocations at the same time never both succeed. A backup is complete once the index says so.

use super::backup_lines::Written;
use crate::office::system::rows::backup_state::LEDGER_DAYS;
use crate::office::system::rows::own_rows::OwnTable;
use crate::pledges::store::BackupKey;
use crate::pledges::time::{DAY_MS, date_time};
use serde::{Deserialize, Serialize};

/// The name of the object.
pub const INDEX: &str = "index.json";
/// The time between two full backups, in days, if `BACKUP_FULL_DAYS` is not set.
pub const FULL_DAYS: u64 = 7;
/// How long a backup is kept, in days, if `BACKUP_KEPT_DAYS` is not set. The newest complete backup of each kind is kept
/// longer.
pub const KEPT_DAYS: u64 = 30;
/// The largest number of days that a variable may set.
pub const MAX_DAYS: u64 = 365;
/// How long a backup may make no progress, in milliseconds. After this time, it is given up. Workers KV may no longer accept its
/// cursor.
const STALLED_MS: u64 = 6 * 60 * 60_000;

/// When full backups are made, and how long backups are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackupDays {
    /// The time between two full backups, in days.
    pub full: u64,
    /// How long a backup is kept, in days.
    pub kept: u64,
}

impl Default for BackupDays {
    fn default() -> Self {
        BackupDays { full: FULL_DAYS, kept: KEPT_DAYS }
    }
}

impl BackupDays {
    /// Parses the variables `BACKUP_FULL_DAYS` and `BACKUP_KEPT_DAYS`. Returns a message for each one that is ignored.
    pub fn parse(full: &str, kept: &str) -> (Self, Vec<String>) {
        let (mut days, mut problems) = (BackupDays::default(), Vec::new());
        let variables = [
            ("BACKUP_FULL_DAYS", full, &mut days.full),
            ("BACKUP_KEPT_DAYS", kept, &mut days.kept),
        ];
        for (name, text, value) in variables {
            match text.trim() {
                "" => {}
                text => match text.parse().ok().filter(|days| (1..=MAX_DAYS).contains(days)) {
                    Some(days) => *value = days,
                    None => problems.push(format!(
                        "the variable `{name}` is ignored, because it is not a number of days from 1 to {MAX_DAYS}"
                    )),
                },
            }
        }
        (days, problems)
    }
}

/// What a backup of the cron contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BackupKind {
    /// All records, and the rows that only the ledger has.
    Full,
    /// Only the rows that only the ledger has.
    Ledger,
}

impl BackupKind {
    /// The key of the record about the last backup of this kind.
    pub fn key(self) -> BackupKey {
        match self {
            BackupKind::Full => BackupKey::Full,
            BackupKind::Ledger => BackupKey::Ledger,
        }
    }

    fn label(self) -> &'static str {
        match self {
            BackupKind::Full => "full",
            BackupKind::Ledger => "ledger",
        }
    }
}

/// Times are milliseconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupIndex {
    /// The complete backups, oldest first.
    pub complete: Vec<CompleteBackup>,
    /// The backup that is being made.
    pub current: Option<CurrentBackup>,
    /// The names of backups whose objects are being deleted.
    pub deleting: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompleteBackup {
    pub name: String,
    pub kind: BackupKind,
    pub started: u64,
    pub completed: u64,
    pub records: u64,
    pub rows: u64,
    /// The SHA-256 of all lines except the last one, as the last line says.
    pub sha256: String,
    /// The names of the objects that make up the backup's file, in order.
    pub parts: Vec<String>,
    /// Whether the namespace has the record of this backup.
    pub is_recorded: bool,
}

/// A backup that is being made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurrentBackup {
    pub name: String,
    pub kind: BackupKind,
    pub started: u64,
    /// When the last part was written.
    pub saved: u64,
    pub position: Position,
    pub parts: Vec<String>,
    pub written: Written,
}

/// What a backup copies next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Position {
    /// The records after a name, on the page of KV's list at this cursor.
    Records { cursor: Option<String>, after: String },
    /// The description of the ledger's database.
    Database,
    /// The rows of a table after this one.
    Rows { table: OwnTable, after: Option<String> },
    /// Nothing.
    End,
}

impl BackupIndex {
    /// Returns the kind of backup that is due. The ledger's rows come first: they take seconds, and a full backup that fails
    /// does not delay them.
    pub fn due(&self, now_ms: u64, days: BackupDays, has_ledger: bool) -> Option<BackupKind> {
        // A time in the future comes from a clock that was wrong.
        let is_old = |newest: Option<&CompleteBackup>, days: u64| {
            newest.is_none_or(|backup| now_ms.abs_diff(backup.started) >= days * DAY_MS)
        };
        if has_ledger && is_old(self.complete.last(), LEDGER_DAYS) {
            return Some(BackupKind::Ledger);
        }
        is_old(self.newest(BackupKind::Full), days.full).then_some(BackupKind::Full)
    }

    /// Begins a backup.
    pub fn begin(&mut self, kind: BackupKind, now_ms: u64) -> CurrentBackup {
        let position = match kind {
            BackupKind::Full => Position::Records { cursor: None, after: String::new() },
            BackupKind::Ledger => Position::Database,
        };
        let name = format!("{}-{}", kind.label(), date_time(now_ms).replace(':', "-"));
        let (parts, written) = (Vec::new(), Written::default());
        let begun =
            CurrentBackup { name, kind, started: now_ms, saved: now_ms, position, parts, written };
        self.current = Some(begun.clone());
        begun
    }

    /// Adds the current backup to the complete ones.
    pub fn complete(&mut self, current: CurrentBackup, sha256: String) {
        let CurrentBackup { name, kind, started, saved: completed, parts, written, .. } = current;
        let Written { records, rows, .. } = written;
        let is_recorded = false;
        let complete = CompleteBackup {
            name,
            kind,
            started,
            completed,
            records,
            rows,
            sha256,
            parts,
            is_recorded,
        };
        self.current = None;
        self.complete.push(complete);
    }

    /// Returns a complete backup of which the namespace has no record yet.
    pub fn unrecorded(&mut self) -> Option<&mut CompleteBackup> {
        self.complete.iter_mut().find(|backup| !backup.is_recorded)
    }

    /// Returns the names of the backups to delete: complete ones that are old, and a current one that makes no progress.
    pub fn expired(&self, now_ms: u64, days: BackupDays) -> Vec<String> {
        let is_newest = |backup: &CompleteBackup| self.newest(backup.kind) == Some(backup);
        let is_old = |backup: &&CompleteBackup| {
            now_ms.saturating_sub(backup.started) > days.kept * DAY_MS && !is_newest(backup)
        };
        let old = self.complete.iter().filter(is_old).map(|backup| backup.name.clone());
        let is_stalled = |backup: &&CurrentBackup| now_ms.abs_diff(backup.saved) > STALLED_MS;
        let stalled = self.current.iter().filter(is_stalled).map(|backup| backup.name.clone());
        old.chain(stalled).collect()
    }

    /// Takes these backups out of the index, and notes that their objects are to be deleted.
    pub fn forget(&mut self, names: Vec<String>) {
        self.complete.retain(|backup| !names.contains(&backup.name));
        self.current.take_if(|backup| names.contains(&backup.name));
        self.deleting.extend(names);
    }

    /// Returns the newest complete backup of a kind.
    pub fn newest(&self, kind: BackupKind) -> Option<&CompleteBackup> {
        self.complete.iter().rev().find(|backup| backup.kind == kind)
    }
}
