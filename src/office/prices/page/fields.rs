//! Parts of pages that identify a price list.

use crate::office::shared::page::link;
use crate::pledges::store::PriceListKey;
use maud::{Markup, html};

/// Renders the name of a price list, such as `live mode` or `live mode for the unit shop`.
pub(super) fn named(PriceListKey { mode, unit }: PriceListKey<'_>) -> Markup {
    html! {
        (mode.name()) " mode"
        @if let Some(unit) = unit {
            " for the unit " a href=(link::path(&["units", unit])) { bdi { (unit) } }
        }
    }
}
