//! The cron trigger, which reconciles the ledger.

use super::Bindings;
use crate::ledger::{self, Limits, Upkeep};
use crate::platform::Platform;
use crate::service::Clock as _;
use crate::store::StoreError;
use serde::Serialize;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::{console_error, console_log};

/// The limits of an invocation. Cloudflare allows 1,000 D1 queries and 15 minutes; a ledger call makes up to 3 queries, 1.5 on
/// average. The next invocation begins after 5 minutes.
const LIMITS: Limits = Limits { calls: 600, milliseconds: 4 * 60_000 };

/// The log line of an invocation.
#[derive(Serialize)]
struct Line<'a> {
    ledger: &'a str,
    #[serde(flatten)]
    upkeep: Option<&'a Upkeep>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'a str>,
    ms: u64,
}

/// Continues the reconciliation pass. Returns no error: after a failure, the next invocation continues from the same place.
#[wasm_bindgen(js_name = scheduled)]
pub async fn keep_up(bindings: Bindings) {
    let Some(ledger) = bindings.ledger() else { return };
    let store = bindings.store();
    let began_ms = Platform.now_ms();
    let holder = ledger::holder(&Platform);
    let outcome = ledger::keep_up(&ledger, &store, &Platform, &holder, LIMITS).await;
    log(&outcome, Platform.now_ms().saturating_sub(began_ms));
}

fn log(outcome: &Result<Upkeep, StoreError>, ms: u64) {
    let cause = outcome.as_ref().err().map(cause);
    let line = Line { ledger: "reconcile", upkeep: outcome.as_ref().ok(), cause, ms };
    let line = serde_json::to_string(&line).unwrap_or_default(); // cannot fail
    match outcome {
        Ok(_) => console_log!("{line}"),
        Err(_) => console_error!("{line}"),
    }
}

/// Returns the cause of a failure for the log. The ports have logged the details.
fn cause(error: &StoreError) -> &str {
    match error {
        StoreError::Unavailable => "no answer",
        StoreError::Busy => "no memory",
        StoreError::Damaged(problem) => problem,
    }
}
