//! The history of a price list.

use crate::office::prices::rule::PriceListEntry;
use crate::office::shared::page::view;
use crate::pledges::charge::UnitPrice;
use maud::{Markup, html};

/// Maximum number of price lists that are shown.
pub(super) const MAX_HISTORY: usize = 20;
/// Maximum number of changed prices that are shown for each price list.
const MAX_CHANGES: usize = 10;

pub(super) fn history(recent: &Result<Vec<PriceListEntry>, String>) -> Markup {
    html! {
        h2 { "History" }
        @match recent {
            Ok(recent) => {
                (view::table(
                    &["Set on", "Changes", "By"],
                    &recent.iter().rev().map(line).collect::<Vec<_>>(),
                    "No price list has been saved yet.",
                ))
                @if recent.len() == MAX_HISTORY { p { small { "Only the newest " (MAX_HISTORY) " are shown." } } }
                (view::staleness_note())
            }
            Err(problem) => { p.problem { (view::sentence(problem)) } }
        }
    }
}

fn line(PriceListEntry { time, by, removed, change, .. }: &PriceListEntry) -> Vec<Markup> {
    let more = change.prices.len().saturating_sub(MAX_CHANGES);
    let price =
        |price: &Option<UnitPrice>| price.as_ref().map_or("none", UnitPrice::as_str).to_owned();
    vec![
        view::time(time),
        html! {
            div.wide {
                @if let Some((from, to)) = change.currency { div { (from.code()) " → " (to.code()) } }
                @for it in change.prices.iter().take(MAX_CHANGES) {
                    div { (view::untrusted_text(&it.offering)) ": " (price(&it.from)) " → " (price(&it.to)) }
                }
                @if more > 0 { div.soft { "and " (more) " more" } }
                @if *removed { "The unit's price list was removed. The prices of the mode (live or \
                                test) apply." }
                @else if change.is_none() { span.soft { "no changes" } }
            }
        },
        html! { @match by { Some(by) => { (view::untrusted_text(by)) } None => { "unknown" } } },
    ]
}
