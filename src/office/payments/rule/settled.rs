//! Reads the settlements of paid months.

use super::{Paid, ShopMonth};
use crate::office::audit::rule::change_of;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::ids::check_unit;
use crate::office::shared::rule::records::{load, names, read_value, read_values};
use crate::pledges::scope::Mode;
use crate::pledges::settlement::{Month, Settlement};
use crate::pledges::store::{Key as _, OperatorStore, SettlementKey, decode};

/// Returns the settlement of a shop's month; `None` if the month is not marked as paid. KV cost: 1 read.
///
/// # Errors
/// - If the unit's ID is not valid.
/// - If the record is damaged, or the store fails.
pub async fn get(store: &impl OperatorStore, of: &ShopMonth) -> Result<Option<Settlement>> {
    check_unit(&of.unit)?;
    load(store, of.key()).await
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
        let months = names(store, SettlementKey::shop_prefix(mode, unit), |name| {
            SettlementKey::parse(name).filter(|key| key.unit == unit).map(|key| key.month)
        });
        for (month, settlement) in settlements(store, unit, mode, months.await?).await? {
            let of = ShopMonth { unit: unit.to_owned(), mode, month };
            found.extend(settlement.map(|settlement| Paid::new(&of, settlement)));
        }
    }
    Ok(found)
}

/// Returns the given months of a shop, each with its settlement; `None` in place of a settlement means that
/// the month is unpaid.
async fn settlements(
    store: &impl OperatorStore,
    unit: &str,
    mode: Mode,
    months: Vec<Month>,
) -> Result<Vec<(Month, Option<Settlement>)>> {
    let key = |month: &Month| SettlementKey { mode, unit, month: *month };
    let keys: Vec<_> = months.iter().map(key).collect();
    let values = read_values(store, &keys).await?;
    let read = |value: Vec<u8>| decode(SettlementKey::KIND, &value);
    let pairs = months.into_iter().zip(values);
    pairs.map(|(month, value)| Ok((month, value.map(read).transpose()?))).collect()
}

/// Returns the settlement of a month; `None` if the month is not marked as paid. Also returns the name of the
/// settlement's entry in the audit log, if the settlement's record contains that name.
pub(super) async fn look(
    store: &impl OperatorStore,
    of: &ShopMonth,
) -> Result<Option<(Settlement, Option<String>)>> {
    let Some(record) = read_value(store, of.key()).await? else { return Ok(None) };
    let change = change_of(&record).map(|change| change.name());
    Ok(Some((decode(SettlementKey::KIND, &record)?, change)))
}
