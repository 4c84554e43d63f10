//! The lists of transactions, and of the lines of an export.

use super::parts::NONE;
use crate::buyer::recipient::{Language, write_amount};
use crate::office::orders::rows::order::Order;
use crate::office::orders::rule::{Brief, Line, ListedOrder, Mark};
use crate::office::shared::operation::facts::{Fact, Tone};
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::unit_names::UnitNames;
use crate::pledges::charge::PriceList;
use crate::pledges::types::{PledgeDetail, RetrievedPledge};
use std::iter;

/// The columns that only files and commands have. On pages, the state says how much was credited of the charge.
pub(crate) const NOT_ON_PAGES: [&str; 8] =
    ["ID", "Reference", "Name", "Mode", "Charge", "Credited", "Currency", "Erased"];
/// The columns from the records of the transactions, which a command does not read, and those of files.
const NOT_IN_COMMANDS: [&str; 7] =
    ["Transaction", "Reference", "Pledged", "Buyer", "Name", "Credited", "Currency"];

/// Formats the rows of transactions as a table for a terminal.
pub(crate) fn listed(orders: &[Order]) -> String {
    let listed: Vec<_> = orders.iter().map(ListedOrder::from).collect();
    transactions(&listed, &UnitNames::default()).without(&NOT_IN_COMMANDS).or(NONE).in_lines()
}

/// Returns the list of transactions.
pub(crate) fn transactions(orders: &[ListedOrder<'_>], names: &UnitNames) -> Listing {
    Listing::new(
        orders,
        "No transactions.",
        &[
            ("ID", &|it| Fact::id(&it.order.id)),
            ("Transaction", &|it| {
                Fact::order(&it.order.id, it.brief.as_ref().map(|brief| &*brief.reference))
            }),
            ("Reference", &|it| Fact::text(it.brief.as_ref().map(|brief| &*brief.reference))),
            ("Pledged", &|it| {
                Fact::Text(it.brief.as_ref().map(Brief::pledged_in_words).unwrap_or_default())
            }),
            ("Buyer", &|it| Fact::text(it.brief.as_ref().map(|brief| &*brief.buyer))),
            ("Created", &|it| Fact::time(&*it.order.created_at)),
            ("Unit", &|it| names.unit(&it.order.scope.unit)),
            ("Name", &|it| Fact::text(names.name(&it.order.scope.unit))),
            ("Mode", &|it| Fact::Mode(it.order.scope.mode)),
            ("Net amount", &|it| Fact::money(&it.order.net(), &it.order.currency_code)),
            ("Charge", &|it| Fact::number(&it.order.amount)),
            ("Credited", &|it| Fact::number(it.order.credited.as_deref().unwrap_or_default())),
            ("Currency", &|it| Fact::words(&it.order.currency_code)),
            ("State", &|it| Fact::Row(it.marks().iter().map(tag).collect())),
            ("Erased", &|it| Fact::time(it.order.erased.as_deref())),
        ],
    )
}

fn tag(mark: &Mark) -> Fact {
    let tone = match mark {
        Mark::Erased | Mark::Failed => Tone::Alarm,
        Mark::Test | Mark::Unpriced(_) => Tone::Note,
        Mark::Cancelled | Mark::Credited(_) | Mark::Paid => Tone::Plain,
    };
    Fact::Tag(tone, mark.words())
}

/// Returns the first `most` pledges of a transaction, with the prices by which they were charged.
pub(crate) fn pledges(
    pledges: &[RetrievedPledge<'_>],
    prices: Option<&PriceList>,
    most: usize,
) -> Listing {
    let priced = |pledge: &RetrievedPledge<'_>| -> [Fact; 2] {
        let Some(prices) = prices else { return [Fact::words("–"), Fact::words("–")] };
        match prices.unit_prices.get(&*pledge.impact.offering_id) {
            None => [Fact::Tag(Tone::Note, "no price".to_owned()), Fact::number("0.00")],
            Some(price) => {
                let amount = prices.amount(iter::once(&pledge.impact));
                [Fact::number(price.as_str()), Fact::number(amount)]
            }
        }
    };
    Listing::new(
        pledges.iter().take(most).map(|pledge| (pledge, priced(pledge))),
        "No pledges.",
        &[
            ("Offering", &|(it, _)| Fact::Text(it.impact.offering_id.to_string())),
            ("Quantity", &|(it, _)| Fact::Number(write_amount(Language::En, it.impact.amount))),
            ("Price", &|(_, [price, _])| price.clone()),
            ("Amount", &|(_, [_, amount])| amount.clone()),
            ("Details", &|(it, _)| Fact::List(it.details.iter().flat_map(texts).collect())),
        ],
    )
}

fn texts(detail: &PledgeDetail<'_>) -> Vec<Fact> {
    let texts = [
        &detail.name,
        &detail.description,
        &detail.noun_singular,
        &detail.noun_plural,
        &detail.image,
        &detail.external_id,
        &detail.external_url,
    ];
    let given = texts.into_iter().filter_map(|text| text.as_deref());
    given.filter(|text| !text.is_empty()).map(|text| Fact::Text(text.to_owned())).collect()
}

/// Returns the lines of an export. A file has them in parts.
pub fn exported(lines: &[Line]) -> Listing {
    Listing::new(
        lines,
        "No transactions.",
        &[
            ("ID", &|it| Fact::id(&it.id)),
            ("Created", &|it| Fact::time(&*it.created_at)),
            ("Mode", &|it| Fact::Mode(it.scope.mode)),
            ("Unit", &|it| Fact::unit(&it.scope.unit)),
            ("Name", &|it| Fact::Text(it.unit_name.clone())),
            ("Reference", &|it| Fact::Text(it.reference.clone())),
            ("Offering", &|it| Fact::Text(it.offering.clone())),
            ("Quantity", &|it| Fact::number(&it.quantity)),
            ("Amount", &|it| Fact::number(it.amount.as_deref().unwrap_or_default())),
            ("Currency", &|it| Fact::words(&it.currency_code)),
            ("Unpriced", &|it| it.unpriced.map_or_else(Fact::none, Fact::number)),
            ("Erased", &|it| Fact::time(it.erased.as_deref())),
            ("Unit price", &|it| Fact::number(it.unit_price.as_deref().unwrap_or_default())),
            ("Kind", &|it| Fact::words(it.kind.name())),
        ],
    )
}
