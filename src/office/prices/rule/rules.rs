//! Checks price lists, and describes in words to which API keys they apply.

use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::ids::check_unit;
use crate::pledges::store::PriceListKey;

/// Refuses a price list of more than `most` bytes.
pub(super) fn check_length(price_list: &[u8], most: usize) -> Result<()> {
    let length = price_list.len();
    if length <= most {
        return Ok(());
    }
    Err(OperatorError::invalid(format!(
        "a price list may have at most {most} bytes, but this one has {length}: leave out offerings that cost nothing"
    )))
}

/// Returns words for the API keys to which a price list applies, such as ``live keys of the unit `shop` ``.
pub fn charged_keys(PriceListKey { mode, unit }: PriceListKey<'_>) -> String {
    let keys = format!("{} keys", mode.name());
    match unit {
        None => keys,
        Some(unit) => format!("{keys} of the unit `{unit}`"),
    }
}

pub(super) fn check_of(of: PriceListKey<'_>) -> Result<()> {
    of.unit.map_or(Ok(()), check_unit)
}
