//! Prices: where they are kept, and what a person may write.

use super::{Outcome, entry};
use crate::charge::{Catalogue, UnitPrice, read_prices};
use crate::pledge::CurrencyCode;
use crate::scope::Mode;
use crate::store::{CatalogueKey, Key as _};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;

/// → for each mode the names that the service reads, the first of which there is a record.
pub(super) fn names(_input: &str) -> Outcome {
    let [test, live] = [Mode::Test, Mode::Live].map(|mode| CatalogueKey(mode).name());
    Ok(json!({ "test": [test], "live": [live] }))
}

/// A record → the prices in it, as the service reads them.
pub(super) fn stored(input: &str) -> Outcome {
    Ok(serde_json::to_value(serde_json::from_str::<Catalogue>(input)?)?)
}

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

/// A catalogue as a person writes it → the prices, and for each mode the record to be.
pub(super) fn check(input: &str) -> Outcome {
    if input.len() > MAX_CATALOGUE_BYTES {
        let length = input.len();
        return Err(format!(
            "a catalogue may have {MAX_CATALOGUE_BYTES} bytes, this has {length}: leave out \
             offerings that cost nothing"
        )
        .into());
    }
    let catalogue = read(input.trim_start_matches('\u{feff}')).map_err(in_json_words)?; // an editor may put one there
    let entry = |mode| entry(&CatalogueKey(mode), &catalogue);
    let entries = json!({ "test": entry(Mode::Test)?, "live": entry(Mode::Live)? });
    Ok(json!({ "catalogue": catalogue, "entries": entries }))
}

fn read(json: &str) -> serde_json::Result<Catalogue> {
    let CatalogueFile { currency_code, unit_prices } = serde_json::from_str(json)?;
    Ok(Catalogue { currency_code, unit_prices })
}

/// What serde says of a file, as its author calls it: JSON has members and values, not fields and
/// variants. Text that is no JSON at all is called that.
fn in_json_words(error: serde_json::Error) -> String {
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
