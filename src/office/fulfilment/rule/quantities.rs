//! Pledged quantities by offering, from the ledger.

use crate::office::fulfilment::rows::quantities;
use crate::office::fulfilment::rows::quantities::OfferingSum;
use crate::office::fulfilment::rows::unit_quantities;
use crate::office::fulfilment::rows::unit_quantities::UnitSum;
use crate::office::orders::rule::TransactionFilter;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::coverage::{
    Coverage, DamagedRecords, as_count, coverage_of_quantities,
};
use crate::office::shared::rule::error::Result;
use crate::pledges::scope::Mode;
use crate::pledges::settlement::Month;
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PledgedQuantities {
    /// The sums, newest month first, then by mode and offering.
    pub quantities: Vec<OfferingSum>,
    pub more: bool,
    /// Transactions that the sums leave out, because their quantities take more than 1.4 MB as JSON. They
    /// belong to the units of the query, and may be of any month.
    #[serde(serialize_with = "as_count")]
    pub left_out: DamagedRecords,
    #[serde(flatten)]
    pub coverage: Coverage,
}

/// Sums a month's quantities by offering, for one unit or for all units. Returns at most `most` offerings.
/// Ledger cost: 3 or 4 queries.
///
/// # Errors
/// If the unit's ID is not valid, or the ledger fails or does not keep the month.
pub async fn quantities(
    ledger: &dyn Ledger,
    filter: &TransactionFilter,
    month: Month,
    most: usize,
) -> Result<PledgedQuantities> {
    filter.check()?;
    let (coverage, left_out) = coverage_of_quantities(ledger, filter.scopes().as_deref()).await?;
    coverage.check(month)?;
    let (units, limit) = (filter.units(), most.saturating_add(1)); // one more shows whether there are more
    let mut quantities =
        quantities::quantities(ledger, filter.mode, units.as_deref(), &[month], limit).await?;
    let more = quantities.len() > most;
    quantities.truncate(most);
    Ok(PledgedQuantities { quantities, more, left_out, coverage })
}

/// How much of an offering each unit pledged in a month.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UnitQuantities {
    /// The sums, the largest first.
    pub units: Vec<UnitSum>,
    pub more: bool,
    /// Transactions that the sums leave out, as in [`PledgedQuantities`].
    #[serde(serialize_with = "as_count")]
    pub left_out: DamagedRecords,
    #[serde(flatten)]
    pub coverage: Coverage,
}

/// Sums a month's quantities of an offering by unit. Returns at most `most` units. Ledger cost: 3 or 5 queries, one of which
/// reads all transactions of the month.
///
/// # Errors
/// If the ledger fails or does not keep the month.
pub async fn by_unit(
    ledger: &dyn Ledger,
    (mode, month): (Mode, Month),
    offering: &str,
    most: usize,
) -> Result<UnitQuantities> {
    let (coverage, left_out) = coverage_of_quantities(ledger, None).await?;
    coverage.check(month)?;
    let limit = most.saturating_add(1); // one more shows whether there are more
    let mut units = unit_quantities::by_unit(ledger, mode, month, offering, limit).await?;
    let more = units.len() > most;
    units.truncate(most);
    Ok(UnitQuantities { units, more, left_out, coverage })
}
