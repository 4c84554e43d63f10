//! Pledged quantities by offering, from the ledger.

use super::Result;
use super::coverage::{Coverage, Damaged, coverage_of_quantities};
use super::transactions::Wanted;
use crate::ledger::{self, Ledger, OfferingSum};
use crate::settlement::Month;
use serde::Serialize;

/// Pledged quantities by offering.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pledged {
    /// The sums, newest month first, then by mode and offering.
    pub quantities: Vec<OfferingSum>,
    /// Whether there are more offerings than the requested number.
    pub more: bool,
    /// Transactions of these units, of any month, with too many quantities to be summed: more than 1.4 MB as JSON.
    pub left_out: Damaged,
    /// How complete the sums are.
    #[serde(flatten)]
    pub coverage: Coverage,
}

/// Sums the quantities of a month by offering, for one unit or all, and for at most `most` offerings. Ledger cost: 3 or 4
/// queries.
///
/// # Errors
/// If the unit's ID is out of bounds, or the ledger does not keep the month, or fails.
pub async fn quantities(
    ledger: &dyn Ledger,
    wanted: &Wanted,
    month: Month,
    most: usize,
) -> Result<Pledged> {
    wanted.check()?;
    let (coverage, left_out) = coverage_of_quantities(ledger, wanted.shops().as_deref()).await?;
    coverage.check(month)?;
    let (units, limit) = (wanted.units(), most.saturating_add(1)); // one more tells whether there are more
    let mut quantities =
        ledger::quantities(ledger, wanted.mode, units.as_deref(), &[month], limit).await?;
    let more = quantities.len() > most;
    quantities.truncate(most);
    Ok(Pledged { quantities, more, left_out, coverage })
}
