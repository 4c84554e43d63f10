//! Sets the price lists of modes and units, and removes the price lists of units.

use super::rules::{charged_keys, check_length};
use super::{Current, Edit, current};
use crate::office::audit::rule::{Author, Entry, Written};
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::commit::{Commit, commit};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::once::Done;
use crate::office::shared::rule::published;
use crate::office::shared::rule::published::Replacement;
use crate::office::shared::rule::records::encode;
use crate::office::shops::rule::register;
use crate::office::system::rule::publish::publish_all;
use crate::pledges::auth::KeyLevel;
use crate::pledges::charge::PriceList;
use crate::pledges::scope::Mode;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{
    Key as _, MAX_PRICES_BYTES, MAX_UNIT_PRICES_BYTES, OperatorStore, PriceListKey,
    PriceListVersionKey,
};

const SET: &str = "prices set";
const REMOVE: &str = "prices remove";

/// Changes the prices of a mode or of a unit, and registers the unit if it is not registered. Returns the
/// time of the change. This version of the price list is kept permanently under that time.
///
/// `seen` is the [`revision`](Current::revision) of the prices that the person saw. If the prices have
/// changed since then, this change is refused. `None` skips the check.
///
/// # Errors
/// - If the unit's ID is not valid, the edit does not apply, or the price list is too large.
/// - If the current revision is not `seen`.
/// - If somebody else sets the prices at the same moment.
/// - If the store or the ledger fails.
pub async fn set(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    of: PriceListKey<'_>,
    edit: &Edit,
    seen: Option<&str>,
) -> Result<Done<String>> {
    let work = async |at: &Commit<'_, _, _>| {
        let now = current(store, ledger, of).await?;
        let price_list = now.with(edit)?;
        if let Some(seen) = seen {
            now.check_seen(ledger, seen, Some(&price_list)).await?;
        }
        now.replace(at, price_list).await
    };
    let done = commit(ledger, author, (SET, &(of.name(), edit)), work).await?;
    let unit: Vec<_> = of.unit.map(|unit| KeyLevel::Unit(unit.to_owned())).into_iter().collect();
    register::ensure(store, author, &unit).await?;
    let _or_by_the_cron = publish_all(store, ledger, author.clock, &[of.name()]).await;
    Ok(done)
}

/// Removes the price list of a unit, so that the mode's list applies to it again. `seen` is the revision that
/// the person saw, as for [`set`]. Returns the time of the removal.
///
/// # Errors
/// - If the unit's ID is not valid, or the unit has no price list of its own.
/// - If the current revision is not `seen`.
/// - If somebody else changes the list at the same moment.
/// - If the store or the ledger fails.
pub async fn remove(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    (mode, unit): (Mode, &str),
    seen: Option<&str>,
) -> Result<Done<String>> {
    let of = PriceListKey::of_unit(mode, unit);
    let work = async |at: &Commit<'_, _, _>| {
        let now = current(store, ledger, of).await?;
        if !now.is_set() {
            return Err(has_none(of));
        }
        if let Some(seen) = seen {
            now.check_seen(ledger, seen, None).await?;
        }
        now.remove(at).await
    };
    let done = commit(ledger, author, (REMOVE, &of.name()), work).await?;
    let _or_by_the_cron = publish_all(store, ledger, author.clock, &[of.name()]).await;
    Ok(done)
}

fn has_none(of: PriceListKey<'_>) -> OperatorError {
    OperatorError::invalid(format!("{} have no price list of their own", charged_keys(of)))
}

impl Current<'_> {
    async fn replace(
        &self,
        commit: &Commit<'_, impl Clock, impl Entropy>,
        price_list: PriceList,
    ) -> Result<String> {
        let (of, author) = (self.of, &commit.author);
        let at = |time: &str| PriceList { prices: Some(time.to_owned()), ..price_list.clone() };
        let most = of.unit.map_or(MAX_PRICES_BYTES, |_| MAX_UNIT_PRICES_BYTES);
        check_length(&encode(&at(&author.registered().created))?, most)?;
        let entry = author.entry(SET, |time| on(of, time)).await?;
        let record = encode(&Written::new(&at(entry.at()), &entry))?;
        self.change(commit, &entry, Some(record)).await
    }

    async fn remove(&self, commit: &Commit<'_, impl Clock, impl Entropy>) -> Result<String> {
        let entry = commit.author.entry(REMOVE, |time| on(self.of, time)).await?;
        self.change(commit, &entry, None).await
    }

    /// Changes the price list, and returns the time of the change.
    async fn change(
        &self,
        commit: &Commit<'_, impl Clock, impl Entropy>,
        entry: &Entry,
        record: Option<Vec<u8>>,
    ) -> Result<String> {
        let words = format!("the prices for {}", charged_keys(self.of));
        let replacement = Replacement { name: self.of.name(), seen: self.seen, record };
        let at = entry.at().to_owned();
        published::replace(commit, entry, &at, &words, vec![replacement]).await?;
        Ok(at)
    }
}

/// Returns the name of the price list's new version. The audit log entry of a change identifies the price
/// list by this name.
fn on(of: PriceListKey<'_>, time: &str) -> Vec<String> {
    vec![PriceListVersionKey { of, time }.name()]
}
