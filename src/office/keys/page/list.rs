//! The keys of a unit or a team.

use super::make::make_form;
use super::parts::change_forms;
use crate::office::keys::rule as keys;
use crate::office::keys::rule::{KeyMetadata, KeyRow};
use crate::office::orders::page::{orders, transaction};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::list_times::ListTimes;
use crate::office::shared::page::problem::FormProblem;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::view;
use crate::office::shared::rule::records::MAX_PAGES;
use crate::office::shops::rule::register::Unregistered;
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use crate::pledges::time::TimeZones;
use maud::{Markup, html};

/// Renders the keys of a unit or a team, and the form that creates a key. `missing` contains the unit or team
/// if it does not exist. KV cost: 1 read, and 1 list per 1,000 keys, at most 10.
pub(crate) async fn section<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    level: &KeyLevel,
    missing: &[Unregistered],
    times: &ListTimes<'_, C>,
) -> Result<Markup> {
    let (mut rows, has_more) = keys::list(context.store, Some(level), MAX_PAGES).await?;
    let has_ends = rows.iter().any(|row| row.problem.is_some() || ends(row));
    rows.sort_by(|one, other| created(other).cmp(created(one)));
    let shown = rows
        .iter()
        .take(view::MAX_ROWS)
        .map(|row| cells(context, row, times, has_ends))
        .collect::<Vec<_>>();
    let (created, expires) = (times.heading("Created"), times.heading("Expires"));
    let mut headings = vec!["ID", "Mode", "Label", "Change", &created];
    headings.extend(has_ends.then_some(&*expires));
    Ok(html! {
        section {
            h2 { "API keys" }
            (view::table(&headings, &shown, "No API keys yet."))
            (view::more(rows.len()))
            (view::picked(has_more, "keys of all units and teams"))
            (view::staleness_note())
            h3 { "Create a key" }
            (make_form(context, level, &Form::default(), missing, &FormProblem::default()))
        }
    })
}

/// Returns whether the key expires or was replaced.
fn ends(row: &KeyRow) -> bool {
    row.note.as_ref().is_some_and(|note| note.ends.is_some() || note.successor.is_some())
}

fn created(row: &KeyRow) -> &str {
    row.note.as_ref().map_or("", |note| &note.created)
}

fn cells<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    row: &KeyRow,
    times: &ListTimes<'_, C>,
    has_ends: bool,
) -> Vec<Markup> {
    let Some(note) = &row.note else { return vec![] };
    let mut cells = vec![
        html! { code { (row.name.id) } },
        transaction::mode(note.mode.is_live()),
        html! { bdi { (note.label) } },
        html! {
            (change_forms(&row.name, &note.level))
            a href=(orders::address(&[("key", &row.name.id)])) aria-label={ "Transactions of the key " (row.name.id) } { "Transactions" }
        },
        html! {
            (times.cell(&note.created))
            div { small { "by " (context.author_of(&note.by, note.by_shop)) } }
        },
    ];
    cells.extend(has_ends.then(|| expiry(row, note, times)));
    cells
}

fn expiry(row: &KeyRow, note: &KeyMetadata, times: &ListTimes<'_, impl TimeZones>) -> Markup {
    html! {
        @if let Some(ends) = &note.ends { (times.cell(ends)) }
        @if let Some(successor) = &note.successor {
            " " small { "replaced by " code { (successor) } }
        }
        @if let Some(problem) = &row.problem { " " small.problem { (problem) } }
    }
}
