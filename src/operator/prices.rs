//! Prices: parses price lists from files, sets and returns the price list of a mode, and returns the history of price
//! lists.

use super::audit::{Author, Change as Audited};
use super::once::{Done, once, refuse_repeat};
use super::shared_record::{RecordVersion, SharedRecord};
use super::{OperatorError, Pages, Result, encode, load, read_value};
use crate::charge::{PriceList, UnitPrice, read_prices};
use crate::ledger::Ledger;
use crate::pledge::CurrencyCode;
use crate::scope::Mode;
use crate::service::{Clock, Entropy};
use crate::store::{
    ChangeNote, Key as _, KeyInfo as Record, MAX_PRICES_BYTES, OperatorStore, PriceListKey,
    PriceListVersionKey, Registered, StoreError, StoredValue as _, decode,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

const SET: &str = "prices set";
/// Number of price lists that are read at once. Each of them may have 1 MiB.
const READS: usize = 5;
/// Largest number of bytes of a price list: every isolate of the service holds it in memory.
const MAX_PRICE_LIST_BYTES: usize = MAX_PRICES_BYTES;

/// A [`PriceList`] in a file that a person wrote. Unknown members, which the service would ignore, are an error here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PriceListFile {
    currency_code: CurrencyCode,
    #[serde(deserialize_with = "read_prices")]
    unit_prices: BTreeMap<String, UnitPrice>,
}

/// Parses a price list that a person wrote.
///
/// # Errors
/// If the file breaks a rule. The error has line and column where possible.
pub fn parse(file: &[u8]) -> Result<PriceList> {
    check_length(file)?;
    let text = str::from_utf8(file).map_err(|error| {
        let at = error.valid_up_to();
        OperatorError::Invalid(format!(
            "this is not UTF-8 text: check byte {at}, and save the file as UTF-8"
        ))
    })?;
    let text = text.trim_start_matches('\u{feff}'); // some editors write a byte order mark
    let PriceListFile { currency_code, unit_prices } = serde_json::from_slice(text.as_bytes())
        .map_err(|error| OperatorError::Invalid(in_json_words(&error)))?;
    Ok(PriceList { currency_code, unit_prices, prices: None })
}

fn check_length(price_list: &[u8]) -> Result<()> {
    let length = price_list.len();
    if length <= MAX_PRICE_LIST_BYTES {
        return Ok(());
    }
    Err(OperatorError::Invalid(format!(
        "a price list may have {MAX_PRICE_LIST_BYTES} bytes, but this one has {length}: leave out offerings \
         that cost nothing"
    )))
}

/// Rewrites serde's error in JSON terms: members and values, not fields and variants.
fn in_json_words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    if !error.is_data() {
        return format!("is not JSON: {text}");
    }
    for (theirs, ours) in [(" field `", " member `"), (" variant `", " value `")] {
        if let Some((kind @ ("unknown" | "missing" | "duplicate"), rest)) = text.split_once(theirs)
        {
            return format!("{kind}{ours}{rest}");
        }
    }
    text
}

// ---- A change ------------------------------------------------------------------------------------

/// What a new price list changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The currency before and after; `None` if it does not change, or there was no price list.
    pub currency: Option<(CurrencyCode, CurrencyCode)>,
    /// The prices that differ, sorted by offering.
    pub prices: Vec<PriceChange>,
    /// The reasons to ask for confirmation: an offering loses its price, the currency changes, or the old price list cannot
    /// be read.
    pub risks: Vec<String>,
}

/// A price that a new price list changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PriceChange {
    /// The offering's ID.
    pub offering: String,
    /// The old price; `None` if the offering had none.
    pub from: Option<UnitPrice>,
    /// The new price; `None` if the offering has none.
    pub to: Option<UnitPrice>,
}

impl Change {
    /// Returns whether nothing changes.
    pub fn is_none(&self) -> bool {
        self.currency.is_none() && self.prices.is_empty() && self.risks.is_empty()
    }

