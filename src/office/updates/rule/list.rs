use super::refusal::unknown;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::Result;
use crate::office::updates::rows::records as update_records;
use crate::office::updates::rows::updates;
use crate::office::updates::rows::updates::{Pledges, UpdateFilter, UpdateRow};
use crate::pledges::scope::Mode;
use crate::pledges::settlement::Month;

#[derive(Clone, Debug)]
pub struct UpdateList {
    /// The updates: newest month first, then by mode, offering, and date (newest first).
    pub updates: Vec<UpdateRow>,
    /// The pledges whose record of updates in Workers KV is outdated. Timelines do not show the last change
    /// to these updates yet.
    pub outdated: Vec<Pledges>,
}

/// Returns at most `most` updates of these months, including withdrawn ones. Ledger cost: 2 queries.
pub async fn list(
    ledger: &dyn Ledger,
    mode: Option<Mode>,
    months: &[Month],
    most: usize,
) -> Result<UpdateList> {
    let filter = UpdateFilter { mode, months, offering: None };
    let updates = updates::list(ledger, &filter, most).await?;
    let outdated = update_records::outdated(ledger, mode, months).await?;
    Ok(UpdateList { updates, outdated })
}

/// Returns an update, even if it is withdrawn. Ledger cost: 1 query.
///
/// # Errors
/// If there is no update with this ID, or the ledger fails.
pub async fn get(ledger: &dyn Ledger, id: &str) -> Result<UpdateRow> {
    updates::get(ledger, id).await?.ok_or_else(|| unknown(id))
}
