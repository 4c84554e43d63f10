//! Notices beside the results of a search.

use super::found_by::EMAIL;
use crate::office::orders::page::orders;
use crate::office::orders::page::transaction::level;
use crate::office::orders::rows::order::Order;
use crate::office::shared::page::view;
use crate::office::shops::rule::register::Unregistered;
use maud::{Markup, html};

pub(super) fn suggestions(unknown: &[Unregistered], operates: bool) -> Markup {
    let near = unknown
        .iter()
        .filter_map(|unknown| Some(unknown.level.with_id(unknown.suggestion.as_deref()?)));
    html! { @for near in near { p { "Did you mean the " (level(&near, operates)) "?" } } }
}

/// Renders links that the person can share with colleagues. Each link lists the transactions of one unit and mode. Its
/// URL contains the ID of a transaction instead of the search term.
pub(super) fn shared(by: &str, orders: &[Order]) -> Markup {
    let parameter = if by == EMAIL { orders::BUYER } else { orders::REFERENCE };
    let mut shops: Vec<_> = orders.iter().filter(|order| order.erased.is_none()).collect();
    shops.sort_by_key(|order| (&order.scope.unit, order.scope.mode.name()));
    shops.dedup_by_key(|order| &order.scope);
    html! {
        @if !shops.is_empty() {
            p.soft {
                "Only you can open this page's address. To share the transactions with colleagues, \
                 open the list of one unit: "
                @for (index, order) in shops.iter().enumerate() {
                    @if index > 0 { ", " }
                    a href=(orders::address(&[(parameter, &order.id)])) {
                        (view::untrusted_text(&order.scope.unit)) " (" (order.scope.mode.name()) ")"
                    }
                }
                "."
            }
        }
    }
}
