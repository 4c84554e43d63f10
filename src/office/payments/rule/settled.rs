//! Reads the payments of months from the ledger.

use super::Paid;
use crate::office::payments::rows::settled;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rows::published;
use crate::office::shared::rows::published::PublishedRow;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::ids::check_unit;
use crate::office::shared::rule::published::content;
use crate::pledges::scope::Mode;
use crate::pledges::settlement::{Month, ScopeMonth, Settlement};
use crate::pledges::store::{Key as _, SettlementKey, decode};
use serde_json::value::RawValue;
use std::slice;

/// Returns the payment of a month; `None` if the month is not marked as paid. Ledger cost: 1 query.
///
/// # Errors
/// - If the unit's ID is not valid.
/// - If the record is damaged, or the ledger fails.
pub async fn get(ledger: &dyn Ledger, of: &ScopeMonth) -> Result<Option<Settlement>> {
    check_unit(&of.scope.unit)?;
    Ok(last_change(ledger, of).await?.and_then(|last| last.settlement))
}

/// Returns the paid months of a unit: first the months of test keys, then those of live keys, each oldest first. Ledger
/// cost: 1 query.
///
/// # Errors
/// - If the unit's ID is not valid.
/// - If a record is damaged, or the ledger fails.
pub async fn list(ledger: &dyn Ledger, unit: &str, mode: Option<Mode>) -> Result<Vec<Paid>> {
    check_unit(unit)?;
    settled_in(ledger, mode, Some(slice::from_ref(&unit.to_owned())), None).await
}

/// Returns those of these months that are marked as paid; with `None`, all such months. Ledger cost: 1 query.
pub(super) async fn settled_in(
    ledger: &dyn Ledger,
    mode: Option<Mode>,
    units: Option<&[String]>,
    months: Option<&[Month]>,
) -> Result<Vec<Paid>> {
    let found = settled::settled(ledger, mode, units, months).await?;
    let paid = |(of, record): (_, Box<RawValue>)| {
        Ok(Paid { of, settlement: decode(SettlementKey::KIND, record.get().as_bytes())? })
    };
    found.into_iter().map(paid).collect()
}

/// The last change of whether a month is paid.
pub(crate) struct LastChange {
    /// The payment; `None` if the month was marked as unpaid again.
    pub settlement: Option<Settlement>,
    /// The ledger's row, which says whose change it was.
    pub row: PublishedRow,
}

/// Returns the last change of whether a month is paid; `None` if it was never marked. Ledger cost: 1 query.
pub(crate) async fn last_change(
    ledger: &dyn Ledger,
    of: &ScopeMonth,
) -> Result<Option<LastChange>> {
    let Some(row) = published::get(ledger, &SettlementKey(of).name()).await? else {
        return Ok(None);
    };
    let settlement = content(&row).map(|record| decode(SettlementKey::KIND, record)).transpose()?;
    Ok(Some(LastChange { settlement, row }))
}
