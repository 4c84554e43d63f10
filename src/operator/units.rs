//! Units' profiles: the name, logo and style that a shop's timelines show.

use super::audit::Author;
use super::{OperatorError, Pages, Result, put_record, read_value, without_position};
use crate::auth::check_id;
use crate::handle::{Clock, Entropy};
use crate::store::{Key as _, MAX_READS, OperatorStore, ProfileKey};
use crate::timeline::{NewProfile, Profile};
use serde::Serialize;

/// A unit in a list.
#[derive(Clone, Debug, Serialize)]
pub struct UnitRow {
    /// The unit's ID.
    pub unit: String,
    /// Its profile; `None` if its record cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// The problem with its record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl UnitRow {
    fn new(unit: &str, record: &[u8]) -> Self {
        let read = serde_json::from_slice(record).map_err(|error| without_position(&error));
        let (profile, problem) = match read {
            Ok(profile) => (Some(profile), None),
            Err(problem) => (None, Some(problem)),
        };
        UnitRow { unit: unit.to_owned(), profile, problem }
    }
}

/// Replaces a unit's profile as a whole.
///
/// # Errors
/// If the unit's ID or a member is out of bounds, or the store fails.
pub async fn set(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    unit: &str,
    profile: NewProfile,
) -> Result<UnitRow> {
    check_id::<serde_json::Error>(unit)?;
    let profile =
        Profile::try_from(profile).map_err(|problem| OperatorError::Invalid(problem.to_owned()))?;
    author.record(store, "units set", [unit]).await?;
    put_record(store, &ProfileKey(unit), &profile).await?;
    Ok(UnitRow { unit: unit.to_owned(), profile: Some(profile), problem: None })
}

/// A unit's profile; `None` if it has none: then its timelines show the name Impact Pledge.
///
/// # Errors
/// If the store fails.
pub async fn get(store: &impl OperatorStore, unit: &str) -> Result<Option<UnitRow>> {
    let record = read_value(store, ProfileKey(unit)).await?;
    Ok(record.map(|record| UnitRow::new(unit, &record)))
}

/// All profiles, sorted by the units' IDs.
///
/// # Errors
/// If the store fails.
pub async fn list(store: &impl OperatorStore) -> Result<Vec<UnitRow>> {
    let mut rows = Vec::new();
    let mut pages = Pages::new(store, ProfileKey::PREFIX);
    while let Some(page) = pages.next().await? {
        let keys: Vec<_> =
            page.iter().filter_map(|record| ProfileKey::parse(&record.name)).collect();
        for keys in keys.chunks(MAX_READS) {
            let records = store.get_values(keys).await?;
            let found = keys.iter().zip(records);
            rows.extend(found.filter_map(|(key, record)| Some(UnitRow::new(key.0, &record?))));
        }
    }
    Ok(rows)
}

/// Removes a unit's profile. Returns whether there was one.
///
/// # Errors
/// If the store fails.
pub async fn remove(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    unit: &str,
) -> Result<bool> {
    let is_there = get(store, unit).await?.is_some();
    if is_there {
        author.record(store, "units remove", [unit]).await?;
        store.remove(&ProfileKey(unit)).await?;
    }
    Ok(is_there)
}
