//! Teams (§5): the list of all teams, and the page of one team with its units and keys.

use super::register;
use crate::office::keys::page as keys;
use crate::office::people::page as people;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::fields::OperationForm;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::link;
use crate::office::shared::page::listing::{table, table_with};
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::office::shared::page::view::hidden;
use crate::office::shared::rule::records::MAX_PAGES;
use crate::office::shared::rule::roles::Permission;
use crate::office::shops::operation::teams as operation;
use crate::office::shops::operation::teams::{ADD, REMOVE};
use crate::office::shops::rule::teams;
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};

// ---- The list ------------------------------------------------------------------------------------

/// Shows the list of teams. KV cost: 2 lists, and up to 10 more that count the units: 1 list per 1,000
/// memberships.
pub(crate) async fn teams<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
) -> Result {
    let (rows, has_more) = teams::list(context.store, view::MAX_ROWS, MAX_PAGES).await?;
    let content = html! {
        section {
            p { "A team's API key can act for each of the team's units." }
            (table(&operation::listing(&rows)))
            @if has_more {
                p { "Not all teams and units are shown: at most the first " (view::MAX_ROWS) " teams by ID, and the "
                    "first 10,000 of their units. " a href="/" { "Find" } " opens the others by their IDs." }
            }
            (view::staleness_note())
        }
        section {
            h2 { "Create a team" }
            (context.operation_form(OperationForm {
                fixed: &[("new", "yes")],
                texts: &[("unit", ("ID of the first unit", ""))],
                button: "Create team",
                ..OperationForm::new(&ADD, "/teams")
            }))
        }
    };
    Ok(Page::new("Teams", content))
}

/// Shows a new team. If the form that creates one was refused, shows the list of teams, with the form.
pub(crate) async fn created<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
) -> Result {
    match context.is_done() {
        true => page(context, form.text("team"), form.text("unit")).await,
        false => teams(context).await,
    }
}

// ---- One team ------------------------------------------------------------------------------------

/// Shows the page of a team. KV cost: 1 read, and 1 list per 1,000 units of the team. For operators and
/// managers, 1 more read, and 1 list per 1,000 of all keys. If the team does not exist, 2 more lists.
pub(crate) async fn team<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
) -> Result {
    page(context, id, "").await
}

/// Shows the page of a team after a unit was added or removed.
pub(crate) async fn changed<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    form: &Form,
) -> Result {
    page(context, id, form.text("unit")).await
}

/// Shows the page of a team. `changed` is the unit that a form has just added or removed, because a list of Workers KV may
/// lack this change.
async fn page<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    changed: &str,
) -> Result {
    let level = KeyLevel::Team(id.to_owned());
    let (is_added, is_removed) = (context.has_made(&ADD), context.has_made(&REMOVE));
    let levels = if is_added { &[] } else { std::slice::from_ref(&level) };
    let missing = register::look_up(context, levels).await?;
    let mut units = teams::get(context.store, id).await?.units;
    units.retain(|unit| unit != changed || !(is_added || is_removed));
    units.splice(0..0, is_added.then(|| changed.to_owned()));
    let (operates, manages) = (context.may(Permission::Operate), context.manages(&level));
    let shown = units.get(..view::MAX_ROWS).unwrap_or(&units);
    let content = html! {
        (register::absence(&missing))
        section {
            h2 { "Units" }
            p {
                "Requests with this team's API key name one of these units in the header "
                code { "X-Service-Unit-Id" } ". Adding or removing units does not change keys."
            }
            (members(id, shown, operates))
            (view::more(units.len()))
            (view::staleness_note())
            @if operates {
                h3 { "Add a unit" }
                (context.operation_form(OperationForm {
                    leave_out: &["team", "new"],
                    ..OperationForm::new(&ADD, &link::path(&["teams", id, "add"]))
                }))
            }
        }
        @if manages {
            section {
                h2 { "People" }
                p {
                    a href=(link::path(&["teams", id, "people"])) { "People who may sign in" }
                    " for all units of this team."
                }
            }
            (keys::section(context, &level, &context.times_in(None)).await?)
        }
        (people::leave_section(context, &level))
    };
    Ok(Page::new(format!("Team {id}"), content))
}

/// Renders the units of a team. For operators, each has a button that removes it.
fn members(team: &str, units: &[String], operates: bool) -> Markup {
    let shown = operation::members(units);
    let removal = |unit: &String| {
        let content = html! {
            (hidden("unit", unit))
            button.quiet aria-label={ "Remove " (unit) } { "Remove" }
        };
        view::form(&link::path(&["teams", team, "remove"]), &content)
    };
    match operates {
        true => table_with(&shown, "Change", units.iter().map(removal).collect()),
        false => table(&shown),
    }
}

// ---- The teams of a unit -------------------------------------------------------------------------

/// Renders the teams that a unit belongs to. KV cost: 1 list per 1,000 memberships of units in teams, at most
/// 10 lists.
pub(crate) async fn of_unit<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
) -> Result<Markup> {
    let (teams, has_more) = teams::of_unit(context.store, unit).await?;
    Ok(html! {
        section {
            h2 { "Teams" }
            @if teams.is_empty() { p.soft { "This unit is not in a team." } } @else {
                p { "API keys of these teams can act for this unit." }
                ul.links.names {
                    @for team in teams.iter().take(view::MAX_ROWS) {
                        li { a href=(link::path(&["teams", team])) { (team) } }
                    }
                }
                (view::more(teams.len()))
            }
            (view::picked(has_more, "units of all teams"))
        }
    })
}
