//! Prices: reads a catalogue file, sets and gets the prices of a mode, and who has set them when.

use super::audit::{Author, Change as Audited};
use super::conflict::{Contested, Seen};
use super::once::{Done, once, refuse_repeat};
use super::{OperatorError, Pages, Result, encode, load, read_value};
use crate::charge::{Catalogue, UnitPrice, read_prices};
use crate::handle::{Clock, Entropy};
use crate::ledger::Ledger;
use crate::pledge::CurrencyCode;
use crate::scope::Mode;
use crate::store::{
    CatalogueKey, ChangeNote, Key as _, Listed as Record, MAX_PRICES_BYTES, OperatorStore,
    PricesKey, Registered, StoreError, StoredValue as _, decode,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

const SET: &str = "prices set";
/// How many price lists are read at once: each may have a mebibyte.
const READS: usize = 5;
/// Most bytes of a catalogue: every isolate of the service holds it.
const MAX_CATALOGUE_BYTES: usize = MAX_PRICES_BYTES;

/// A [`Catalogue`] as a person writes it: a member that the service would pass over is a mistake.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CatalogueFile {
    currency_code: CurrencyCode,
    #[serde(deserialize_with = "read_prices")]
    unit_prices: BTreeMap<String, UnitPrice>,
}

/// Reads a catalogue that a person wrote.
///
/// # Errors
/// If the file breaks a rule; with line and column where possible.
pub fn parse(file: &[u8]) -> Result<Catalogue> {
    check_length(file)?;
    let text = str::from_utf8(file).map_err(|error| {
        let at = error.valid_up_to();
        OperatorError::Invalid(format!(
            "this is not UTF-8 text: look at byte {at}, and save it as UTF-8"
        ))
    })?;
    let text = text.trim_start_matches('\u{feff}'); // some editors write one
    let CatalogueFile { currency_code, unit_prices } = serde_json::from_slice(text.as_bytes())
        .map_err(|error| OperatorError::Invalid(in_json_words(&error)))?;
    Ok(Catalogue { currency_code, unit_prices, prices: None })
}

fn check_length(catalogue: &[u8]) -> Result<()> {
    let length = catalogue.len();
    if length <= MAX_CATALOGUE_BYTES {
        return Ok(());
    }
    Err(OperatorError::Invalid(format!(
        "a catalogue may have {MAX_CATALOGUE_BYTES} bytes, this has {length}: leave out offerings \
         that cost nothing"
    )))
}

/// Rewrites serde's error in the terms of JSON: members and values, not fields and variants.
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

/// What a new catalogue changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// Currency before and after; `None` if it stays, or if there was no catalogue.
    pub currency: Option<(CurrencyCode, CurrencyCode)>,
    /// The prices that differ, sorted by offering.
    pub prices: Vec<PriceChange>,
    /// What is asked about before it is made: an offering goes, the currency changes, or the catalogue
    /// before cannot be read.
    pub risks: Vec<String>,
}

/// A price that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PriceChange {
    /// The offering's ID.
    pub offering: String,
    /// The price before; `None` if it had none.
    pub from: Option<UnitPrice>,
    /// The price after; `None` if it has none any more.
    pub to: Option<UnitPrice>,
}

impl Change {
    /// Whether the prices are the same.
    pub fn is_none(&self) -> bool {
        self.currency.is_none() && self.prices.is_empty() && self.risks.is_empty()
    }

