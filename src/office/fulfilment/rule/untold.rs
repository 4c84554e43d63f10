//! Pledges of which buyers were told nothing yet.

use super::balance::{Balance, balances};
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::pledges::scope::Mode;
use crate::pledges::service::Clock;
use crate::pledges::settlement::Month;
use crate::pledges::store::OperatorStore;
use crate::pledges::time::DAY_MS;

/// How long after the end of a month its buyers may have been told nothing, in milliseconds.
const QUIET_MS: u64 = 14 * DAY_MS;
/// Number of months that are searched.
const MONTHS: usize = 2;
/// Maximum number of offerings that are searched.
const MAX_SEARCHED: usize = 500;

/// Returns the live pledges of the last two months that ended more than 14 days ago for which no update is published, and
/// which are not credited in whole. Ledger cost: 7 or 8 queries. KV cost: 1 read.
///
/// # Errors
/// If the ledger has lost credits or fulfilments, or fails.
pub async fn untold(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    clock: &impl Clock,
) -> Result<Vec<Balance>> {
    let at_ms = clock.now_ms().saturating_sub(QUIET_MS);
    let mut months = Month::last(at_ms, MONTHS + 1);
    months.retain(|month| month.has_ended(at_ms));
    match balances(store, ledger, Some(Mode::Live), &months, MAX_SEARCHED).await {
        Err(OperatorError::Invalid(_)) => Ok(Vec::new()), // the ledger keeps none of these months
        found => Ok(found?.balances.into_iter().filter(Balance::is_untold).collect()),
    }
}
