//! Parses price lists that people wrote.

use super::rules::check_length;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::refused::RefusalCode;
use crate::pledges::charge::{PriceList, UnitPrice, read_prices};
use crate::pledges::store::MAX_PRICES_BYTES;
use crate::pledges::types::CurrencyCode;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A [`PriceList`] in a file that a person wrote. Unknown members are an error here, although the service
/// ignores them.
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
    check_length(file, MAX_PRICES_BYTES)?;
    let text = str::from_utf8(file).map_err(|error| {
        let at = error.valid_up_to();
        invalid(format!("this is not UTF-8 text: check byte {at}, and save the file as UTF-8"))
    })?;
    let text = text.trim_start_matches('\u{feff}'); // some editors write a byte order mark
    let PriceListFile { currency_code, unit_prices } =
        serde_json::from_slice(text.as_bytes()).map_err(|error| invalid(in_json_words(&error)))?;
    Ok(PriceList { currency_code, unit_prices, prices: None })
}

fn invalid(problem: String) -> OperatorError {
    OperatorError::at("file", RefusalCode::Invalid, problem)
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
