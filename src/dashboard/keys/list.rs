//! The keys of a unit or a team.

use super::make::make_form;
use super::parts::change_forms;
use crate::auth::KeyLevel;
use crate::dashboard::form::Form;
use crate::dashboard::{PageContext, Result, orders, transaction, view};
use crate::operator::MAX_PAGES;
use crate::operator::keys::{self, KeyRow};
use crate::operator::register::Unregistered;
use crate::service::{Clock, Entropy};
use crate::store::OperatorStore;
use maud::{Markup, html};

/// The keys of a unit or a team, with the form to create a key. `missing` contains the unit or team if it does not exist. KV
/// cost: 1 read, 1 list per 1,000 keys, at most 10.
pub(in crate::dashboard) async fn section<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    level: &KeyLevel,
    missing: &[Unregistered],
) -> Result<Markup> {
    let (mut rows, has_more) = keys::list(context.store, Some(level), MAX_PAGES).await?;
    rows.sort_by(|one, other| created(other).cmp(created(one)));
    let shown = rows.iter().take(view::MAX_ROWS).map(|row| cells(context, row)).collect::<Vec<_>>();
    let headings = ["ID", "Mode", "Label", "Change", "Created", "Created by", "Expires"];
    Ok(html! {
        section {
            h2 { "API keys" }
            (view::table(&headings, &shown, "No API keys yet."))
            (view::more(rows.len()))
            (view::picked(has_more, "keys of all units and teams"))
            (view::staleness_note())
            h3 { "Create a key" }
            (make_form(context, level, &Form::default(), missing, ""))
        }
    })
}

fn created(row: &KeyRow) -> &str {
    row.note.as_ref().map_or("", |note| &note.created)
}

fn cells<S, C, E>(context: &PageContext<'_, S, C, E>, row: &KeyRow) -> Vec<Markup> {
    let Some(note) = &row.note else { return vec![] };
    vec![
        html! { code { (row.name.id) } },
        transaction::mode(note.mode.is_live()),
        html! { bdi { (note.label) } },
        html! {
            (change_forms(&row.name, &note.level))
            a href=(orders::address(&[("key", &row.name.id)])) aria-label={ "Transactions of the key " (row.name.id) } { "Transactions" }
        },
        view::time(&note.created),
        html! { bdi { (context.author_name(&note.by)) } },
        html! {
            @if let Some(ends) = &note.ends { (view::time(ends)) }
            @if let Some(successor) = &note.successor {
                " " small { "replaced by " code { (successor) } }
            }
            @if let Some(problem) = &row.problem { " " small.problem { (problem) } }
        },
    ]
}
