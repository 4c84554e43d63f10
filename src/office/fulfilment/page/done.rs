//! The list of what was recorded as done for a month.

use crate::office::fulfilment::operation::recorded;
use crate::office::fulfilment::rows::fulfilments::{Fulfilment, NewFulfilment};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::listing::{table, table_with};
use crate::office::shared::page::month::MonthSelection;
use crate::office::shared::page::{link, view};
use crate::office::shared::rule::roles::Permission;
use crate::pledges::service::{Clock, Entropy};
use maud::{Markup, html};
use std::collections::BTreeMap;

pub(super) fn list<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    selection: MonthSelection,
    fulfilments: &[Fulfilment],
    drafted: &BTreeMap<String, String>,
) -> Markup {
    let listing = recorded(fulfilments).without(&["Month", "Mode", "ID"]);
    if !context.may(Permission::Operate) {
        return table(&listing);
    }
    let change = |Fulfilment { id, done, .. }: &Fulfilment| {
        html! { (update_cell(context, selection, done, id, drafted.get(id))) (remove_button(selection, done, id)) }
    };
    table_with(&listing, "Change", fulfilments.iter().map(change).collect())
}

/// Renders a link to the buyers' update that was drafted from a fulfilment. If there is no such update,
/// renders the button that drafts one.
fn update_cell<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    MonthSelection { mode, month }: MonthSelection,
    done: &NewFulfilment,
    id: &str,
    update: Option<&String>,
) -> Markup {
    if let Some(update) = update {
        return html! { a href=(link::path(&["updates", update])) { "Update" } };
    }
    context.form(
        "/fulfilment/update",
        &html! {
            (view::hidden("fulfilment", id)) (view::hidden("mode", mode.name())) (view::hidden("month", &month.to_string()))
            button.quiet aria-label={ "Draft an update for buyers of " (done.quantity) " " (done.offering) } { "Draft update" }
        },
    )
}

/// Renders the button that removes a fulfilment, after a confirmation.
fn remove_button(
    MonthSelection { mode, month }: MonthSelection,
    done: &NewFulfilment,
    id: &str,
) -> Markup {
    view::form(
        "/fulfilment/remove",
        &html! {
            (view::hidden("fulfilment", id)) (view::hidden("mode", mode.name())) (view::hidden("month", &month.to_string()))
            button.quiet aria-label={ "Remove " (done.quantity) " " (done.offering) } { "Remove" }
        },
    )
}
