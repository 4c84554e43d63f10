//! What was pledged by offering, as the ledger sums it.

use super::Result;
use super::coverage::{Coverage, Damaged, coverage_of_quantities};
use super::transactions::Wanted;
use crate::ledger::{self, Ledger, OfferingSum};
use crate::settlement::Month;
use serde::Serialize;

/// What was pledged in months, by offering.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pledged {
    /// The newest month first, then by mode and offering.
    pub quantities: Vec<OfferingSum>,
    /// Whether there are more offerings than were asked for.
    pub more: bool,
    /// Transactions of these units, of any month, whose quantities are too many to be summed: more than 1.4 MB as JSON.
    pub left_out: Damaged,
    /// Up to when this is complete.
    #[serde(flatten)]
    pub coverage: Coverage,
}

/// Sums what was pledged in a month, by offering: of a unit or of all, at most so many offerings. Three queries, or four.
///
/// # Errors
/// If the unit's ID is out of bounds, or the ledger does not keep the month, or does not answer.
pub async fn quantities(
    ledger: &dyn Ledger,
    wanted: &Wanted,
    month: Month,
    most: usize,
) -> Result<Pledged> {
    wanted.check()?;
    let (coverage, left_out) = coverage_of_quantities(ledger, wanted.shops().as_deref()).await?;
    coverage.check(month)?;
    let (units, limit) = (wanted.units(), most.saturating_add(1)); // whether there are more
    let mut quantities =
        ledger::quantities(ledger, wanted.mode, units.as_deref(), &[month], limit).await?;
    let more = quantities.len() > most;
    quantities.truncate(most);
    Ok(Pledged { quantities, more, left_out, coverage })
}
