//! The current price lists.

use super::Change;
use super::rules::{charged_keys, check_of};
use crate::office::audit::rule::Change as Audited;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::published::{RecordVersion, latest};
use crate::office::shared::rule::records::{Pages, load, read_value};
use crate::pledges::charge::PriceList;
use crate::pledges::scope::Mode;
use crate::pledges::store::{Key as _, OperatorStore, PriceListKey, StoreError, decode};

/// The current prices of a mode, or of a unit.
#[derive(Clone, Debug)]
pub struct Current<'k> {
    /// The mode, or the unit in a mode, that the prices are for.
    pub of: PriceListKey<'k>,
    /// The price list; `None` if none is set, or it cannot be read.
    pub price_list: Option<PriceList>,
    /// Why the price list cannot be read.
    pub problem: Option<String>,
    /// For a unit, the price list of its mode; `None` if that list is missing or cannot be read. For a mode,
    /// always `None`.
    pub of_mode: Option<PriceList>,
    pub(super) seen: RecordVersion,
}

/// Reads the newest prices of a mode, or of a unit. Damaged prices are no error, so that they can be replaced. Ledger
/// cost: 1 query. KV cost: at most 2 reads.
///
/// # Errors
/// If the unit's ID is not valid, or the store fails.
pub async fn current<'k>(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    of: PriceListKey<'k>,
) -> Result<Current<'k>> {
    check_of(of)?;
    let (own, seen) = latest(store, ledger, of).await?;
    let of_mode = match of.unit {
        Some(_) => read_value(store, PriceListKey::of_mode(of.mode)).await?,
        None => None,
    };
    let (price_list, problem) = readable(own.as_deref())?;
    let (of_mode, _) = readable(of_mode.as_deref())?;
    Ok(Current { of, price_list, problem, of_mode, seen })
}

/// Decodes a price list. If it is damaged, returns why.
fn readable(record: Option<&[u8]>) -> Result<(Option<PriceList>, Option<String>)> {
    let read = |record| decode::<PriceList>(PriceListKey::KIND, record);
    match record.map(read).transpose() {
        Ok(price_list) => Ok((price_list, None)),
        Err(StoreError::Damaged(problem)) => Ok((None, Some(problem))),
        Err(error) => Err(error.into()),
    }
}

impl Current<'_> {
    /// Returns the price list by which new transactions are charged: the unit's own, or else the mode's. Returns `None`
    /// if there is no list, or it cannot be read.
    pub fn in_effect(&self) -> Option<&PriceList> {
        let of_mode = self.of_mode.as_ref().filter(|_| self.problem.is_none());
        self.price_list.as_ref().or(of_mode)
    }

    /// Returns whether there is a price list, even if it cannot be read.
    pub fn is_set(&self) -> bool {
        self.price_list.is_some() || self.problem.is_some()
    }

    /// Returns a text that identifies this version of the prices: the time at which they were set. If there
    /// is no such time, returns a word such as `none` or `damaged`.
    pub fn revision(&self) -> &str {
        match (&self.price_list, &self.problem) {
            (Some(price_list), _) => price_list.prices.as_deref().unwrap_or("without a time"),
            (None, Some(_)) => "damaged",
            (None, None) => "none",
        }
    }

    /// Returns what would change if `new` was set, compared with the prices [in effect](Self::in_effect).
    pub fn compare(&self, new: &PriceList) -> Change {
        let mut change = Change::new(self.in_effect(), new);
        change.risks.extend(self.problem.clone());
        change
    }

    /// Returns what would change if the price list of a unit was removed. The mode's prices would then
    /// apply to the unit.
    pub fn compare_removal(&self) -> Change {
        self.compare(&self.of_mode.clone().unwrap_or_default())
    }

    /// Refuses a change if the prices have changed since the person saw them. `seen` is the
    /// [`revision`](Self::revision) that the person saw. `new` is the price list that the person wants;
    /// `None` if the list is to be removed. Ledger cost: 1 query if it refuses.
    ///
    /// # Errors
    /// If the current prices have another revision, or the ledger fails.
    pub async fn check_seen(
        &self,
        ledger: &dyn Ledger,
        seen: &str,
        new: Option<&PriceList>,
    ) -> Result<()> {
        if self.revision() == seen {
            return Ok(());
        }
        let keys = charged_keys(self.of);
        let change = self.seen.change(ledger).await?;
        let set = change.map(|Audited { by, at, .. }| format!(", set by {by} at {at}"));
        let set = set.unwrap_or_default();
        let is_same =
            new.is_some_and(|new| self.price_list.is_some() && self.compare(new).is_none());
        Err(OperatorError::invalid(match is_same {
            true => format!("{keys} already have these prices{set}: nothing was changed"),
            false => format!(
                "{keys} now have other prices{set}: your change was not saved. Check the current prices, \
                 then try again"
            ),
        }))
    }
}

/// Returns the price list of a mode or of a unit; `None` if none is set. If none is set for a mode, every charge is 0.00
/// USD. KV cost: 1 read.
///
/// # Errors
/// If the unit's ID is not valid, the record is damaged, or the store fails.
pub async fn get(store: &impl OperatorStore, of: PriceListKey<'_>) -> Result<Option<PriceList>> {
    check_of(of)?;
    load(store, of).await
}

/// Returns the IDs of the first `most` units that have a price list of their own, sorted, and whether there are more.
/// KV cost: 1 list per 1,000 units.
pub async fn units(
    store: &impl OperatorStore,
    mode: Mode,
    most: usize,
) -> Result<(Vec<String>, bool)> {
    let mut units = Vec::new();
    let mut pages = Pages::new(store, PriceListKey::units_prefix(mode));
    while units.len() <= most
        && let Some(page) = pages.next().await?
    {
        let unit = |name: &str| PriceListKey::parse(name)?.unit.map(str::to_owned);
        units.extend(page.iter().filter_map(|record| unit(&record.name)));
    }
    let has_more = units.len() > most;
    units.truncate(most);
    Ok((units, has_more))
}
