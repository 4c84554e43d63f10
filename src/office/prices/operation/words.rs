//! Prices as text.

use crate::pledges::charge::UnitPrice;

/// Returns the text of a price, or a dash if there is none.
pub(super) fn price(price: Option<&UnitPrice>) -> String {
    price.map_or_else(|| "–".to_owned(), text_of)
}

/// Returns the text of a price, formatted as in JSON.
pub(crate) fn text_of(price: &UnitPrice) -> String {
    price.as_str().to_owned()
}
