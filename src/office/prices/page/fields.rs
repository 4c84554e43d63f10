//! Parts of pages and forms that identify a price list.

use crate::office::shared::page::{link, view};
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

pub(super) fn back(of: PriceListKey<'_>, label: &str) -> Markup {
    html! { p { a href=(link::prices(of)) { (label) } } }
}

/// Renders hidden form fields: the mode and the unit of a price list, and `seen`, the version of the list
/// that the person has seen.
pub(super) fn identity(PriceListKey { mode, unit }: PriceListKey<'_>, seen: &str) -> Markup {
    html! {
        (view::hidden("mode", mode.name()))
        @if let Some(unit) = unit { (view::hidden("unit", unit)) }
        (view::hidden("seen", seen))
    }
}
