//! The cron: keeps the ledger up.

use super::Bindings;
use crate::handle::Clock as _;
use crate::ledger::{self, Limits, Upkeep};
use crate::platform::Platform;
use crate::store::StoreError;
use serde::Serialize;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::{console_error, console_log};

/// The platform allows an invocation 1,000 queries of D1, of which a call of ours has up to three, 1.5 on average, and 15
/// minutes. The next invocation begins after 5.
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

/// Goes on with the reconciliation. It never fails: what was not done now, the next invocation does.
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
    let line = serde_json::to_string(&line).unwrap_or_default(); // it cannot fail
    match outcome {
        Ok(_) => console_log!("{line}"),
        Err(_) => console_error!("{line}"),
    }
}

/// Why it ended. The ports have logged more.
fn cause(error: &StoreError) -> &str {
    match error {
        StoreError::Unavailable => "no answer",
        StoreError::Busy => "no memory",
        StoreError::Damaged(problem) => problem,
    }
}
