//! The register of units and teams, which finds misspelt IDs. The service does not read it.

use super::audit::Author;
use super::once::{Done, once, refuse_repeat};
use super::{OperatorError, Pages, Result, encode};
use crate::auth::KeyLevel;
use crate::handle::{Clock, Entropy};
use crate::ledger::Ledger;
use crate::store::{Key, MAX_READS, OperatorStore, Registered, TeamKey, UnitKey};
use rapidfuzz::distance::osa::{Args, BatchComparator};
use serde::{Deserialize as _, Serialize};
use std::borrow::Cow;

const ADD: &str = "units add";

/// A unit or team that the register lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unknown {
    /// What was looked for.
    #[serde(flatten)]
    pub level: KeyLevel,
    /// The ID of the register that is most like it.
    pub suggestion: Option<String>,
}

/// Most IDs that get a suggestion.
const MAX_SUGGESTIONS: usize = 10;
/// Most characters in which an ID and its suggestion differ.
const MAX_DIFFERENCES: usize = 3;

/// Looks for units and teams. Returns those that the register lacks, the first ten with a suggestion. KV cost: 1 read
/// per 100 IDs; for each of ten that are missing 2 lists, of which one page of names is compared.
///
/// # Errors
/// If an ID is out of bounds, or the store fails.
pub async fn look_up(store: &impl OperatorStore, levels: &[KeyLevel]) -> Result<Vec<Unknown>> {
    levels.iter().try_for_each(KeyLevel::check).map_err(OperatorError::Invalid)?;
    let mut unknown = Vec::new();
    for level in missing(store, levels).await? {
        let suggestion = match unknown.len() {
            ..MAX_SUGGESTIONS => suggestion(store, level).await?,
            _ => None,
        };
        unknown.push(Unknown { level: level.clone(), suggestion });
    }
    Ok(unknown)
}

/// The ID of the register that is most like this one: among all if these are one page, else among the first page of
/// those that begin with the same half.
async fn suggestion(store: &impl OperatorStore, level: &KeyLevel) -> Result<Option<String>> {
    let prefix = match level {
        KeyLevel::Unit(_) => UnitKey::PREFIX,
        KeyLevel::Team(_) => TeamKey::PREFIX,
    };
    let id = level.id();
    let mut page = store.list(prefix, None).await?;
    if page.cursor.is_some() {
        let half = id.get(..id.len().div_ceil(2)).unwrap_or(id);
        page = store.list(&[prefix, half].concat(), None).await?;
    }
    let names = page.records.iter().filter_map(|record| record.name.strip_prefix(prefix));
    Ok(nearest(id, names).map(str::to_owned))
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
fn nearest<'o>(id: &str, others: impl Iterator<Item = &'o str>) -> Option<&'o str> {
    let most = Args::default().score_cutoff((id.len() / 3).min(MAX_DIFFERENCES));
    let lower = |id: &str| id.to_ascii_lowercase().into_bytes();
    let to_id = BatchComparator::new(lower(id));
    let near = |other| Some((to_id.distance_with_args(lower(other), &most)?, other));
    others.filter_map(near).min().map(|(_, other)| other)
}

/// Adds the units that it lacks.
///
/// # Errors
/// If an ID is out of bounds, or store or ledger fail.
pub async fn add(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    units: &[String],
) -> Result<Done<()>> {
    let levels: Vec<_> = units.iter().cloned().map(KeyLevel::Unit).collect();
    levels.iter().try_for_each(KeyLevel::check).map_err(OperatorError::Invalid)?;
    let work = async |author: &Author<'_, _, _>| {
        refuse_repeat(ledger, author)?;
        author.record(store, ADD, units).await?;
        ensure(store, author, &levels).await
    };
    once(store, ledger, author, (ADD, &units), work).await
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

/// The first IDs below a prefix, sorted: more than so many, unless these are all.
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
