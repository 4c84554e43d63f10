//! The work of the cron trigger: it compares the ledger with Workers KV, repairs the records in KV that contain the updates for
//! timelines, deletes pictures that no update has, pledges orders that the queue has not delivered, queues e-mails with news for
//! buyers, sends e-mails to the people of the dashboard, writes public totals, and makes backups.

use super::DashboardBindings;
use super::bucket::R2Bucket;
use super::cron_backup::back_up;
use super::intake::catch_up;
use super::notices::send_notices;
use super::work_line::log_work;
use crate::doors::cloudflare::{KvStore, R2};
use crate::doors::platform::Platform;
use crate::office::audit::rule as audit;
use crate::office::shared::rows::port::{Ledger, Unbound};
use crate::office::system::rows::reconcile::PassOutcome;
use crate::office::system::rows::upkeep;
use crate::office::system::rows::upkeep::{Limits, Upkeep};
use crate::office::system::rule::epoch;
use crate::office::totals::rule as totals;
use crate::office::totals::rule::Totals;
use crate::office::updates::rule as updates;
use crate::office::updates::rule::NewsQueued;
use crate::pledges::service::Clock as _;
use crate::pledges::store::{OperatorStore, StoreError};
use serde::Serialize;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::{console_error, console_log};

/// The limits of one invocation. Cloudflare allows 1,000 D1 queries and 15 minutes. A call of the ledger
/// makes up to 3 queries (1.5 on average), and the next invocation begins after 5 minutes.
const LIMITS: Limits = Limits { calls: 600, milliseconds: 4 * 60_000 };

/// Maximum number of update records in KV that an invocation compares with the ledger's rows.
const MAX_COMPARED: usize = 10;
/// Number of copies that an invocation compares at a time: a price list may have 1 MiB.
const MAX_COPIES: usize = 10;
/// Maximum number of public totals that an invocation writes: 1,440 a day. One takes at most 43 of the calls.
const MAX_TOTALS: usize = 5;

#[derive(Serialize)]
struct CronLog<'a> {
    ledger: &'a str,
    #[serde(flatten)]
    upkeep: Option<&'a Upkeep>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'a str>,
    ms: u64,
}

/// Keeps up the ledger, pledges orders, and queues and sends e-mails. If that was little work, then writes public totals, and
/// makes backups if a bucket is bound. Returns no error: after a failure, the next invocation continues where this one stopped.
#[wasm_bindgen(js_name = scheduled)]
pub async fn scheduled(bindings: DashboardBindings) {
    let store = bindings.store();
    let Some(ledger) = bindings.database() else {
        return back_up(&bindings, &store, &Unbound).await;
    };
    let began_ms = Platform.now_ms();
    let reached = keep_up(&store, &ledger, bindings.pictures()).await;
    catch_up(&bindings, &store, &ledger).await;
    queue_news(&bindings, &store, &ledger).await;
    if reached != Reached::Limit {
        send_notices(&bindings, &store, &ledger, began_ms).await;
    }
    if reached == Reached::Idle {
        write_totals(&store, &ledger).await;
        back_up(&bindings, &store, &ledger).await;
    }
}

/// Brings entries of the audit log into the ledger, repairs records of updates and other copies, then continues the comparison
/// of the ledger with Workers KV. Returns how much of the invocation's calls it took.
async fn keep_up(store: &KvStore, ledger: &dyn Ledger, pictures: Option<R2>) -> Reached {
    let is_lost = is_lost(store, ledger).await; // before entries are brought in: one of them may be the one to look for
    bring_in_audit_log(store, ledger).await;
    mend_updates(store, ledger).await;
    if !is_lost {
        sweep_pictures(pictures, ledger).await; // otherwise updates that were lost would lose their pictures, too
        republish(store, ledger).await; // otherwise older rows would replace newer copies
    }
    let began_ms = Platform.now_ms();
    let holder = upkeep::holder(&Platform);
    let outcome = upkeep::keep_up(ledger, store, &Platform, &holder, LIMITS).await;
    log(&outcome, Platform.now_ms().saturating_sub(began_ms));
    match outcome {
        Ok(Upkeep { reached: PassOutcome::Part, .. }) => Reached::Limit,
        Ok(Upkeep { reached: PassOutcome::NotDue, unsent: 0, days: 0, .. }) => Reached::Idle,
        _ => Reached::Some,
    }
}

