//! The list of what was recorded as done for a month.

use super::shops;
use crate::office::fulfilment::rows::fulfilments::{Fulfilment, NewFulfilment};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::month::MonthSelection;
use crate::office::shared::page::{link, view};
use crate::office::shared::rule::roles::Permission;
use crate::pledges::service::{Clock, Entropy};
use maud::{Markup, html};
use std::collections::BTreeMap;

pub(super) fn list<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    selection: MonthSelection,
    recorded: &[Fulfilment],
    drafted: &BTreeMap<String, String>,
) -> Markup {
    let row = |fulfilment: &Fulfilment| {
        let Fulfilment { id, done, by, at, .. } = fulfilment;
        vec![
            html! { a href=(shops::address(selection, &done.offering)) title="For whom" { (view::untrusted_text(&done.offering)) } },
            html! { (view::grouped(&done.quantity)) },
            view::day(&[&done.done_on, "T00:00:00Z"].concat()),
            details(done),
            html! { (view::untrusted_text(by)) " on " (view::time(at)) },
            html! { @if context.may(Permission::Operate) { (update_cell(context, selection, done, id, drafted.get(id))) } },
            html! { @if context.may(Permission::Operate) { (remove_button(selection, done, id)) } },
        ]
    };
    let rows: Vec<_> = recorded.iter().map(row).collect();
    let headings =
        ["Offering", "Quantity", "Done on", "Details", "Recorded by", "Update", "Remove"];
    view::table_of(
        &headings,
        &["Quantity"],
        &rows,
        "Nothing is recorded as done for this month yet.",
    )
}

fn details(NewFulfilment { partner, place, report, .. }: &NewFulfilment) -> Markup {
    html! {
        @for text in [partner, place].into_iter().flatten() { div { (view::untrusted_text(text)) } }
        @if let Some(report) = report {
            div { a href=(report) rel="noreferrer" { "Report" } }
        }
    }
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
        return html! { a href=(link::path(&["updates", update])) { "Open" } };
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
