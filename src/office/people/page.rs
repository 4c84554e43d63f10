//! The people who may sign in for a unit or a team.

use super::operation::{ADD, listing};
use super::rows::people::{PeopleList, Person};
use super::rule as people;
use crate::office::shared::operation::facts::Fact;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::fields::OperationForm;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::link;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::office::shared::page::view::hidden;
use crate::office::shops::page::register;
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};

/// Shows the people who may sign in for a unit. Ledger cost: 1 query. KV cost: 1 read.
pub(crate) async fn of_unit<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
    query: &Form,
) -> Result {
    page(context, &KeyLevel::Unit(unit.to_owned()), query).await
}

/// Shows the people who may sign in for a team. Ledger cost: 1 query.
pub(crate) async fn of_team<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    team: &str,
    query: &Form,
) -> Result {
    page(context, &KeyLevel::Team(team.to_owned()), query).await
}

/// Shows what a person of a shop left.
pub(crate) async fn left<S, C, E>(_: &PageContext<'_, S, C, E>) -> Result {
    Ok(Page::new("People", Markup::default()))
}

// ---- The page ------------------------------------------------------------------------------------

async fn page<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    place: &KeyLevel,
    query: &Form,
) -> Result {
    let number = query.text("page").parse().unwrap_or(1);
    let PeopleList { people, has_more } = people::list(context.ledger, place, number).await?;
    let times = context.times_of_place(place).await;
    let author =
        |person: &Person| Fact::text(Some(context.author.name_of(&person.by, person.by_shop)));
    let listing = listing(&people, &author);
    let changes = people.iter().map(|person| removal(place, person)).collect();
    let content = html! {
        p.lead { "People who may sign in to this dashboard for the " (register::owner(place)) "." }
        section {
            (times.table_with(&listing, "Change", changes))
            (pages(place, number.max(1), has_more))
            p.soft {
                "Managers see personal data, send e-mails again, erase people, and change keys, the profile and this "
                "list. Viewers see transactions, with personal data hidden, and usage."
            }
        }
        section { h2 { "Add a person" } (context.operation_form(OperationForm::new(&ADD, &path(place, "")))) }
        section { h2 { "Remove a person" } (remove_form(place)) }
    };
    Ok(Page::new("People", content))
}

fn pages(place: &KeyLevel, page: usize, has_more: bool) -> Markup {
    let link = |page: usize, words| {
        html! { li { a href=(link::with(&path(place, ""), &[("page", &page.to_string())])) { (words) } } }
    };
    html! {
        @if page > 1 || has_more {
            nav aria-label="More people" {
                ul {
                    @if page > 1 { (link(page - 1, "← Previous")) }
                    @if has_more { (link(page + 1, "Next →")) }
                }
            }
        }
    }
}

/// Renders a form that removes the person whose address is entered, also one on a later page of the list. Its field has
/// no ID: the field for the address in the form that adds a person has the same name, and so would have the same ID.
fn remove_form(place: &KeyLevel) -> Markup {
    let content = html! {
        label { span { "E-mail address of the person" } input name="address" required; }
        button.quiet { "Remove" }
    };
    view::form(&path(place, "remove"), &content)
}

/// Renders the button that removes a person.
fn removal(place: &KeyLevel, Person { address, .. }: &Person) -> Markup {
    let content = html! {
        (hidden("address", address))
        button.quiet aria-label={ "Remove " (address) } { "Remove" }
    };
    view::form(&path(place, "remove"), &content)
}

/// Returns the path of the page of people. If `last` is not empty, returns the path of a form, which ends with `last`.
fn path(place: &KeyLevel, last: &str) -> String {
    let people = [&link::page_of(place), "/people"].concat();
    if last.is_empty() { people } else { [&people, "/", last].concat() }
}

// ---- Leave ---------------------------------------------------------------------------------------

/// Renders the form with which a person of a shop leaves a unit or a team. Renders nothing for people who are not on
/// its list.
pub(crate) fn leave_section<S, C, E>(
    context: &PageContext<'_, S, C, E>,
    place: &KeyLevel,
) -> Markup {
    let is_listed = context.access.memberships.0.iter().any(|own| own.place == *place);
    html! {
        @if is_listed {
            section {
                h2 { "Your access" }
                (view::form(&path(place, "leave"), &html! {
                    button.quiet { "Leave this " (place.kind()) }
                }))
            }
        }
    }
}
