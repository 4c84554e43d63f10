//! Runs one invocation of the cron job. In this order, it
//!
//! - deletes the records of old operations;
//! - writes the rows of transactions whose message the queue did not accept;
//! - continues the reconciliation;
//! - stores the sums of days.

use super::days::store_days;
use super::findings::Note;
use super::receive::load;
use super::reconcile::{PassOutcome, PassTiming, reconcile};
use super::state::{SHOWN_AFTER_MS, State};
use crate::office::orders::rows::entry;
use crate::office::orders::rows::entry::Origin;
use crate::office::shared::rows::operations;
use crate::office::shared::rows::port::{Ledger, Query as _};
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{Key as _, LedgerUnsentKey, OperatorStore, StoreError};
use crate::pledges::types::TransactionId;
use serde::Serialize;
use std::slice;

/// Number of calls in one step of the reconciliation. The time limit is checked between steps.
const STEP: u32 = 100;
/// Maximum number of calls for one mark in KV. A mark names a transaction whose message the queue did not accept. The
/// calls read the transaction, write its row, and remove the mark.
const CALLS_OF_A_MARK: u32 = 5;
/// Number of random bytes in the name of a process that runs the reconciliation.
const HOLDER_BYTES: usize = 8;

type Result<T, E = StoreError> = std::result::Result<T, E>;

/// The limits of an invocation.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// About how many calls of KV and the ledger an invocation may make.
    pub calls: u32,
    /// The time after which no new step begins, in milliseconds from the start.
    pub milliseconds: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Upkeep {
    pub reached: PassOutcome,
    /// Number of rows that this invocation wrote for transactions whose message the queue had not accepted.
    pub unsent: u32,
    /// Number of records that the pass has listed so far. If the pass has ended, this is the total.
    pub listed: u64,
    /// Number of rows that the pass has written or removed.
    pub mended: u64,
    /// Number of days whose sums were stored.
    pub days: u32,
}

/// Returns a unique text that identifies a process that runs the reconciliation.
pub fn holder(entropy: &impl Entropy) -> String {
    let mut random = [0; HOLDER_BYTES];
    entropy.fill(&mut random);
    base16ct::lower::encode_string(&random)
}

/// Deletes the records of old operations, writes missing rows and continues the reconciliation, within the
/// limits. Then stores the sums of ended days, unless a pass is still under way. A call may be interrupted
/// at any point, and the next one continues.
pub async fn keep_up(
    ledger: &dyn Ledger,
    store: &impl OperatorStore,
    clock: &impl Clock,
    holder: &str,
    limits: Limits,
) -> Result<Upkeep> {
    let until = clock.now_ms().saturating_add(limits.milliseconds);
    operations::forget(ledger, clock.now_ms()).await?;
    let (unsent, used) = write_unsent(ledger, store, clock, limits.calls / 2, until).await?;
    let mut calls = limits.calls.saturating_sub(used);
    loop {
        let step = calls.min(STEP);
        let (reached, state) =
            reconcile(ledger, store, clock, (holder, PassTiming::Due), step).await?;
        calls -= step;
        if matches!(reached, PassOutcome::Complete | PassOutcome::NotDue) {
            let days = store_days(ledger, clock, calls, until).await?;
            return Ok(Upkeep { days, ..Upkeep::new(reached, unsent, &state) });
        }
        if reached == PassOutcome::Busy || calls < STEP || clock.now_ms() >= until {
            return Ok(Upkeep::new(reached, unsent, &state));
        }
    }
}

impl Upkeep {
    fn new(reached: PassOutcome, unsent: u32, state: &State) -> Self {
        let (listed, mended) = match reached {
            PassOutcome::Part | PassOutcome::Busy => (state.listed, state.mended),
            PassOutcome::Complete | PassOutcome::NotDue => (state.last_listed, state.last_mended),
        };
        Upkeep { reached, unsent, listed, mended, days: 0 }
    }
}

/// Writes the rows of transactions whose message the queue did not accept, and removes the marks in KV that
/// name these transactions. Returns the number of transactions and the number of calls used.
async fn write_unsent(
    ledger: &dyn Ledger,
    store: &impl OperatorStore,
    clock: &impl Clock,
    calls: u32,
    until: u64,
) -> Result<(u32, u32)> {
    let marks = store.list(LedgerUnsentKey::PREFIX, None).await?;
    let ids = marks.records.iter().filter_map(|record| LedgerUnsentKey::parse(&record.name));
    let (mut written, mut used) = (0, 1);
    for id in ids {
        if used + CALLS_OF_A_MARK > calls || clock.now_ms() >= until {
            break;
        }
        used += CALLS_OF_A_MARK;
        if write_row(ledger, store, clock, &id).await? {
            store.remove(&LedgerUnsentKey(&id)).await?;
            written += 1;
        }
    }
    Ok((written, used))
}

/// Writes the row of one transaction. Transactions are written one by one, because a row can be as large as
/// its record. Returns false if KV does not show the record yet. The mark is then kept for the next
/// invocation.
async fn write_row(
    ledger: &dyn Ledger,
    store: &impl OperatorStore,
    clock: &impl Clock,
    id: &TransactionId,
) -> Result<bool> {
    let origin = Origin::Record { unless_since: clock.now_ms().saturating_sub(SHOWN_AFTER_MS) };
    let Some(found) = load(store, id).await? else { return Ok(false) };
    let Some(entry) = found else { return Ok(true) }; // damaged: the reconciliation reports it
    let now = clock.now_ms();
    let (_, findings) = entry::write_all(ledger, slice::from_ref(&entry), origin, now).await?;
    if !findings.is_empty() {
        ledger.run(&[Note { now, pass: now, findings: &findings }.statement()?]).await?;
    }
    Ok(true)
}
