//! The lists of prices and of their changes.

use crate::office::prices::rule::{PriceChange, PriceListEntry};
use crate::office::shared::operation::facts::Fact;
use crate::office::shared::operation::listing::Listing;
use crate::pledges::charge::{PriceList, UnitPrice};

/// Returns the first `most` prices of a list.
pub(crate) fn prices(list: &PriceList, most: usize) -> Listing {
    let code = list.currency_code.code();
    let none = format!("No offering has a price: every charge is 0.00 {code}.");
    Listing::new(
        list.unit_prices.iter().take(most),
        &none,
        &[
            ("Offering", &|(offering, _)| Fact::Text((*offering).clone())),
            (code, &|(_, price)| Fact::number(price.as_str())),
        ],
    )
}

/// Returns the changed prices.
pub(crate) fn changes<'c>(changes: impl IntoIterator<Item = &'c PriceChange>) -> Listing {
    Listing::new(
        changes,
        "No price changes.",
        &[
            ("Offering", &|it| Fact::Text(it.offering.clone())),
            ("Before", &|it| price(it.from.as_ref())),
            ("After", &|it| price(it.to.as_ref())),
        ],
    )
}

fn price(price: Option<&UnitPrice>) -> Fact {
    price.map_or_else(|| Fact::words("none"), |price| Fact::number(price.as_str()))
}

/// Returns the history of price lists, with at most `most` changed prices of each.
pub(crate) fn history<'h>(
    entries: impl IntoIterator<Item = &'h PriceListEntry>,
    most: usize,
) -> Listing {
    Listing::new(
        entries.into_iter().flat_map(|entry| rows(entry, most)),
        "No price list has been saved yet.",
        &[
            ("Set on", &|(entry, _)| Fact::time(&*entry.time)),
            ("By", &|(entry, _)| Fact::text(Some(entry.by.as_deref().unwrap_or("unknown")))),
            ("Mode", &|(entry, _)| Fact::Mode(entry.mode)),
            ("Offering", &|(_, [what, _, _])| what.clone()),
            ("Before", &|(_, [_, before, _])| before.clone()),
            ("After", &|(_, [_, _, after])| after.clone()),
        ],
    )
}

/// Returns what changed with a price list: its currency and prices, each before and after.
fn rows(entry: &PriceListEntry, most: usize) -> Vec<(&PriceListEntry, [Fact; 3])> {
    let of_list = |text: &str| [Fact::words(text), Fact::none(), Fact::none()];
    let change = &entry.change;
    let currency = change.currency.map(|(from, to)| {
        [Fact::words("Currency"), Fact::words(from.code()), Fact::words(to.code())]
    });
    let prices = change.prices.iter().take(most).map(|it| {
        [Fact::Text(it.offering.clone()), price(it.from.as_ref()), price(it.to.as_ref())]
    });
    let more = change.prices.len().saturating_sub(most);
    let more = (more > 0).then(|| of_list(&format!("and {more} more")));
    let removed = entry.removed.then(|| of_list("The unit's price list was removed"));
    let mut rows: Vec<_> = currency.into_iter().chain(prices).chain(more).chain(removed).collect();
    if rows.is_empty() {
        rows.push(of_list("No changes"));
    }
    rows.into_iter().map(|row| (entry, row)).collect()
}
