use super::row::UnitRow;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::ids::check_unit;
use crate::office::shared::rule::published::latest;
use crate::office::shared::rule::records::{read_value, read_values};
use crate::office::shops::rule::register;
use crate::pledges::store::{Key as _, MAX_READS, OperatorStore, ProfileKey, UnitKey};

/// Returns a unit's profile; `None` if the unit has no profile. The timelines of a unit without a profile
/// show the name Impact Pledge. KV cost: 1 read.
///
/// # Errors
/// If the unit's ID is not valid, or the store fails.
pub async fn get(store: &impl OperatorStore, unit: &str) -> Result<Option<UnitRow>> {
    check_unit(unit)?;
    let record = read_value(store, ProfileKey(unit)).await?;
    Ok(record.map(|record| UnitRow::new(unit).with_profile(&record)))
}

/// Returns the newest version of a unit's profile, for a change; `None` if the unit has none. KV may show an older one for a
/// minute. Ledger cost: 1 query. KV cost: at most 1 read.
///
/// # Errors
/// If the unit's ID is not valid, or the store fails.
pub async fn newest(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    unit: &str,
) -> Result<Option<UnitRow>> {
    check_unit(unit)?;
    let (record, seen) = latest(store, ledger, ProfileKey(unit)).await?;
    Ok(record.map(|record| UnitRow { seen, ..UnitRow::new(unit).with_profile(&record) }))
}

/// Returns the first `most` units by ID, and whether there are more. A unit is listed if it is registered or has a profile.
/// KV cost: 1 list per 1,000 registered units, 1 list per 1,000 profiles, and 1 read per 100 profiles.
pub async fn list(store: &impl OperatorStore, most: usize) -> Result<(Vec<UnitRow>, bool)> {
    let registered = register::first(store, UnitKey::PREFIX, most).await?;
    let mut profiles = register::first(store, ProfileKey::PREFIX, most).await?;
    let is_cut = profiles.len() > most;
    profiles.truncate(most);
    let row = |(unit, registered)| UnitRow { unit, registered, ..UnitRow::default() };
    let mut rows: Vec<_> = registered.into_iter().map(row).collect();
    let mut others = Vec::new();
    for profiles in profiles.chunks(MAX_READS) {
        let keys: Vec<_> = profiles.iter().map(|(unit, _)| ProfileKey(unit)).collect();
        for (ProfileKey(unit), record) in keys.iter().zip(read_values(store, &keys).await?) {
            let Some(record) = record else { continue }; // it was removed meanwhile
            let place = rows.binary_search_by(|row| (*row.unit).cmp(unit)).ok();
            match place.and_then(|place| rows.get_mut(place)) {
                Some(row) => row.read_profile(&record),
                None => others.push(UnitRow::new(unit).with_profile(&record)),
            }
        }
    }
    rows.append(&mut others);
    rows.sort_unstable_by(|one, other| one.unit.cmp(&other.unit));
    let has_more = is_cut || rows.len() > most;
    rows.truncate(most);
    Ok((rows, has_more))
}
