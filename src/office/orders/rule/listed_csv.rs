//! A list of transactions as a CSV file.

use super::listed::ListedOrder;
use crate::office::shared::rule::csv;
use crate::office::shared::rule::csv::BYTE_ORDER_MARK;

const HEADINGS: [&str; 13] = [
    "id",
    "reference",
    "pledged",
    "buyer",
    "createdAt",
    "unit",
    "unitName",
    "mode",
    "charge",
    "credited",
    "net",
    "currencyCode",
    "states",
];

/// Formats transactions as CSV: what the list shows, with the IDs and the modes. The file has a column for buyers if
/// `shows_buyers` is set, as the list does.
pub fn listed_for_spreadsheet(
    orders: &[ListedOrder<'_>],
    name_of: impl Fn(&str) -> String,
    shows_buyers: bool,
) -> String {
    let row = |listed: &ListedOrder<'_>| {
        let (order, brief) = (listed.order, listed.brief.as_ref());
        let marks: Vec<_> = listed.marks().iter().map(|mark| mark.words()).collect();
        [
            csv::text(&order.id),
            csv::text(brief.map_or("", |brief| &brief.reference)),
            csv::text(&brief.map(|brief| brief.pledged_in_words()).unwrap_or_default()),
            csv::text(brief.map_or("", |brief| &brief.buyer)),
            csv::text(&order.created_at),
            csv::text(&order.scope.unit),
            csv::text(&name_of(&order.scope.unit)),
            order.scope.mode.name().to_owned(),
            order.amount.clone(),
            order.credited.clone().unwrap_or_default(),
            order.net(),
            csv::text(&order.currency_code),
            csv::text(&marks.join(", ")),
        ]
    };
    let rows = std::iter::once(HEADINGS.map(str::to_owned)).chain(orders.iter().map(row));
    let shown = |row: [String; HEADINGS.len()]| {
        let cells = HEADINGS.into_iter().zip(row);
        cells.filter(move |(heading, _)| shows_buyers || *heading != "buyer").map(|(_, cell)| cell)
    };
    [BYTE_ORDER_MARK, &csv::lines(rows.map(shown))].concat()
}
