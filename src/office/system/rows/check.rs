//! Runs a whole reconciliation pass, or empties the ledger, for operators' commands.

use super::reconcile::{Counts, PassOutcome, PassTiming, count};
use super::state::State;
use crate::office::shared::rows::claims::RECENT_MS;
use crate::office::shared::rows::port::{Ledger, Statement};
use crate::pledges::service::Clock;
use crate::pledges::store::{OperatorStore, StoreError};
use serde::Serialize;

/// Maximum number of calls of KV and the ledger in one step of a reconciliation pass.
const STEP: u32 = 200;
/// Maximum time to wait, in milliseconds, while another process runs the reconciliation. `LOOK_MS` is the
/// interval between two checks whether the other process has ended.
pub const MAX_BUSY_MS: u64 = 10 * 60_000;
const LOOK_MS: u32 = 2_000;

/// The result of a whole reconciliation pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    #[serde(flatten)]
    pub counts: Counts,
    /// The state of the reconciliation after the pass.
    #[serde(skip)]
    pub state: State,
}

/// Runs a whole reconciliation pass now. If a pass is already under way, it is finished first.
///
/// Returns `None` if another process has been running the reconciliation for ten minutes.
pub async fn check(
    ledger: &dyn Ledger,
    store: &impl OperatorStore,
    clock: &impl Clock,
    holder: &str,
) -> Result<Option<CheckReport>, StoreError> {
    let began = clock.now_ms();
    let (mut counts, mut waited, mut is_second) = (Counts::default(), 0, false);
    while waited < MAX_BUSY_MS {
        let whose = (holder, PassTiming::Now);
        let (reached, state) = count(ledger, store, clock, whose, STEP, &mut counts).await?;
        match reached {
            PassOutcome::Part => {}
            // A second pass began after the first one had ended, whatever the clocks say.
            PassOutcome::Complete if is_second || state.completed >= Some(began) => {
                return Ok(Some(CheckReport { counts, state }));
            }
            PassOutcome::Complete => (counts, is_second) = (Counts::default(), true), // the pass began before this call
            PassOutcome::Busy | PassOutcome::NotDue => {
                store.pause(LOOK_MS).await;
                waited += u64::from(LOOK_MS);
            }
        }
    }
    Ok(None)
}

/// Empties the ledger, so that the next reconciliation pass writes all rows again. Until that pass ends, no
/// month can be marked as paid.
///
/// Cancels a pass that is under way. Keeps recent claims: rows that record changes such as a payment. KV may
/// not show these changes yet.
pub async fn clear(
    ledger: &dyn Ledger,
    now_ms: u64,
) -> crate::office::shared::rows::port::Result<()> {
    let parameter = now_ms.saturating_sub(RECENT_MS).to_string();
    let statement = |sql| Statement { sql, parameter: parameter.clone() };
    ledger.run(&CLEAR.map(statement)).await.map(drop)
}

/// The trigger, as in `src/office/system/migrations`, that deletes a day's stored sums when a transaction of
/// that day is deleted.
const TRIGGER: &str = "CREATE TRIGGER day_of_removed_transaction AFTER DELETE ON transactions
BEGIN
  DELETE FROM day_quantities WHERE day = OLD.created / 86400000;
END";

/// The SQL statements of [`clear`]. They drop a trigger, empty the table, and then create the trigger again.
/// With the trigger, SQLite would delete row by row, which takes longer than D1 allows. The time of the last
/// messages (`received`) is kept.
const CLEAR: [&str; 9] = [
    "DROP TRIGGER IF EXISTS day_of_removed_transaction",
    "DELETE FROM transactions",
    TRIGGER,
    "DELETE FROM day_quantities",
    "DELETE FROM scopes",
    "DELETE FROM keys",
    "DELETE FROM claims WHERE at < ?1 ->> '$'",
    "DELETE FROM findings",
    "UPDATE reconciliation SET lease = 0, holder = '', started = NULL, part = 'transactions', cursor = NULL, after = '',
  listed = 0, mended = 0, completed = NULL, ended = NULL, last_listed = 0, last_mended = 0, imported = NULL, failures = 0",
];