    fn new(old: Option<&Catalogue>, new: &Catalogue) -> Self {
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

/// The prices of a mode as they are read now.
#[derive(Clone, Debug)]
pub struct Current {
    /// Whose keys' prices they are.
    pub mode: Mode,
    /// `None` if none are set, or they cannot be read.
    pub catalogue: Option<Catalogue>,
    /// Why they cannot be read.
    pub problem: Option<String>,
    seen: Seen,
}

/// Reads the prices of a mode, also if they are damaged: others can be set in their place.
///
/// # Errors
/// If the store fails.
pub async fn current(store: &impl OperatorStore, mode: Mode) -> Result<Current> {
    let record = read_value(store, CatalogueKey(mode)).await?;
    let read = |record: &Vec<u8>| decode::<Catalogue>(CatalogueKey::KIND, record);
    let (catalogue, problem) = match record.as_ref().map(read).transpose() {
        Ok(catalogue) => (catalogue, None),
        Err(StoreError::Damaged(problem)) => (None, Some(problem)),
        Err(error) => return Err(error.into()),
    };
    Ok(Current { mode, catalogue, problem, seen: Seen::new(record.as_deref()) })
}

impl Current {
    /// What tells these prices from others: the time when they were set, where they have one.
    pub fn edition(&self) -> &str {
        match (&self.catalogue, &self.problem) {
            (Some(catalogue), _) => catalogue.prices.as_deref().unwrap_or("without a time"),
            (None, Some(_)) => "damaged",
            (None, None) => "none",
        }
    }

    /// What would change if these were the prices.
    pub fn compare(&self, new: &Catalogue) -> Change {
        let mut change = Change::new(self.catalogue.as_ref(), new);
        change.risks.extend(self.problem.clone());
        change
    }

    /// These prices as they are once they are changed.
    ///
    /// # Errors
    /// If there is nothing to change, or the price is none.
    pub fn with(&self, edit: &Edit) -> Result<Catalogue> {
        match edit {
            Edit::All(catalogue) => Ok(catalogue.clone()),
            Edit::Set { offering, price } => self.with_price(offering, price),
            Edit::Remove { offering } => self.without_price(offering),
        }
    }

    /// These prices with one of them set.
    ///
    /// # Errors
    /// If the price is not one, or there are no prices yet, which alone say the currency.
    fn with_price(&self, offering: &str, price: &str) -> Result<Catalogue> {
        let price = UnitPrice::parse(price).ok_or_else(|| {
            OperatorError::Invalid(format!(
                "`{price}` is not a price: write a plain decimal such as `0.50`"
            ))
        })?;
        let mut catalogue = self.readable()?;
        catalogue.unit_prices.insert(offering.to_owned(), price);
        Ok(catalogue)
    }

    /// These prices without one of them.
    ///
    /// # Errors
    /// If the offering has none.
    fn without_price(&self, offering: &str) -> Result<Catalogue> {
        let mut catalogue = self.readable()?;
        match catalogue.unit_prices.remove(offering) {
            Some(_) => Ok(catalogue),
            None => Err(OperatorError::Invalid(format!(
                "`{offering}` has no price to remove: take the ID from the list"
            ))),
        }
    }

    fn readable(&self) -> Result<Catalogue> {
        let mode = self.mode.name();
        match (&self.catalogue, &self.problem) {
            (Some(catalogue), _) => Ok(catalogue.clone()),
            (None, Some(problem)) => Err(StoreError::Damaged(problem.clone()).into()),
            (None, None) => Err(OperatorError::Invalid(format!(
                "{mode} keys have no prices yet: begin with a file, which has the currency"
            ))),
        }
    }

    /// Refuses to replace prices that are not those which somebody has seen. KV cost: 1 read where it does.
    ///
    /// # Errors
    /// If these have another [`edition`](Self::edition), or the store fails.
    pub async fn check_seen(
        &self,
        store: &impl OperatorStore,
        seen: &str,
        new: &Catalogue,
    ) -> Result<()> {
        if self.edition() == seen {
            return Ok(());
        }
        let mode = self.mode.name();
        let change = self.seen.change(store).await?;
        let set = change.map(|Audited { by, at, .. }| format!(", set by {by} at {at}"));
        let set = set.unwrap_or_default();
        Err(OperatorError::Invalid(match &self.catalogue {
            Some(_) if self.compare(new).is_none() => {
                format!(
                    "{mode} keys have these very prices already{set}: nothing was set once more"
                )
            }
            _ => format!(
                "{mode} keys have other prices than you have seen{set}: nothing of yours was kept. Look \
                 at them as they are now, and begin again"
            ),
        }))
    }
}

/// How prices are to be changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Edit {
    /// These are all.
    All(Catalogue),
    /// One offering has this price, a decimal such as `0.50`.
    Set {
        /// The offering's ID.
        offering: String,
        /// Its price.
        price: String,
    },
    /// One offering has none.
    Remove {
        /// The offering's ID.
        offering: String,
    },
}

/// Changes the prices of a mode if they are still those of the [`edition`](Current::edition) that somebody has `seen`, or
/// whichever they are. The list is kept for good, under the time that is returned.
///
/// # Errors
/// If there are other prices, somebody else sets them at the same moment or has set them lately, there would be none to
/// change, the catalogue is too large, or store or ledger fail.
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
        let catalogue = now.with(edit)?;
        if let Some(seen) = seen {
            now.check_seen(store, seen, &catalogue).await?;
        }
        now.replace(store, author, catalogue).await
    };
    once(store, ledger, author, (SET, &(mode, edit, seen)), work).await
}

