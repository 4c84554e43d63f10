use super::names::{REMOVE, words};
use crate::office::audit::rule::Author;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::commit::{Commit, commit};
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::ids::check_unit;
use crate::office::shared::rule::once::Done;
use crate::office::shared::rule::published;
use crate::office::shared::rule::published::{Replacement, latest};
use crate::office::shared::rule::records::read_value;
use crate::office::shops::rows::names;
use crate::office::system::rule::publish::publish_all;
use crate::pledges::scope::Mode;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{Key, OperatorStore, PriceListKey, ProfileKey, UnitKey};

/// Removes a unit's profile, its price lists and its entry in the register. Its keys, teams and transactions stay.
/// Returns whether the unit had a profile, a price list or an entry.
///
/// # Errors
/// If somebody else changes the profile or the prices at the same moment, or the store or the ledger fails.
pub async fn remove(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    unit: &str,
) -> Result<Done<bool>> {
    check_unit(unit)?;
    let lists = [Mode::Test, Mode::Live].map(|mode| PriceListKey::of_unit(mode, unit));
    let work = async |at: &Commit<'_, _, _>| remove_now(store, at, unit, &lists).await;
    let done = commit(ledger, author, (REMOVE, &unit), work).await?;
    if done.outcome {
        let names = lists.iter().map(Key::name).chain([ProfileKey(unit).name()]);
        publish_all(store, ledger, author.clock, &names.collect::<Vec<_>>()).await?;
        store.remove(&UnitKey(unit)).await?;
    }
    if done.before.is_none() {
        let _ = names::remove(ledger, unit).await; // else the next reconciliation pass removes it
    }
    Ok(done)
}

async fn remove_now(
    store: &impl OperatorStore,
    commit: &Commit<'_, impl Clock, impl Entropy>,
    unit: &str,
    lists: &[PriceListKey<'_>],
) -> Result<bool> {
    let at = (store, commit.ledger);
    let mut removals: Vec<_> = removal(at, ProfileKey(unit)).await?.into_iter().collect();
    for of in lists {
        removals.extend(removal(at, *of).await?);
    }
    if removals.is_empty() && read_value(store, UnitKey(unit)).await?.is_none() {
        return Ok(false);
    }
    let entry = commit.author.entry(REMOVE, |_| vec![unit.to_owned()]).await?;
    published::replace(commit, &entry, &true, &words(unit), removals).await?;
    Ok(true)
}

/// Returns the removal of a record; `None` if there is no record.
async fn removal<K: Key + Copy>(
    (store, ledger): (&impl OperatorStore, &dyn Ledger),
    key: K,
) -> Result<Option<Replacement>> {
    let (record, seen) = latest(store, ledger, key).await?;
    Ok(record.map(|_| Replacement { name: key.name(), seen, record: None }))
}