/// How much of an invocation's calls the upkeep took.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reached {
    /// So few that most are left.
    Idle,
    /// Some, or the upkeep failed.
    Some,
    /// As many as it may: the next invocation continues.
    Limit,
}

/// Brings the entries of changes in Workers KV into the ledger. After a failure, the next invocation starts again.
async fn bring_in_audit_log(store: &impl OperatorStore, ledger: &dyn Ledger) {
    if let Err(error) = audit::bring_in(store, ledger).await {
        let line = AuditLine { audit: "bring in", cause: error.to_string() };
        console_error!("{}", serde_json::to_string(&line).unwrap_or_default()); // cannot fail
    }
}

/// Returns whether the database may have lost rows.
async fn is_lost(store: &impl OperatorStore, ledger: &dyn Ledger) -> bool {
    epoch::watch(store, ledger, &Platform).await.unwrap_or(true)
}

#[derive(Serialize)]
struct AuditLine {
    audit: &'static str,
    cause: String,
}

/// Writes copies of payments, teams, price lists and profiles again that Workers KV does not show. After a failure, the next invocation
/// starts again.
async fn republish(store: &impl OperatorStore, ledger: &dyn Ledger) {
    let outcome = epoch::republish(store, ledger, (&Platform, &Platform), MAX_COPIES).await;
    log_work(("copies", "compare"), outcome, |done| (done.written, done.unknown) == (0, 0));
}

/// Repairs the records of updates in KV that differ from the ledger's rows. After a failure, the next
/// invocation starts again.
async fn mend_updates(store: &impl OperatorStore, ledger: &dyn Ledger) {
    let outcome = updates::heal(store, ledger, &Platform, MAX_COMPARED).await;
    log_work(("updates", "compare"), outcome, |done| done.written == 0);
}

/// Deletes pictures that no update has, if a bucket is bound.
async fn sweep_pictures(pictures: Option<R2>, ledger: &dyn Ledger) {
    let Some(bucket) = pictures.map(R2Bucket::new) else { return };
    let outcome = updates::sweep(&bucket, ledger, &Platform).await;
    log_work(("pictures", "sweep"), outcome, |done| done.deleted == 0);
}

/// Puts e-mails with news into the notification queue, if it is bound. After a failure, the next invocation repeats the step.
async fn queue_news(bindings: &DashboardBindings, store: &impl OperatorStore, ledger: &dyn Ledger) {
    let Some(outbox) = bindings.outbox() else { return };
    let outcome = updates::queue_news(store, ledger, &Platform, &outbox).await;
    log_work(("news", "queue"), outcome, |done| *done == NewsQueued::default());
}

/// Writes the public totals of shops that publish one. After a failure, the next invocation continues with other shops.
async fn write_totals(store: &impl OperatorStore, ledger: &dyn Ledger) {
    let outcome = totals::write(store, ledger, &Platform, MAX_TOTALS).await;
    log_work(("totals", "write"), outcome, |done| *done == Totals::default());
}

fn log(outcome: &Result<Upkeep, StoreError>, ms: u64) {
    let cause = outcome.as_ref().err().map(cause);
    let line = CronLog { ledger: "reconcile", upkeep: outcome.as_ref().ok(), cause, ms };
    let line = serde_json::to_string(&line).unwrap_or_default(); // cannot fail
    match outcome {
        Ok(_) => console_log!("{line}"),
        Err(_) => console_error!("{line}"),
    }
}

/// Returns the cause of a failure for the log. The code that called KV or D1 has already logged the details.
fn cause(error: &StoreError) -> &str {
    match error {
        StoreError::Unavailable => "no answer",
        StoreError::Busy => "no memory",
        StoreError::Damaged(problem) => problem,
    }
}
