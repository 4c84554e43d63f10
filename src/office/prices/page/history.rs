//! The history of a price list.

use crate::office::prices::operation::listing;
use crate::office::prices::rule::PriceListEntry;
use crate::office::shared::page::listing::table;
use crate::office::shared::page::view;
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
                (table(&listing::history(recent.iter().rev(), MAX_CHANGES).without(&["Mode"])))
                @if recent.len() == MAX_HISTORY { p { small { "Only the newest " (MAX_HISTORY) " are shown." } } }
                (view::staleness_note())
            }
            Err(problem) => { p.problem { (view::sentence(problem)) } }
        }
    }
}