impl Current {
    async fn replace(
        &self,
        store: &impl OperatorStore,
        author: &Author<'_, impl Clock, impl Entropy>,
        catalogue: Catalogue,
    ) -> Result<String> {
        let mode = self.mode;
        let at = |time: &str| Catalogue { prices: Some(time.to_owned()), ..catalogue.clone() };
        check_length(&encode(&at(&author.registered().created))?)?;
        let prefix = PricesKey::mode_prefix(mode);
        let contested = Contested {
            key: CatalogueKey(mode),
            words: format!("the prices of {} keys", mode.name()),
            is_changed_by: &|note: &ChangeNote| note.command == SET && note.on.starts_with(&prefix),
            removed_by: "",
        };
        let on = |time: &str| vec![PricesKey { mode, time }.name()];
        let turn = contested.begin(store, author, self.seen, SET, on).await?;
        let time = turn.at().to_owned();
        let prices = at(&time);
        let keep = async || {
            let registered = Registered { created: time.clone(), ..author.registered() };
            Ok(store.put(&PricesKey { mode, time: &time }, encode(&prices)?, &registered).await?)
        };
        turn.write(&prices, keep).await?; // the list first, so that it is there once it is named
        Ok(time)
    }
}

// ---- What is stored ------------------------------------------------------------------------------

/// The prices of a mode; `None` if they are not set: then every charge is 0.00 USD.
///
/// # Errors
/// If the record is damaged, or the store fails.
pub async fn get(store: &impl OperatorStore, mode: Mode) -> Result<Option<Catalogue>> {
    load(store, CatalogueKey(mode)).await
}

/// A price list that was set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Listed {
    /// Whose keys' prices these were.
    pub mode: Mode,
    /// When they were set, an RFC 3339 date-time.
    pub time: String,
    /// Who set them; `None` where that cannot be read.
    pub by: Option<String>,
    /// What they changed.
    pub change: Change,
}

/// At most so many of the newest price lists of a mode, the oldest first, of at most so many pages of
/// names. One of the last minute may be missing.
///
/// # Errors
/// If there are more pages, a list is damaged, or the store fails.
pub async fn history(
    store: &impl OperatorStore,
    mode: Mode,
    count: usize,
    most_pages: usize,
) -> Result<Vec<Listed>> {
    let mut records = Vec::new();
    let mut pages = Pages::new(store, PricesKey::mode_prefix(mode));
    let mut number = 0;
    while let Some(page) = pages.next().await? {
        number += 1;
        if number > most_pages {
            return Err(OperatorError::Invalid(format!(
                "{} keys had too many price lists to show them here: the command `prices history` \
                 does",
                mode.name()
            )));
        }
        records.extend(page.into_iter().filter(|record| PricesKey::parse(&record.name).is_some()));
    }
    // One more, which the oldest of them is compared with.
    let skipped = records.len().saturating_sub(count.saturating_add(1));
    let mut history = changes(store, mode, records.get(skipped..).unwrap_or_default()).await?;
    history.drain(..history.len().saturating_sub(count));
    Ok(history)
}

/// What each of these price lists changed, of which the first is compared with none.
async fn changes(
    store: &impl OperatorStore,
    mode: Mode,
    records: &[Record],
) -> Result<Vec<Listed>> {
    let mut history = Vec::new();
    let mut before: Option<Catalogue> = None;
    for records in records.chunks(READS) {
        let keys: Vec<_> =
            records.iter().filter_map(|record| PricesKey::parse(&record.name)).collect();
        let values = store.get_values(&keys).await?;
        for ((key, record), value) in keys.iter().zip(records).zip(values) {
            let Some(value) = value else { continue };
            let catalogue: Catalogue = decode(PricesKey::KIND, &value)?;
            history.push(Listed {
                mode,
                time: key.time.to_owned(),
                by: Registered::deserialize(&record.metadata).ok().map(|found| found.by),
                change: Change::new(before.as_ref(), &catalogue),
            });
            before = Some(catalogue);
        }
    }
    Ok(history)
}

/// The price list of a mode that was set at a time, and who set it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PriceList {
    /// When it was set, an RFC 3339 date-time.
    pub time: String,
    /// Who set it.
    pub by: String,
    /// The prices.
    #[serde(flatten)]
    pub catalogue: Catalogue,
}

/// Reads a price list; `None` if it is not there.
///
/// # Errors
/// If it is damaged, or the store fails.
pub async fn listed(
    store: &impl OperatorStore,
    mode: Mode,
    time: &str,
) -> Result<Option<PriceList>> {
    let Some(stored) = store.get(&PricesKey { mode, time }).await? else { return Ok(None) };
    let value = stored.value.read(PricesKey::READ_MS).await?;
    let catalogue = Catalogue { prices: None, ..decode(PricesKey::KIND, &value)? };
    Ok(Some(PriceList { time: time.to_owned(), by: stored.metadata.by, catalogue }))
}