    fn new(old: Option<&PriceList>, new: &PriceList) -> Self {
        let none = BTreeMap::new();
        let before = old.map_or(&none, |old| &old.unit_prices);
        let offerings: BTreeSet<_> = before.keys().chain(new.unit_prices.keys()).collect();
        let change = |offering: &String| PriceChange {
            offering: offering.clone(),
            from: before.get(offering).cloned(),
            to: new.unit_prices.get(offering).cloned(),
        };
        let prices: Vec<_> =
            offerings.into_iter().map(change).filter(|change| change.from != change.to).collect();
        let currency = old
            .map(|old| (old.currency_code, new.currency_code))
            .filter(|(before, after)| before != after);
        let gone = prices.iter().filter(|change| change.to.is_none()).count();
        let moves = currency.map(|(before, after)| {
            let (before, after): (&str, &str) = (before.into(), after.into());
            format!("the currency changes from {before} to {after}")
        });
        let loses = (gone > 0).then(|| format!("offerings that lose their price: {gone}"));
        Change { currency, prices, risks: moves.into_iter().chain(loses).collect() }
    }
}

/// The current prices of a mode.
#[derive(Clone, Debug)]
pub struct Current {
    /// The mode of the keys that the prices are for.
    pub mode: Mode,
    /// The price list; `None` if none is set, or it cannot be read.
    pub price_list: Option<PriceList>,
    /// Why the price list cannot be read.
    pub problem: Option<String>,
    seen: RecordVersion,
}

/// Reads the prices of a mode. Damaged prices are no error, so that they can be replaced. KV cost: 1 read.
///
/// # Errors
/// If the store fails.
pub async fn current(store: &impl OperatorStore, mode: Mode) -> Result<Current> {
    let record = read_value(store, PriceListKey(mode)).await?;
    let read = |record: &Vec<u8>| decode::<PriceList>(PriceListKey::KIND, record);
    let (price_list, problem) = match record.as_ref().map(read).transpose() {
        Ok(price_list) => (price_list, None),
        Err(StoreError::Damaged(problem)) => (None, Some(problem)),
        Err(error) => return Err(error.into()),
    };
    Ok(Current { mode, price_list, problem, seen: RecordVersion::new(record.as_deref()) })
}

impl Current {
    /// Returns a text that identifies this version of the prices: the time when they were set, if the price list states
    /// it.
    pub fn revision(&self) -> &str {
        match (&self.price_list, &self.problem) {
            (Some(price_list), _) => price_list.prices.as_deref().unwrap_or("without a time"),
            (None, Some(_)) => "damaged",
            (None, None) => "none",
        }
    }

    /// Returns what setting these prices would change.
    pub fn compare(&self, new: &PriceList) -> Change {
        let mut change = Change::new(self.price_list.as_ref(), new);
        change.risks.extend(self.problem.clone());
        change
    }

    /// Returns these prices after an edit.
    ///
    /// # Errors
    /// If the edit does not apply to them, or its price is not valid.
    pub fn with(&self, edit: &Edit) -> Result<PriceList> {
        match edit {
            Edit::All(price_list) => Ok(price_list.clone()),
            Edit::Set { offering, price } => self.with_price(offering, price),
            Edit::Remove { offering } => self.without_price(offering),
        }
    }

    /// Returns these prices with the price of an offering set.
    ///
    /// # Errors
    /// If the price is not valid, or no price list is set yet, so that the currency is unknown.
    fn with_price(&self, offering: &str, price: &str) -> Result<PriceList> {
        let price = UnitPrice::parse(price).ok_or_else(|| {
            OperatorError::Invalid(format!(
                "`{price}` is not a price: write a plain decimal such as `0.50`"
            ))
        })?;
        let mut price_list = self.readable()?;
        price_list.unit_prices.insert(offering.to_owned(), price);
        Ok(price_list)
    }

    /// Returns these prices without the price of an offering.
    ///
    /// # Errors
    /// If the offering has no price.
    fn without_price(&self, offering: &str) -> Result<PriceList> {
        let mut price_list = self.readable()?;
        match price_list.unit_prices.remove(offering) {
            Some(_) => Ok(price_list),
            None => Err(OperatorError::Invalid(format!(
                "`{offering}` has no price to remove: take the ID from the list"
            ))),
        }
    }

