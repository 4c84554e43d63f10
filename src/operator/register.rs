//! The register of units and teams, which finds misspelt IDs. The service does not read it.

use super::audit::Author;
use super::{OperatorError, Pages, Result, encode};
use crate::auth::KeyLevel;
use crate::handle::{Clock, Entropy};
use crate::store::{Key, MAX_READS, OperatorStore, Registered, TeamKey, UnitKey};
use serde::{Deserialize as _, Serialize};
use std::borrow::Cow;

/// A unit or team that the register lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unknown {
    /// What was looked for.
    #[serde(flatten)]
    pub level: KeyLevel,
    /// The ID of the register that is most like it.
    pub suggestion: Option<String>,
}

/// Looks for units and teams. Returns those that the register lacks.
///
/// # Errors
/// If an ID is out of bounds, or the store fails.
pub async fn look_up(store: &impl OperatorStore, levels: &[KeyLevel]) -> Result<Vec<Unknown>> {
    levels.iter().try_for_each(KeyLevel::check).map_err(OperatorError::Invalid)?;
    let missing = missing(store, levels).await?;
    if missing.is_empty() {
        return Ok(vec![]);
    }
    let (units, teams) = (all(store, UnitKey::PREFIX).await?, all(store, TeamKey::PREFIX).await?);
    let unknown = |level: &KeyLevel| {
        let known = if matches!(level, KeyLevel::Unit(_)) { &units } else { &teams };
        Unknown { level: level.clone(), suggestion: nearest(level.id(), known) }
    };
    Ok(missing.into_iter().map(unknown).collect())
}

/// Those that the register lacks.
async fn missing<'l>(
    store: &impl OperatorStore,
    levels: &'l [KeyLevel],
) -> Result<Vec<&'l KeyLevel>> {
    let mut missing = Vec::new();
    for levels in levels.chunks(MAX_READS) {
        let keys: Vec<_> = levels.iter().map(RegisterKey).collect();
        let found = levels.iter().zip(store.get_values(&keys).await?);
        missing.extend(found.filter(|(_, value)| value.is_none()).map(|(level, _)| level));
    }
    Ok(missing)
}

/// A [`UnitKey`] or a [`TeamKey`].
struct RegisterKey<'l>(&'l KeyLevel);

impl Key for RegisterKey<'_> {
    type Metadata = Registered;
    const KIND: &'static str = "register";
    const PREFIX: &'static str = "";
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Owned(match self.0 {
            KeyLevel::Unit(id) => UnitKey(id).name(),
            KeyLevel::Team(id) => TeamKey(id).name(),
        })
    }
}

/// The ID in which the fewest characters differ, at most three and a third of all.
fn nearest(id: &str, others: &[Entry]) -> Option<String> {
    let id = id.to_ascii_lowercase();
    let distance = |other: &str| strsim::osa_distance(&id, &other.to_ascii_lowercase());
    let (distance, nearest) = others.iter().map(|(other, _)| (distance(other), other)).min()?;
    (distance <= (id.len() / 3).min(3)).then(|| nearest.clone())
}

/// Adds the units that it lacks.
///
/// # Errors
/// If an ID is out of bounds, or the store fails.
pub async fn add(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    units: &[String],
) -> Result<()> {
    let levels: Vec<_> = units.iter().cloned().map(KeyLevel::Unit).collect();
    levels.iter().try_for_each(KeyLevel::check).map_err(OperatorError::Invalid)?;
    author.record(store, "units add", units).await?;
    ensure(store, author, &levels).await
}

/// Adds what it lacks of these. The command that calls this has recorded its change.
pub(super) async fn ensure(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    levels: &[KeyLevel],
) -> Result<()> {
    let registered = author.registered();
    for level in missing(store, levels).await? {
        store.put(&RegisterKey(level), encode(&registered)?, &registered).await?;
    }
    Ok(())
}

/// An ID, with who added it and when, where that can be read.
pub(super) type Entry = (String, Option<Registered>);

/// All IDs below a prefix, sorted.
pub(super) async fn all(store: &impl OperatorStore, prefix: &str) -> Result<Vec<Entry>> {
    first(store, prefix, usize::MAX).await
}

/// The first IDs of [`all`]: more than so many, unless these are all.
pub(super) async fn first(
    store: &impl OperatorStore,
    prefix: &str,
    most: usize,
) -> Result<Vec<Entry>> {
    let mut found = Vec::new();
    let mut pages = Pages::new(store, prefix);
    while found.len() <= most
        && let Some(page) = pages.next().await?
    {
        found.extend(page.into_iter().filter_map(|record| {
            let id = record.name.strip_prefix(prefix)?.to_owned();
            Some((id, Registered::deserialize(&record.metadata).ok()))
        }));
    }
    Ok(found)
}
