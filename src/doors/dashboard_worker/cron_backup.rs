//! The backups of the cron, in the bucket that is bound as `BACKUPS`.

use super::DashboardBindings;
use super::bucket::R2Bucket;
use crate::doors::cloudflare::KvStore;
use crate::doors::platform::Platform;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::OperatorError;
use crate::office::system::rows::backup_state;
use crate::office::system::rows::upkeep::Limits;
use crate::office::system::rule::backup_index::BackupDays;
use crate::office::system::rule::cron_backup;
use crate::office::system::rule::cron_backup::{BackupOutcome, BackupPorts};
use crate::pledges::service::Clock as _;
use serde::Serialize;
use serde_json::{Value, json};
use worker::{console_error, console_log};

/// The limits of one invocation. Cloudflare allows 1,000 calls and 15 minutes, of which the ledger's upkeep uses a part. The next
/// invocation begins after 5 minutes.
const LIMITS: Limits = Limits { calls: 700, milliseconds: 4 * 60_000 };

#[derive(Serialize)]
struct BackupLine {
    /// `None` after a failure.
    backup: Option<BackupOutcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    ms: u64,
}

/// Begins or continues a backup, if a bucket is bound. After a failure, the next invocation continues.
pub async fn back_up(bindings: &DashboardBindings, store: &KvStore, ledger: &dyn Ledger) {
    let Some(bucket) = bindings.backups().map(R2Bucket::new) else {
        let _or_by_the_next_invocation = backup_state::forget(ledger).await;
        return;
    };
    let began_ms = Platform.now_ms();
    let ports = BackupPorts { bucket: &bucket, store, ledger, clock: &Platform };
    let outcome = cron_backup::back_up(ports, &place(bindings), days(bindings), LIMITS).await;
    log(outcome, Platform.now_ms().saturating_sub(began_ms));
}

/// Returns the settings. The page System reports a variable that is ignored.
fn days(bindings: &DashboardBindings) -> BackupDays {
    let full = bindings.backup_full_days().unwrap_or_default();
    BackupDays::parse(&full, &bindings.backup_kept_days().unwrap_or_default()).0
}

/// Returns where the records are from, as backups of commands say it. A deploy sets the variable; without it, only the
/// environment is known.
fn place(bindings: &DashboardBindings) -> Value {
    let deployed = bindings.backup_place().and_then(|place| serde_json::from_str(&place).ok());
    deployed.unwrap_or_else(|| {
        let (environment, unknown) = (bindings.environment().unwrap_or_default(), "unknown");
        json!({ "kind": "cloudflare", "account": unknown, "environment": environment, "worker": unknown, "namespace": unknown })
    })
}

fn log(outcome: Result<BackupOutcome, OperatorError>, ms: u64) {
    let cause = outcome.as_ref().err().map(OperatorError::to_string);
    let line = BackupLine { backup: outcome.ok(), cause, ms };
    let text = serde_json::to_string(&line).unwrap_or_default(); // cannot fail
    match line.backup {
        Some(BackupOutcome::NotDue) => {}
        Some(_) => console_log!("{text}"),
        None => console_error!("{text}"),
    }
}
