use super::conflict::{REMOVE, is_of, shared_record};
use crate::office::audit::rule::Author;
use crate::office::prices::rule as prices;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::ids::check_unit;
use crate::office::shared::rule::once::{Done, once};
use crate::office::shared::rule::records::read_value;
use crate::office::shared::rule::shared_record::RecordVersion;
use crate::office::shops::rows::names;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{OperatorStore, ProfileKey, UnitKey};

/// Removes a unit's profile, its price lists and its entry in the register. Its keys, teams and transactions stay.
/// Returns whether the unit had a profile, a price list or an entry.
///
/// # Errors
/// If somebody else changes the profile at the same moment, or the store or the ledger fails.
pub async fn remove(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    unit: &str,
) -> Result<Done<bool>> {
    check_unit(unit)?;
    let work = async |author: &Author<'_, _, _>| remove_now(store, author, unit).await;
    let done = once(ledger, author, (REMOVE, &unit), work).await?;
    if done.before.is_none() {
        let _ = names::remove(ledger, unit).await; // else the next reconciliation pass removes it
    }
    Ok(done)
}

async fn remove_now(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    unit: &str,
) -> Result<bool> {
    let (profile, entry) =
        (read_value(store, ProfileKey(unit)).await?, read_value(store, UnitKey(unit)).await?);
    let price_lists = prices::lists_of(store, unit).await?;
    if profile.is_none() && entry.is_none() && price_lists.is_empty() {
        return Ok(author.earlier.is_some()); // an earlier attempt may have removed them
    }
    let is_of = is_of(unit);
    let shared_record = shared_record(unit, &is_of);
    let seen = RecordVersion::new(profile.as_deref());
    let turn = shared_record.begin(store, author, seen, REMOVE, |_| vec![unit.to_owned()]).await?;
    let time = turn.at().to_owned();
    let others = async || {
        prices::remove_lists(store, author, &price_lists, &time).await?;
        Ok(store.remove(&UnitKey(unit)).await?)
    };
    turn.remove(others).await?;
    Ok(true)
}
