use super::names::{REMOVE, words};
use crate::office::audit::rule::Author;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rows::published as rows;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::ids::check_unit;
use crate::office::shared::rule::once::{Done, once};
use crate::office::shared::rule::published;
use crate::office::shared::rule::published::{Replacement, latest};
use crate::office::shared::rule::records::read_value;
use crate::office::shops::rows::names;
use crate::office::system::rule::publish::publish;
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
    let work = async |author: &Author<'_, _, _>| remove_now((store, ledger), author, unit).await;
    let done = once(ledger, author, (REMOVE, &unit), work).await?;
    if done.before.is_none() {
        let _ = names::remove(ledger, unit).await; // else the next reconciliation pass removes it
    }
    Ok(done)
}

async fn remove_now(
    (store, ledger): (&impl OperatorStore, &dyn Ledger),
    author: &Author<'_, impl Clock, impl Entropy>,
    unit: &str,
) -> Result<bool> {
    let at = (store, ledger);
    let lists = [Mode::Test, Mode::Live].map(|mode| PriceListKey::of_unit(mode, unit));
    if author.earlier.is_some() {
        publish_removals(at, author.clock, unit, &lists).await?;
    }
    let mut removals: Vec<_> = removal(at, ProfileKey(unit)).await?.into_iter().collect();
    for of in lists {
        removals.extend(removal(at, of).await?);
    }
    if removals.is_empty() && read_value(store, UnitKey(unit)).await?.is_none() {
        return Ok(author.earlier.is_some()); // an earlier attempt may have removed them
    }
    let entry = author.begin_entry(store, REMOVE, |_| vec![unit.to_owned()]).await?;
    for row in published::replace(at, author, &entry, &words(unit), removals).await? {
        publish(store, author.clock, (&row, row.at)).await?;
    }
    store.remove(&UnitKey(unit)).await?;
    Ok(true)
}

/// Removes the copies of records that an earlier attempt has removed, but whose copies it may have left.
async fn publish_removals(
    (store, ledger): (&impl OperatorStore, &dyn Ledger),
    clock: &impl Clock,
    unit: &str,
    lists: &[PriceListKey<'_>],
) -> Result<()> {
    let names = lists.iter().map(Key::name).chain([ProfileKey(unit).name()]);
    for name in names {
        let (read_ms, row) = (clock.now_ms(), rows::get(ledger, &name).await?);
        if let Some(row) = row.filter(|row| row.content.is_none()) {
            publish(store, clock, (&row, read_ms)).await?;
        }
    }
    Ok(())
}

/// Returns the removal of a record; `None` if there is no record.
async fn removal<K: Key + Copy>(
    (store, ledger): (&impl OperatorStore, &dyn Ledger),
    key: K,
) -> Result<Option<Replacement>> {
    let (record, seen) = latest(store, ledger, key).await?;
    Ok(record.map(|_| Replacement { name: key.name(), seen, record: None }))
}
