//! The ledger's health, for people and monitors.

use super::backup_state;
use super::backup_state::Backups;
use super::findings::CountFindings;
use super::state::{Get, State};
use crate::office::shared::rows::port::{Ledger, LedgerError, Query as _, Result};
use crate::office::shared::rows::published::CountUnpublished;
use crate::pledges::time::date_time;
use serde::Serialize;

/// Maximum size of a D1 database: 10 GB.
pub const MAX_BYTES: u64 = 10_000_000_000;
/// The size from which the report of the ledger's health shows a problem: 8 GB.
const MANY_BYTES: u64 = 8_000_000_000;
/// The interval of the cron trigger in `wrangler.dashboard.toml`.
pub(crate) const CRON_MINUTES: u64 = 5;
/// A change is reported if Workers KV does not show it after this time, in milliseconds. Until then, the cron may not have
/// compared it.
const PUBLISHED_MS: u64 = 15 * 60_000;
/// A reconciliation is overdue if the last complete one began more than this many intervals ago.
const LATE_INTERVALS: u64 = 2;

/// The health of the ledger. Times are RFC 3339 in UTC.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// The time up to which the ledger has every transaction; `None` until the first complete
    /// reconciliation.
    pub complete_up_to: Option<String>,
    /// The time of the earliest transactions that the ledger keeps; `None` if it keeps all transactions.
    pub kept_from: Option<String>,
    pub received: Option<String>,
    /// The delay of the ledger's last messages, in milliseconds: the age of their oldest transaction when the
    /// messages were received.
    pub lag_ms: Option<u64>,
    /// The last complete reconciliation.
    pub last_pass: Option<Pass>,
    /// The reconciliation that is under way.
    pub current_pass: Option<Pass>,
    pub findings: usize,
    /// Number of changes of payments, teams, prices and profiles that Workers KV has not shown for 15 minutes.
    pub unpublished: usize,
    /// When the first of these changes was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unpublished_since: Option<String>,
    /// Size of the database in bytes, if known.
    pub bytes: Option<u64>,
    /// The backups of the cron; `None` if no bucket is bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backups: Option<Backups>,
    /// The [epoch](crate::office::system::rows::epoch) of the database; `None` if it has none.
    #[serde(skip)]
    pub epoch: Option<String>,
    /// What is wrong and what to do; `None` if all is well.
    #[serde(skip)]
    pub problem: Option<String>,
}

/// A reconciliation: one comparison of the whole ledger with the records in KV.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pass {
    pub began: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    pub listed: u64,
    pub mended: u64,
}

/// Returns the health of the ledger. One call.
pub async fn health(ledger: &dyn Ledger, now_ms: u64) -> Result<Health> {
    let unpublished = CountUnpublished { before: now_ms.saturating_sub(PUBLISHED_MS) };
    let statements = [
        Get {}.statement()?,
        CountFindings {}.statement()?,
        unpublished.statement()?,
        backup_state::Get {}.statement()?,
    ];
    let answers = ledger.run(&statements).await?;
    let [state, findings, unpublished, backups] = answers.as_slice() else {
        return Err(LedgerError::Damaged);
    };
    let (unpublished, since) =
        CountUnpublished::rows(unpublished)?.into_iter().next().unwrap_or_default();
    let state = Get::rows(state)?.into_iter().next().ok_or(LedgerError::Damaged)?;
    let findings = CountFindings::rows(findings)?.into_iter().next().unwrap_or_default();
    let backups = backup_state::Get::rows(backups)?.pop().map(|state| state.report(now_ms));
    let bytes = ledger.bytes();
    let unpublished_since = since.map(date_time);
    let problems = [
        pass_problem(&state, now_ms),
        unpublished_since.as_deref().map(|since| publishing_problem(unpublished, since)),
        bytes.and_then(size_problem),
    ];
    let problems: Vec<String> = problems.into_iter().flatten().collect();
    let problem = (!problems.is_empty()).then(|| problems.join("; "));
    let of_state = Health::of(&state);
    Ok(Health { findings, unpublished, unpublished_since, bytes, backups, problem, ..of_state })
}

impl Health {
    fn of(state: &State) -> Self {
        let last_pass = state.completed.map(|began| Pass {
            began: date_time(began),
            ended: state.ended.map(date_time),
            listed: state.last_listed,
            mended: state.last_mended,
        });
        let current_pass = state.started.map(|began| Pass {
            began: date_time(began),
            ended: None,
            listed: state.listed,
            mended: state.mended,
        });
        Health {
            complete_up_to: state.watermark().map(date_time),
            kept_from: state.first_kept(),
            received: state.received.map(date_time),
            lag_ms: state.delay,
            epoch: state.epoch.clone(),
            last_pass,
            current_pass,
            ..Health::default()
        }
    }
}

fn publishing_problem(unpublished: usize, since: &str) -> String {
    let changes = if unpublished == 1 { "change" } else { "changes" };
    format!(
        "Workers KV does not show {unpublished} {changes} of payments, teams, prices or profiles, the first of {since}, so the \
         API does not follow them: look at the log of the dashboard's Worker for lines with `\"copies\"`"
    )
}

fn pass_problem(state: &State, now_ms: u64) -> Option<String> {
    let late_ms = LATE_INTERVALS * state.interval_ms();
    match (state.completed, state.started) {
        (Some(began), _) if now_ms.saturating_sub(began) <= late_ms => None,
        (Some(began), _) => Some(format!(
            "the last complete reconciliation began on {}, and a new one is overdue: look at the log of the \
             dashboard's Worker for lines with `\"ledger\"`",
            date_time(began)
        )),
        (None, Some(_)) => Some(format!(
            "the ledger is not complete yet: its first reconciliation has read {} records",
            state.listed
        )),
        (None, None) => Some(format!(
            "the ledger is not complete yet: its first reconciliation begins within {CRON_MINUTES} minutes. If it \
             does not, check the cron trigger of the dashboard's Worker, in wrangler.dashboard.toml"
        )),
    }
}

fn size_problem(bytes: u64) -> Option<String> {
    let tenths = bytes / (MAX_BYTES / 100);
    (bytes >= MANY_BYTES).then(|| {
        format!(
            "the database uses {}.{} of the {} GB that D1 allows: see docs/ledger.md",
            tenths / 10,
            tenths % 10,
            MAX_BYTES / 1_000_000_000
        )
    })
}
