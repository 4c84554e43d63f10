//! Units (§5): the list of all units, and the page of one unit with its settings.

use super::{profile, register, team};
use crate::office::credit_requests::page as credit_requests;
use crate::office::keys::page as keys;
use crate::office::people::page as people;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::fields::OperationForm;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::link;
use crate::office::shared::page::listing::table;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::office::shared::rule::roles::Permission;
use crate::office::shops::operation::units::{ADD, ONLY_IN_COMMANDS, listing};
use crate::office::shops::rule::units;
use crate::office::shops::rule::units::UnitRow;
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};

// ---- The list ------------------------------------------------------------------------------------

/// Shows the list of units. KV cost: 4 lists, 1 read per 100 units.
pub(crate) async fn units<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
) -> Result {
    let (rows, has_more) = units::list(context.store, view::MAX_ROWS).await?;
    let content = html! {
        section {
            (table(&listing(&rows).without(&ONLY_IN_COMMANDS)))
            @if has_more {
                p { "Only the first " (view::MAX_ROWS) " by ID are shown. " a href="/" { "Find" }
                    " opens the others by their IDs." }
            }
            (view::staleness_note())
        }
        @if context.may(Permission::Operate) {
            section { h2 { "Create a unit" } (context.operation_form(OperationForm::new(&ADD, "/units"))) }
        }
    };
    Ok(Page::new("Units", content))
}

/// Shows a new unit. If the form that creates one was refused, shows the list of units, with the form.
pub(crate) async fn created<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
) -> Result {
    match context.is_done() {
        true => unit(context, form.text("unit")).await,
        false => units(context).await,
    }
}

// ---- One unit ------------------------------------------------------------------------------------

/// Shows the page of a unit. KV cost: 2 reads. For operators and managers, also 1 read, 1 list per 1,000
/// keys, and 1 list per 1,000 members of teams. If the unit does not exist, 2 more lists.
pub(crate) async fn unit<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
) -> Result {
    let level = KeyLevel::Unit(id.to_owned());
    // A form that was carried out has registered the unit, which KV may not show yet.
    let levels = if context.is_done() { &[] } else { std::slice::from_ref(&level) };
    let missing = register::look_up(context, levels).await?;
    let row = units::newest(context.store, context.ledger, id).await?.unwrap_or_default();
    let row = UnitRow { unit: id.to_owned(), ..row };
    let (operates, manages) = (context.may(Permission::Operate), context.manages(&level));
    let times = context.times_in(row.profile.as_ref());
    let content = html! {
        (register::absence(&missing))
        (settings(context, &row))
        @if manages { (keys::section(context, &level, &times).await?) }
        (profile::section(context, &row))
        @if operates {
            (credit_requests::limit_section(context, id).await?)
            (team::of_unit(context, id).await?)
        }
        (people::leave_section(context, &level))
    };
    Ok(Page::new(format!("Unit {id}"), content))
}

fn settings<S, C, E>(context: &PageContext<'_, S, C, E>, row: &UnitRow) -> Markup {
    let id = &row.unit;
    let name = row.profile.as_ref().map(|profile| profile.name());
    let (is_of_shop, manages) =
        (context.is_of_shop(), context.manages(&KeyLevel::Unit(id.clone())));
    let with_unit = |path: &str| [path, "?unit=", &link::encoded(id)].concat();
    html! {
        section {
            h2 { "Settings" }
            (view::facts(&[
                ("Unit ID", html! {
                    (view::copyable(id)) " "
                    small {
                        "Send this in the header " code { "X-Service-Unit-Id" }
                        " when you use the key of a team."
                    }
                }),
                ("Name", html! {
                    @if let Some(name) = name { bdi { (name) } } @else { span.soft { "none" } }
                }),
            ]))
            ul.links {
                @if context.may(Permission::Account) || is_of_shop {
                    li { a href=(link::path(&["units", id, "payments"])) { "Payments" } }
                }
                @if context.may(Permission::Account) || is_of_shop {
                    li { a href=(link::path(&["units", id, "impact"])) { "Impact this year" } }
                }
                li { a href=(with_unit("/orders")) { "Newest transactions" } }
                li { a href=(with_unit("/find")) { "Find a transaction" } }
                @if context.may(Permission::Operate) {
                    li { a href=(with_unit("/prices")) { "Price list" } }
                } @else if manages {
                    li { a href=(link::path(&["units", id, "prices"])) { "Price list" } }
                }
                @if manages {
                    li { a href=(with_unit("/person")) { "Erase a person" } }
                    li { a href=(link::path(&["units", id, "people"])) { "People who may sign in" } }
                    li { a href=(link::path(&["units", id, "connections"])) { "Shop systems" } }
                }
            }
        }
    }
}
