//! Reads the settlements of paid months.

use super::Paid;
use crate::office::audit::rule::change_of;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::ids::check_unit;
use crate::office::shared::rule::records::{load, names, read_value, read_values};
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::settlement::{ScopeMonth, Settlement};
use crate::pledges::store::{Key as _, OperatorStore, SettlementKey, decode};

/// Returns the settlement of a month; `None` if the month is not marked as paid. KV cost: 1 read.
///
/// # Errors
/// - If the unit's ID is not valid.
/// - If the record is damaged, or the store fails.
pub async fn get(store: &impl OperatorStore, of: &ScopeMonth) -> Result<Option<Settlement>> {
    check_unit(&of.scope.unit)?;
    load(store, SettlementKey(of)).await
}

/// Returns the paid months of a unit: first the months of test keys, then those of live keys, each oldest first. Months
/// that were marked in the last minute may be missing. KV cost: 1 list for each mode, and 1 read per 100 months.
///
/// # Errors
/// - If the unit's ID is not valid.
/// - If a record is damaged, or the store fails.
pub async fn list(store: &impl OperatorStore, unit: &str, mode: Option<Mode>) -> Result<Vec<Paid>> {
    check_unit(unit)?;
    let mut found = Vec::new();
    for mode in mode.map_or(vec![Mode::Test, Mode::Live], |mode| vec![mode]) {
        let scope = Scope { unit: unit.to_owned(), mode };
        let months = names(store, SettlementKey::scope_prefix(&scope), |name| {
            SettlementKey::parse(name).filter(|of| of.scope == scope)
        });
        found.extend(settlements(store, months.await?).await?);
    }
    Ok(found)
}

/// Returns those of the months that are paid.
async fn settlements(store: &impl OperatorStore, months: Vec<ScopeMonth>) -> Result<Vec<Paid>> {
    let keys: Vec<_> = months.iter().map(SettlementKey).collect();
    let values = read_values(store, &keys).await?;
    let pairs = months.into_iter().zip(values).filter_map(|(of, value)| Some((of, value?)));
    let read = |(of, value): (_, Vec<u8>)| {
        Ok(Paid { of, settlement: decode(SettlementKey::KIND, &value)? })
    };
    pairs.map(read).collect()
}

/// Returns the settlement of a month; `None` if the month is not marked as paid. Also returns the name of the
/// settlement's entry in the audit log, if the settlement's record contains that name.
pub(super) async fn look(
    store: &impl OperatorStore,
    of: &ScopeMonth,
) -> Result<Option<(Settlement, Option<String>)>> {
    let Some(record) = read_value(store, SettlementKey(of)).await? else { return Ok(None) };
    let change = change_of(&record).map(|change| change.name());
    Ok(Some((decode(SettlementKey::KIND, &record)?, change)))
}
