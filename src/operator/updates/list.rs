//! Reads updates.

use super::checked::refused;
use crate::ledger::updates::{self, Pledges, UpdateFilter, UpdateRow, UpdateState};
use crate::ledger::{Ledger, update_records};
use crate::operator::Result;
use crate::scope::Mode;
use crate::settlement::Month;
use crate::updates::{MAX_UPDATES, OfferingUpdates};

/// The updates of some months.
#[derive(Clone, Debug)]
pub struct UpdateList {
    /// The updates: newest month first, then by mode, offering, and date (newest first).
    pub updates: Vec<UpdateRow>,
    /// The pledges whose record in Workers KV is outdated, so that timelines do not show the last change yet.
    pub outdated: Vec<Pledges>,
}

/// Returns at most `most` updates of these months, also those that are withdrawn. Two queries.
///
/// # Errors
/// If the ledger fails.
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

/// Returns an update, also if it is withdrawn. One query.
///
/// # Errors
/// If there is no update with this ID, or the ledger fails.
pub async fn get(ledger: &dyn Ledger, id: &str) -> Result<UpdateRow> {
    updates::get(ledger, id).await?.ok_or_else(|| unknown(id))
}

pub(super) fn unknown(id: &str) -> crate::operator::OperatorError {
    let quoted: String = id.chars().take(80).collect();
    refused(format_args!("there is no update `{quoted}`"))
}

/// Returns what a timeline would show for these pledges if `preview`, an update, was published now: the published updates
/// and this one, newest first. One query.
///
/// # Errors
/// If the ledger fails.
pub async fn shown(ledger: &dyn Ledger, preview: &UpdateRow) -> Result<OfferingUpdates> {
    let Pledges { mode, month, offering } = &preview.pledges;
    let filter =
        UpdateFilter { mode: Some(*mode), months: &[*month], offering: Some(offering) };
    let mut rows = updates::list(ledger, &filter, MAX_LISTED).await?;
    rows.retain(|row| row.state == UpdateState::Published || row.id == preview.id);
    if rows.iter().all(|row| row.id != preview.id) {
        rows.push(preview.clone());
    }
    for row in rows.iter_mut().filter(|row| row.id == preview.id) {
        row.update = preview.update.clone(); // perhaps not saved yet
    }
    rows.sort_by(|a, b| (&b.update.date, &b.at, &a.id).cmp(&(&a.update.date, &a.at, &b.id)));
    let updates = rows.into_iter().map(|row| row.update);
    Ok(OfferingUpdates::new(updates.take(MAX_UPDATES).collect()))
}

/// Largest number of rows that are read for a preview.
const MAX_LISTED: usize = 1_000;
