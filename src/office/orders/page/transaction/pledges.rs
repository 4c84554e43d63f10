//! The pledges of a transaction, with the prices that were charged for them.

use crate::office::orders::operation::listing;
use crate::office::orders::rule::TransactionView;
use crate::office::prices::rule::PriceListVersion;
use crate::office::shared::page::list_times::ListTimes;
use crate::office::shared::page::listing::table;
use crate::office::shared::page::view;
use crate::pledges::time::TimeZones;
use maud::{Markup, html};

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
    let rest = pledges.len().saturating_sub(MAX_PLEDGES);
    html! {
        (table(&listing::pledges(pledges, prices, MAX_PLEDGES)))
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
