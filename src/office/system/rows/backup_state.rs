//! The state of the backups of the cron, so that a failure is seen where the health of the ledger is shown.

use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use crate::pledges::time::{DAY_MS, date_time};
use serde::{Deserialize, Serialize};

/// How late a backup may be until this is a problem, in days. A full backup of many records takes hours.
const LATE_DAYS: u64 = 2;
/// The time between two backups of the ledger's rows, in days. A full backup counts as one.
pub const LEDGER_DAYS: u64 = 1;
/// How long attempts may fail until this is a problem, in milliseconds.
const FAILING_MS: u64 = 60 * 60_000;
/// Maximum number of characters of a cause.
const CAUSE_CHARS: usize = 500;

/// What an attempt found. Times are milliseconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BackupAttempt {
    pub now: u64,
    pub full_days: u64,
    /// When the newest complete backup of all records began; `None` if there is none, or the index could not be read.
    pub full: Option<u64>,
    /// When the newest complete backup of any kind began.
    pub newest: Option<u64>,
    /// Why the attempt failed; `None` if it succeeded.
    pub cause: Option<String>,
}

/// Records an attempt. Writes nothing if nothing has changed. One query.
pub async fn record(ledger: &dyn Ledger, attempt: BackupAttempt) -> Result<()> {
    let cause = attempt.cause.map(|cause| cause.chars().take(CAUSE_CHARS).collect());
    ask(ledger, &Record(BackupAttempt { cause, ..attempt })).await.map(drop)
}

/// Forgets the state, as no bucket is bound any more. One query.
pub async fn forget(ledger: &dyn Ledger) -> Result<()> {
    ask(ledger, &Forget {}).await.map(drop)
}

/// The state of the backups. Times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct BackupState {
    since: u64,
    full_days: u64,
    full: Option<u64>,
    newest: Option<u64>,
    failing: Option<u64>,
    cause: Option<String>,
}

/// The state of the backups in a report. Times are RFC 3339 in UTC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Backups {
    /// When the newest complete backup of all records began; `None` if there is none.
    pub full: Option<String>,
    /// When the newest complete backup of the ledger's rows began; `None` if there is none.
    pub ledger: Option<String>,
    /// Since when all attempts have failed; `None` if the last one succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<String>,
    #[serde(skip)]
    pub(crate) problem: Option<String>,
}

impl BackupState {
    pub fn report(self, now_ms: u64) -> Backups {
        let problem = self.failure(now_ms).or_else(|| self.delay(now_ms));
        Backups {
            full: self.full.map(date_time),
            ledger: self.newest.map(date_time),
            failing_since: self.failing.map(date_time),
            problem,
        }
    }

    fn failure(&self, now_ms: u64) -> Option<String> {
        let since = self.failing.filter(|since| now_ms.saturating_sub(*since) >= FAILING_MS)?;
        let (since, cause) = (date_time(since), self.cause.as_deref().unwrap_or_default());
        Some(format!("the backups into the bucket have failed since {since}: {cause}"))
    }

    fn delay(&self, now_ms: u64) -> Option<String> {
        let is_late = |began: Option<u64>, days: u64| {
            let began = began.unwrap_or(self.since).max(self.since.min(now_ms));
            now_ms.saturating_sub(began) > (days + LATE_DAYS) * DAY_MS
        };
        let (kind, began) = match () {
            () if is_late(self.newest, LEDGER_DAYS) => ("the ledger's rows", self.newest),
            () if is_late(self.full, self.full_days) => ("all records", self.full),
            () => return None,
        };
        let last = began.map_or_else(
            || "none is complete".to_owned(),
            |at| format!("the last complete one began on {}", date_time(at)),
        );
        Some(format!(
            "a backup of {kind} into the bucket is overdue: {last}. Look at the log of the dashboard's Worker for lines with `\"backup\"`"
        ))
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Record(BackupAttempt);

impl Query for Record {
    type Row = ();
    const SQL: &'static str = "INSERT INTO backup_state (one, since, full_days, full, newest, failing, cause)
VALUES (1, ?1 ->> '$.now', ?1 ->> '$.full_days', ?1 ->> '$.full', ?1 ->> '$.newest',
  iif(?1 ->> '$.cause' IS NULL, NULL, ?1 ->> '$.now'), ?1 ->> '$.cause')
ON CONFLICT DO UPDATE SET full_days = excluded.full_days, full = ifnull(excluded.full, full),
  newest = ifnull(excluded.newest, newest), cause = excluded.cause,
  failing = iif(excluded.cause IS NULL, NULL, ifnull(failing, excluded.failing))
WHERE (full_days, full, newest, cause)
  IS NOT (excluded.full_days, ifnull(excluded.full, full), ifnull(excluded.newest, newest), excluded.cause)";
}

#[derive(Serialize)]
struct Forget {}

impl Query for Forget {
    type Row = ();
    // D1 refuses a parameter that the statement does not use.
    const SQL: &'static str = "DELETE FROM backup_state WHERE ?1 IS NOT NULL";
}

#[derive(Serialize)]
pub(super) struct Get {}

impl Query for Get {
    type Row = BackupState;
    const SQL: &'static str =
        "SELECT json_object('since', since, 'full_days', full_days, 'full', full, 'newest', newest,
  'failing', failing, 'cause', cause) FROM backup_state WHERE ?1 IS NOT NULL";
}
