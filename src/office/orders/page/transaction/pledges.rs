//! The pledges of a transaction, with the prices that were charged for them.

use crate::buyer::recipient;
use crate::buyer::recipient::Language;
use crate::office::orders::rule::TransactionView;
use crate::office::prices::rule::PriceListVersion;
use crate::office::shared::page::list_times::ListTimes;
use crate::office::shared::page::view;
use crate::pledges::charge::PriceList;
use crate::pledges::time::TimeZones;
use crate::pledges::types::{PledgeDetail, RetrievedPledge};
use maud::{Markup, html};
use std::iter;

/// Maximum number of pledges on a page.
const MAX_PLEDGES: usize = 100;

/// Renders the first [`MAX_PLEDGES`] pledges of a transaction, with their prices. For people of shops, leaves out which
/// operator set the price list.
pub(super) fn pledges(
    list: Option<&PriceListVersion>,
    shown: &TransactionView<'_>,
    is_of_shop: bool,
    times: &ListTimes<'_, impl TimeZones>,
) -> Markup {
    let pledges = &shown.transaction.pledges;
    let prices = list.map(|list| &list.price_list);
    let row = |pledge: &RetrievedPledge<'_>| {
        let (price, amount) = priced(prices, pledge);
        vec![
            view::untrusted_text(&pledge.impact.offering_id),
            html! { (recipient::write_amount(Language::En, pledge.impact.amount)) },
            price,
            amount,
            html! { div.wide { (texts(&pledge.details)) } },
        ]
    };
    let rows: Vec<_> = pledges.iter().take(MAX_PLEDGES).map(row).collect();
    let rest = pledges.len() - rows.len();
    let headings = ["Offering", "Quantity", "Price", "Amount", "Details"];
    html! {
        (view::table_of(&headings, &["Quantity", "Price", "Amount"], &rows, "No pledges."))
        @if rest > 0 { p { "And " (rest) " more, which are included in the charge." } }
        p { (price_list(list.map(|list| (list, times.text(&list.time))), shown.row.unpriced, is_of_shop)) }
    }
}

/// Renders when the price list of a charge was set, and by whom. For people of shops, leaves out by whom.
/// Also renders the number of unpriced pledges, if there are any.
fn price_list(
    list: Option<(&PriceListVersion, Markup)>,
    unpriced: usize,
    is_of_shop: bool,
) -> Markup {
    html! {
        @match list {
            Some((list, time)) => {
                "Charged by the price list of " (time)
                @if !is_of_shop { ", set by " (view::untrusted_text(&list.by)) }
                ". The charge is rounded once, on the total."
            }
            None => "The price list used for this charge is not available.",
        }
        @if unpriced > 0 {
            " Pledges without a price, charged 0.00: " strong { (unpriced) } "."
        }
    }
}

/// Renders the price of a pledge's offering, and the amount: quantity × price.
fn priced(prices: Option<&PriceList>, pledge: &RetrievedPledge<'_>) -> (Markup, Markup) {
    let Some(prices) = prices else { return (html! { "–" }, html! { "–" }) };
    match prices.unit_prices.get(&*pledge.impact.offering_id) {
        None => (html! { span.tag.note { "no price" } }, html! { "0.00" }),
        Some(price) => {
            let amount = prices.amount(iter::once(&pledge.impact));
            (html! { (price.as_str()) }, html! { (amount) })
        }
    }
}

fn texts(details: &[PledgeDetail<'_>]) -> Markup {
    let texts = details.iter().flat_map(|detail| {
        [
            &detail.name,
            &detail.description,
            &detail.noun_singular,
            &detail.noun_plural,
            &detail.image,
            &detail.external_id,
            &detail.external_url,
        ]
    });
    let texts = texts.filter_map(|text| text.as_deref()).filter(|text| !text.is_empty());
    html! {
        @for (index, text) in texts.enumerate() { @if index > 0 { " · " } (view::untrusted_text(text)) }
    }
}