    fn readable(&self) -> Result<PriceList> {
        let mode = self.mode.name();
        match (&self.price_list, &self.problem) {
            (Some(price_list), _) => Ok(price_list.clone()),
            (None, Some(problem)) => Err(StoreError::Damaged(problem.clone()).into()),
            (None, None) => Err(OperatorError::Invalid(format!(
                "{mode} keys have no prices yet: set a whole price list first, which has the currency"
            ))),
        }
    }

    /// Refuses to replace prices that are not the version that the person has seen. KV cost: 1 read if it refuses.
    ///
    /// # Errors
    /// If the current prices have another [`revision`](Self::revision), or the store fails.
    pub async fn check_seen(
        &self,
        store: &impl OperatorStore,
        seen: &str,
        new: &PriceList,
    ) -> Result<()> {
        if self.revision() == seen {
            return Ok(());
        }
        let mode = self.mode.name();
        let change = self.seen.change(store).await?;
        let set = change.map(|Audited { by, at, .. }| format!(", set by {by} at {at}"));
        let set = set.unwrap_or_default();
        Err(OperatorError::Invalid(match &self.price_list {
            Some(_) if self.compare(new).is_none() => {
                format!("{mode} keys already have these prices{set}: nothing was changed")
            }
            _ => format!(
                "{mode} keys have other prices than you have seen{set}: your change was not saved. Check the \
                 current prices, and begin again"
            ),
        }))
    }
}

/// An edit of a price list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Edit {
    /// Replaces the whole price list.
    All(PriceList),
    /// Sets the price of one offering.
    Set {
        /// The offering's ID.
        offering: String,
        /// The offering's price, a decimal such as `0.50`.
        price: String,
    },
    /// Removes the price of one offering.
    Remove {
        /// The offering's ID.
        offering: String,
    },
}

/// Changes the prices of a mode. `seen` is the [`revision`](Current::revision) that the person has seen, which must be
/// the current one; `None` replaces any revision. Returns the time under which the new price list is kept permanently.
///
/// # Errors
/// If the current revision is not `seen`, somebody else sets prices at the same moment or has just set them, the edit
/// does not apply, the price list is too large, or the store or the ledger fails.
pub async fn set(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    mode: Mode,
    edit: &Edit,
    seen: Option<&str>,
) -> Result<Done<String>> {
    let work = async |author: &Author<'_, _, _>| {
        refuse_repeat(ledger, author)?;
        let now = current(store, mode).await?;
        let price_list = now.with(edit)?;
        if let Some(seen) = seen {
            now.check_seen(store, seen, &price_list).await?;
        }
        now.replace(store, author, price_list).await
    };
    once(store, ledger, author, (SET, &(mode, edit, seen)), work).await
}

impl Current {
    async fn replace(
        &self,
        store: &impl OperatorStore,
        author: &Author<'_, impl Clock, impl Entropy>,
        price_list: PriceList,
    ) -> Result<String> {
        let mode = self.mode;
        let at = |time: &str| PriceList { prices: Some(time.to_owned()), ..price_list.clone() };
        check_length(&encode(&at(&author.registered().created))?)?;
        let prefix = PriceListVersionKey::mode_prefix(mode);
        let contested = SharedRecord {
            key: PriceListKey(mode),
            words: format!("the prices of {} keys", mode.name()),
            is_changed_by: &|note: &ChangeNote| note.command == SET && note.on.starts_with(&prefix),
            removed_by: "",
        };
        let on = |time: &str| vec![PriceListVersionKey { mode, time }.name()];
        let turn = contested.begin(store, author, self.seen, SET, on).await?;
        let time = turn.at().to_owned();
        let prices = at(&time);
        let keep = async || {
            let registered = Registered { created: time.clone(), ..author.registered() };
            Ok(store
                .put(&PriceListVersionKey { mode, time: &time }, encode(&prices)?, &registered)
                .await?)
        };
        turn.write(&prices, keep).await?; // `keep` runs first, so that the list exists before its time is used
        Ok(time)
    }
}

