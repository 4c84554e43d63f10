//! The rows that only the ledger has (people, credits, fulfilments and updates) in backups and restores.

use super::adopt::adopt;
use super::epoch;
use crate::office::shared::rows::port::{Ledger, if_bound};
use crate::office::shared::rows::published;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::system::rows::kept;
use crate::office::system::rows::own_rows;
use crate::office::system::rows::own_rows::OwnTable;
use crate::office::system::rows::state;
use crate::office::updates::rows::records as update_records;
use crate::office::updates::rule as updates;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::Month;
use crate::pledges::store::OperatorStore;
use serde::{Deserialize, Serialize};

/// The part of a backup's header that is about the database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnRowsHeader {
    /// The epoch of the database; `None` if it had no row.
    pub epoch: Option<String>,
    /// The database keeps transactions that were created at this time or later, in milliseconds since 1970; 0 means all.
    pub kept_from: u64,
}

/// Returns the part of a backup's header that is about the database; `None` if no database is bound. KV cost: 1 read.
/// Ledger cost: 1 query.
///
/// # Errors
/// If the database has lost rows, or the ledger or the store fails.
pub async fn header(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
) -> Result<Option<OwnRowsHeader>> {
    let Some(state) = if_bound(state::state(ledger).await)? else { return Ok(None) };
    epoch::check_own(store, state.epoch.as_deref()).await?;
    Ok(Some(OwnRowsHeader { epoch: state.epoch, kept_from: state.kept_from }))
}

/// Fails if a text of a backup is not a row of the table.
pub fn check(table: OwnTable, row: &str) -> Result<()> {
    own_rows::check(table, row).map_err(|_| {
        OperatorError::invalid("the backup has an invalid row of the ledger".to_owned())
    })
}

/// Prepares a restore. Until the restore [ends](end), every database except the backup's own is
/// refused. A new database is set to keep the same months as the backup's. KV cost: at most 1
/// write. Ledger cost: at most 3 queries.
pub async fn begin(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    header: &OwnRowsHeader,
) -> Result<()> {
    if let Some(epoch) = &header.epoch {
        epoch::expect(store, ledger, epoch).await?;
    }
    let Some(state) = if_bound(state::state(ledger).await)? else { return Ok(()) };
    if state.epoch.is_none() && state.kept_from == 0 && header.kept_from > 0 {
        kept::keep_from(ledger, Month::at(header.kept_from)).await?;
    }
    Ok(())
}

/// Ends a restore of a backup without such rows. Returns whether the database counts as one that has lost such rows. KV
/// cost: 1 read, at most 1 write, and the cost of [`adopt`]. Ledger cost: 2 queries.
///
/// # Errors
/// If the ledger or the store fails.
pub async fn end_without(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    (clock, entropy): (&impl Clock, &impl Entropy),
) -> Result<bool> {
    if if_bound(published::forget(ledger).await)?.is_some() {
        adopt(store, ledger, clock.now_ms()).await?;
    }
    epoch::expect_rows(store, ledger, entropy).await
}

/// Ends a restore whose rows are written: the database counts as complete, and timelines show its updates. KV cost: 1
/// write, and that of [`updates::compare`]. Ledger cost: 2 calls, and that of [`updates::compare`].
///
/// # Errors
/// If a timeline shows updates that the database lacks, or the ledger or the store fails.
pub async fn end(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    (clock, entropy): (&impl Clock, &impl Entropy),
    header: &OwnRowsHeader,
) -> Result<()> {
    published::forget(ledger).await?;
    adopt(store, ledger, clock.now_ms()).await?; // before anybody may mark a month as paid
    update_records::complete(ledger).await?;
    if header.epoch.is_some() {
        epoch::adopt(store, ledger, entropy).await?;
    }
    updates::compare(store, ledger, clock).await.map(drop)
}
