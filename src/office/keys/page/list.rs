//! The keys of a unit or a team.

use crate::office::keys::operation::{CREATE, listed};
use crate::office::keys::rule as keys;
use crate::office::keys::rule::{KeyMetadata, KeyName, KeyRow};
use crate::office::orders::page::orders;
use crate::office::shared::operation::facts::Fact;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::fields::OperationForm;
use crate::office::shared::page::list_times::ListTimes;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::view;
use crate::office::shared::page::view::hidden;
use crate::office::shared::rule::records::MAX_PAGES;
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};

/// Renders the keys of a unit or a team, and the form that creates a key. KV cost: 1 read, and 1 list per 1,000 keys, at most 10.
pub(crate) async fn section<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    level: &KeyLevel,
    times: &ListTimes<'_, C>,
) -> Result<Markup> {
    let (mut rows, has_more) = keys::list(context.store, Some(level), MAX_PAGES).await?;
    let has_ends = rows.iter().any(|row| row.problem.is_some() || ends(row));
    rows.sort_by(|one, other| created(other).cmp(created(one)));
    let shown = rows.get(..view::MAX_ROWS).unwrap_or(&rows);
    let author =
        |note: &KeyMetadata| Fact::text(Some(context.author.name_of(&note.by, note.by_shop)));
    let ends: &[&str] = if has_ends { &[] } else { &["Expires", "Note"] };
    let listing = listed(shown, &author).without(&["Unit or team"]).without(ends);
    let changes = shown.iter().map(|row| changes(row, level)).collect();
    Ok(html! {
        section #keys {
            h2 { "API keys" }
            (times.table_with(&listing, "Change", changes))
            (view::more(rows.len()))
            (view::picked(has_more, "keys of all units and teams"))
            (view::staleness_note())
            h3 { "Create a key" }
            (create_form(context, level))
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

fn changes(row: &KeyRow, level: &KeyLevel) -> Markup {
    html! {
        (change_forms(&row.name, level))
        a href=(orders::address(&[("key", &row.name.id)])) aria-label={ "Transactions of the key " (row.name.id) } { "Transactions" }
    }
}

pub(super) fn create_form<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    level: &KeyLevel,
) -> Markup {
    let fixed = [level_fields(level)];
    context.operation_form(OperationForm { fixed: &fixed, ..OperationForm::new(&CREATE, "/keys") })
}

/// Returns the hidden field that names the owner of a key.
pub(super) fn level_fields(level: &KeyLevel) -> (&str, &str) {
    (level.kind(), level.id())
}

/// Renders the buttons that replace and revoke a key. The form has the name of the key's record, so that the record is
/// found without a list.
pub(crate) fn change_forms(name: &KeyName, level: &KeyLevel) -> Markup {
    let (kind, id) = level_fields(level);
    html! {
        @for (path, word) in [("/keys/replace", "Replace"), ("/keys/revoke", "Revoke")] {
            (view::form(path, &html! {
                (hidden("key", &name.name)) (hidden(kind, id))
                button.quiet aria-label={ (word) " the key " (name.id) } { (word) }
            }))
            " "
        }
    }
}
