//! The register of units and teams, which is used to detect misspelt IDs. The service does not read it.

use crate::office::audit::rule::Author;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::ids::check_level;
use crate::office::shared::rule::once::{Done, once};
use crate::office::shared::rule::records::{Pages, encode};
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{Key, MAX_READS, OperatorStore, Registered, TeamKey, UnitKey};
use rapidfuzz::distance::osa::{Args, BatchComparator};
use serde::{Deserialize as _, Serialize};
use std::borrow::Cow;

const ADD: &str = "units add";

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unregistered {
    #[serde(flatten)]
    pub level: KeyLevel,
    /// The most similar registered ID.
    pub suggestion: Option<String>,
}

/// Largest number of unregistered IDs for which a similar ID is suggested.
const MAX_SUGGESTIONS: usize = 10;
/// Largest number of characters in which an ID and its suggestion differ.
const MAX_DIFFERENCES: usize = 3;

/// Returns the units and teams that are not registered. The first ten get a suggestion: the most similar
/// registered ID. KV cost: 1 read per 100 IDs, and up to 2 lists for each suggestion.
///
/// # Errors
/// If an ID is not valid, or the store fails.
pub async fn look_up(store: &impl OperatorStore, levels: &[KeyLevel]) -> Result<Vec<Unregistered>> {
    levels.iter().try_for_each(check_level)?;
    let mut unknown = Vec::new();
    for level in missing(store, levels).await? {
        let suggestion = match unknown.len() {
            ..MAX_SUGGESTIONS => suggestion(store, level).await?,
            _ => None,
        };
        unknown.push(Unregistered { level: level.clone(), suggestion });
    }
    Ok(unknown)
}

/// Returns the registered ID that is most similar to the given ID. Compares at most one page of IDs. If the
/// IDs fill more than a page, compares only those that begin with the first half of the given ID.
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

/// Returns the units and teams of `levels` that are not registered.
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

/// The key of a register entry: the [`UnitKey`] of a unit, or the [`TeamKey`] of a team.
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

/// Returns the ID in `others` that is most similar to `id`. The two IDs may differ in at most three
/// characters, and in at most a third of the characters of `id`.
fn nearest<'o>(id: &str, others: impl Iterator<Item = &'o str>) -> Option<&'o str> {
    let most = Args::default().score_cutoff((id.len() / 3).min(MAX_DIFFERENCES));
    let lower = |id: &str| id.to_ascii_lowercase().into_bytes();
    let to_id = BatchComparator::new(lower(id));
    let near = |other| Some((to_id.distance_with_args(lower(other), &most)?, other));
    others.filter_map(near).min().map(|(_, other)| other)
}

/// Registers the units that are not registered.
///
/// # Errors
/// If an ID is not valid, or the store or the ledger fails.
pub async fn add(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    units: &[String],
) -> Result<Done<()>> {
    let levels: Vec<_> = units.iter().cloned().map(KeyLevel::Unit).collect();
    levels.iter().try_for_each(check_level)?;
    let work = async |author: &Author<'_, _, _>| {
        author.record(store, ADD, units).await?;
        ensure(store, author, &levels).await
    };
    once(ledger, author, (ADD, &units), work).await
}

/// Registers those units and teams that are not registered yet. The calling command must already have recorded this in the
/// audit log.
pub(crate) async fn ensure(
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

/// A registered ID, with who registered it and when. These details are `None` if they cannot be read.
pub(crate) type Entry = (String, Option<Registered>);

/// Returns the first IDs with a prefix, sorted. If more than `most` such IDs exist, returns more than `most`,
/// so that the caller can tell. KV cost: 1 list per 1,000 IDs.
pub(crate) async fn first(
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
