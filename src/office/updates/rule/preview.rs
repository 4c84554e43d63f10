//! Previews what a timeline would show after an update is published.

use super::checked::{NewUpdate, check_pledges, checked};
use super::refusal::refused;
use crate::buyer::updates::{OfferingUpdates, Update, UpdateId};
use crate::office::audit::rule::Author;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::Result;
use crate::office::updates::rows::updates;
use crate::office::updates::rows::updates::{Pledges, UpdateFilter, UpdateRow, UpdateState};
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::time::date_time;

/// Largest number of rows that are read for a preview.
const MAX_LISTED: usize = 1_000;

/// Returns the updates that a timeline would show for these pledges if `wanted` were published now. These are
/// `wanted` and the published updates, newest first. If `wanted` edits a stored update, `row` is that update;
/// `None` if `wanted` is new. Ledger cost: 1 query.
///
/// # Errors
/// If a member of the update or the offering is invalid, the month has not begun, or the ledger fails.
pub async fn preview(
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    pledges: &Pledges,
    row: Option<&UpdateRow>,
    wanted: &NewUpdate,
) -> Result<OfferingUpdates> {
    check_pledges(pledges, author.clock)?;
    let new =
        || UpdateId::parse("preview".to_owned()).ok_or_else(|| refused("the preview has no ID"));
    let id = row.map_or_else(new, |row| Ok(row.update.id.clone()))?;
    let wanted = checked(id, wanted, author.clock)?;
    let at = row.map_or_else(|| date_time(author.clock.now_ms()), |row| row.at.clone());
    let Pledges { mode, month, offering } = pledges;
    let filter = UpdateFilter { mode: Some(*mode), months: &[*month], offering: Some(offering) };
    let rows = updates::list(ledger, &filter, MAX_LISTED).await?;
    let others = rows
        .into_iter()
        .filter(|other| other.state == UpdateState::Published && *other.id != *wanted.id);
    let mut shown: Vec<(String, Update)> = others.map(|row| (row.at, row.update)).collect();
    shown.push((at, wanted));
    shown.sort_by(|(a_at, a), (b_at, b)| (&b.date, b_at, &a.id).cmp(&(&a.date, a_at, &b.id)));
    Ok(OfferingUpdates::new(shown.into_iter().map(|(_, update)| update).collect()))
}
