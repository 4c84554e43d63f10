//! Prices: reads a catalogue file, and sets and gets the prices of a mode.

use super::audit::Author;
use super::{OperatorError, Result, load, put_record};
use crate::charge::{Catalogue, UnitPrice, read_prices};
use crate::handle::{Clock, Entropy};
use crate::pledge::CurrencyCode;
use crate::scope::Mode;
use crate::store::{CatalogueKey, Key as _, OperatorStore};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Most bytes of a catalogue: every isolate of the service holds it.
const MAX_CATALOGUE_BYTES: usize = 1024 * 1024;

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
    if file.len() > MAX_CATALOGUE_BYTES {
        let length = file.len();
        return Err(OperatorError::Invalid(format!(
            "a catalogue may have {MAX_CATALOGUE_BYTES} bytes, this has {length}: leave out \
             offerings that cost nothing"
        )));
    }
    let text = str::from_utf8(file).map_err(|error| {
        let at = error.valid_up_to();
        OperatorError::Invalid(format!(
            "this is not UTF-8 text: look at byte {at}, and save it as UTF-8"
        ))
    })?;
    let text = text.trim_start_matches('\u{feff}'); // some editors write one
    let CatalogueFile { currency_code, unit_prices } = serde_json::from_str(text)
        .map_err(|error| OperatorError::Invalid(in_json_words(&error)))?;
    Ok(Catalogue { currency_code, unit_prices })
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

/// Replaces the prices of a mode.
///
/// # Errors
/// If the store fails.
pub async fn set(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    mode: Mode,
    catalogue: &Catalogue,
) -> Result<()> {
    author.record(store, "catalogue set", [CatalogueKey(mode).name()]).await?;
    put_record(store, &CatalogueKey(mode), catalogue).await
}

/// The prices of a mode; `None` if they are not set: then every charge is 0.00 USD.
///
/// # Errors
/// If the record is damaged, or the store fails.
pub async fn get(store: &impl OperatorStore, mode: Mode) -> Result<Option<Catalogue>> {
    load(store, CatalogueKey(mode)).await
}
