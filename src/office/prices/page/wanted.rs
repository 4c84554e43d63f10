//! A change of prices that a form asks for.

use crate::pledges::charge::{PriceList, UnitPrice};

/// Maximum number of prices that are shown, and that can be edited as a table.
pub(super) const MAX_ROWS: usize = 200;

#[derive(Clone, Debug)]
pub(super) enum Wanted {
    /// Replaces the whole price list.
    List(PriceList),
    /// Removes the price list of a unit.
    Removal,
}

/// Writes a price list as JSON, one price per line.
pub(super) fn as_text(price_list: &PriceList) -> String {
    let price = |(offering, price): (&String, &UnitPrice)| {
        let offering = serde_json::to_string(offering).unwrap_or_default(); // cannot fail
        format!("    {offering}: \"{}\"", price.as_str())
    };
    let prices: Vec<_> = price_list.unit_prices.iter().map(price).collect();
    let code = price_list.currency_code.code();
    let prices = prices.join(",\n");
    format!("{{\n  \"currencyCode\": \"{code}\",\n  \"unitPrices\": {{\n{prices}\n  }}\n}}")
}