// ---- Read ----------------------------------------------------------------------------------------

/// Returns the price list of a mode; `None` if none is set: then every charge is 0.00 USD. KV cost: 1 read.
///
/// # Errors
/// If the record is damaged, or the store fails.
pub async fn get(store: &impl OperatorStore, mode: Mode) -> Result<Option<PriceList>> {
    load(store, PriceListKey(mode)).await
}

/// A price list in the history of a mode.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PriceListEntry {
    /// The mode of the keys that the price list was for.
    pub mode: Mode,
    /// When the price list was set, an RFC 3339 date-time.
    pub time: String,
    /// Who set the price list; `None` if that cannot be read.
    pub by: Option<String>,
    /// What this price list changed.
    pub change: Change,
}

/// Returns the newest `count` price lists of a mode, oldest first. A price list that was set in the last minute may be
/// missing. KV cost: 1 list per 1,000 price lists, at most `most_pages`; 1 read per 5 price lists returned.
///
/// # Errors
/// If there are more than `most_pages` pages, a price list is damaged, or the store fails.
pub async fn history(
    store: &impl OperatorStore,
    mode: Mode,
    count: usize,
    most_pages: usize,
) -> Result<Vec<PriceListEntry>> {
    let mut records = Vec::new();
    let mut pages = Pages::new(store, PriceListVersionKey::mode_prefix(mode));
    let mut number = 0;
    while let Some(page) = pages.next().await? {
        number += 1;
        if number > most_pages {
            return Err(OperatorError::Invalid(format!(
                "{} keys have too many price lists to show here: use the command `prices history`",
                mode.name()
            )));
        }
        records.extend(
            page.into_iter().filter(|record| PriceListVersionKey::parse(&record.name).is_some()),
        );
    }
    // One more, to compare the oldest with.
    let skipped = records.len().saturating_sub(count.saturating_add(1));
    let mut history = changes(store, mode, records.get(skipped..).unwrap_or_default()).await?;
    history.drain(..history.len().saturating_sub(count));
    Ok(history)
}

/// Returns what each of these price lists changed. All prices of the first list count as new.
async fn changes(
    store: &impl OperatorStore,
    mode: Mode,
    records: &[Record],
) -> Result<Vec<PriceListEntry>> {
    let mut history = Vec::new();
    let mut before: Option<PriceList> = None;
    for records in records.chunks(READS) {
        let keys: Vec<_> =
            records.iter().filter_map(|record| PriceListVersionKey::parse(&record.name)).collect();
        let values = store.get_values(&keys).await?;
        for ((key, record), value) in keys.iter().zip(records).zip(values) {
            let Some(value) = value else { continue };
            let price_list: PriceList = decode(PriceListVersionKey::KIND, &value)?;
            history.push(PriceListEntry {
                mode,
                time: key.time.to_owned(),
                by: Registered::deserialize(&record.metadata).ok().map(|found| found.by),
                change: Change::new(before.as_ref(), &price_list),
            });
            before = Some(price_list);
        }
    }
    Ok(history)
}

/// A price list, with when and by whom it was set.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PriceListVersion {
    /// When the price list was set, an RFC 3339 date-time.
    pub time: String,
    /// Who set the price list.
    pub by: String,
    /// The prices.
    #[serde(flatten)]
    pub price_list: PriceList,
}

/// Reads the price list of a mode that was set at a time; `None` if it does not exist. KV cost: 1 read.
///
/// # Errors
/// If it is damaged, or the store fails.
pub async fn listed(
    store: &impl OperatorStore,
    mode: Mode,
    time: &str,
) -> Result<Option<PriceListVersion>> {
    let Some(stored) = store.get(&PriceListVersionKey { mode, time }).await? else {
        return Ok(None);
    };
    let value = stored.value.read(PriceListVersionKey::READ_MS).await?;
    let price_list = PriceList { prices: None, ..decode(PriceListVersionKey::KIND, &value)? };
    Ok(Some(PriceListVersion { time: time.to_owned(), by: stored.metadata.by, price_list }))
}
