//! Runs a whole reconciliation pass, or empties the ledger, for operators' commands.

use super::reconcile::{Counts, PassOutcome, PassTiming, count};
use super::state::State;
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
/// Cancels a pass that is under way.
pub async fn clear(ledger: &dyn Ledger) -> crate::office::shared::rows::port::Result<()> {
    let statement = |sql| Statement { sql, parameter: "{}".to_owned() };
    ledger.run(&CLEAR.map(statement)).await.map(drop)
}

/// The triggers, as in `src/office/system/migrations`, that run when a transaction is deleted.
const DAY_TRIGGER: &str = "CREATE TRIGGER day_of_removed_transaction AFTER DELETE ON transactions
BEGIN
  DELETE FROM day_quantities WHERE day = OLD.created / 86400000;
  DELETE FROM day_charges WHERE scope = OLD.scope AND day = OLD.created / 86400000;
END";
const DUE_TRIGGER: &str = "CREATE TRIGGER due_without_transaction AFTER DELETE ON transactions WHEN EXISTS (SELECT 1 FROM due_versions)
BEGIN
  UPDATE due_versions SET version = version + 1
  WHERE scope = (SELECT mode || ':' || unit FROM scopes WHERE scope = OLD.scope)
    AND month >= strftime('%Y-%m', OLD.created / 1000, 'unixepoch');
END";

/// The SQL statements of [`clear`]. They drop the triggers, empty the table, and then create the triggers again.
/// With a trigger, SQLite would delete row by row, which takes longer than D1 allows. The time of the last
/// messages (`received`) is kept.
const CLEAR: [&str; 12] = [
    "DROP TRIGGER IF EXISTS day_of_removed_transaction",
    "DROP TRIGGER IF EXISTS due_without_transaction",
    "DELETE FROM transactions",
    DAY_TRIGGER,
    DUE_TRIGGER,
    "DELETE FROM day_quantities",
    "DELETE FROM day_charges",
    "DELETE FROM scopes",
    "UPDATE due_versions SET version = version + 1",
    "DELETE FROM keys",
    "DELETE FROM findings",
    "UPDATE reconciliation SET lease = 0, holder = '', started = NULL, cursor = NULL, after = '',
  listed = 0, mended = 0, completed = NULL, ended = NULL, last_listed = 0, last_mended = 0, failures = 0,
  cleared = cleared + 1",
];
