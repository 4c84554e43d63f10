//! A list of transactions as a CSV file.

use super::listed::ListedOrder;
use crate::office::shared::rule::csv;
use crate::office::shared::rule::csv::BYTE_ORDER_MARK;

/// Formats transactions as CSV: what the list shows, with the IDs and the modes. The file has a column for buyers if
/// `shows_buyers` is set, as the list does.
pub fn listed_for_spreadsheet(
    orders: &[ListedOrder<'_>],
    name_of: impl Fn(&str) -> String,
    shows_buyers: bool,
) -> String {
    let buyer = |text: &str| shows_buyers.then(|| text.to_owned());
    let headings = [
        Some("id".to_owned()),
        Some("reference".to_owned()),
        Some("pledged".to_owned()),
        buyer("buyer"),
        Some("createdAt".to_owned()),
        Some("unit".to_owned()),
        Some("unitName".to_owned()),
        Some("mode".to_owned()),
        Some("charge".to_owned()),
        Some("credited".to_owned()),
        Some("net".to_owned()),
        Some("currencyCode".to_owned()),
        Some("states".to_owned()),
    ];
    let row = |listed: &ListedOrder<'_>| {
        let (order, brief) = (listed.order, listed.brief.as_ref());
        let marks: Vec<_> = listed.marks().iter().map(|mark| mark.words()).collect();
        let cells = [
            Some(csv::text(&order.id)),
            Some(csv::text(brief.map_or("", |brief| &brief.reference))),
            Some(csv::text(&brief.map(|brief| brief.pledged_in_words()).unwrap_or_default())),
            buyer(&csv::text(brief.map_or("", |brief| &brief.buyer))),
            Some(csv::text(&order.created_at)),
            Some(csv::text(&order.scope.unit)),
            Some(csv::text(&name_of(&order.scope.unit))),
            Some(order.scope.mode.name().to_owned()),
            Some(order.amount.clone()),
            Some(order.credited.clone().unwrap_or_default()),
            Some(order.net()),
            Some(csv::text(&order.currency_code)),
            Some(csv::text(&marks.join(", "))),
        ];
        cells.into_iter().flatten().collect::<Vec<_>>()
    };
    let headings = headings.into_iter().flatten().collect::<Vec<_>>();
    let rows = std::iter::once(headings).chain(orders.iter().map(row));
    [BYTE_ORDER_MARK, &csv::lines(rows)].concat()
}
