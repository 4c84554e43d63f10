//! Units: the register, and the page of one with its settings (§5).

use super::form::Form;
use super::frame::Page;
use super::view;
use super::{Desk, Result, keys, link, operation, profile, register, team};
use crate::auth::KeyLevel;
use crate::handle::{Clock, Entropy};
use crate::operator::OperatorError;
use crate::operator::delays::SHOWN_SECONDS;
use crate::operator::register::{self as records, Unknown};
use crate::operator::roles::Act;
use crate::operator::units::{self, UnitRow};
use crate::store::OperatorStore;
use maud::{Markup, html};

// ---- The register --------------------------------------------------------------------------------

/// Takes four lists, and a read for each hundred units.
pub(super) async fn units<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
) -> Result {
    let (rows, has_more) = units::list(desk.store, view::MAX_ROWS).await?;
    let rows: Vec<_> = rows.iter().map(cells).collect();
    let content = html! {
        section {
            (view::table(&["ID", "Name", "E-mails", "Added", "By"], &rows, "There are no units yet."))
            @if has_more {
                p { "These are the first " (view::MAX_ROWS) " by ID. " a href="/" { "Find" }
                    " opens any other by its ID." }
            }
            (view::made_just_now())
        }
        @if desk.may(Act::Operate) {
            section { h2 { "Add a unit" } (add_form(desk, "", &[], "")) }
        }
    };
    Ok(Page::new("Units", content))
}

fn cells(row: &UnitRow) -> Vec<Markup> {
    let registered = row.registered.as_ref();
    vec![
        html! { a href=(link::path(&["units", &row.unit])) { (row.unit) } },
        html! {
            @if let Some(profile) = &row.profile { bdi { (profile.name()) } }
            @if let Some(problem) = &row.problem {
                small.problem { "Unreadable profile: " (problem) }
            }
        },
        html! { (if row.profile.as_ref().is_some_and(|own| own.mail) { "on" } else { "off" }) },
        html! { @if let Some(registered) = registered { (view::time(&registered.created)) } },
        html! { @if let Some(registered) = registered { bdi { (registered.by) } } },
    ]
}

fn add_form<S, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    id: &str,
    missing: &[Unknown],
    problem: &str,
) -> Markup {
    let field = view::Field {
        name: "unit",
        label: "ID of the unit",
        value: id,
        hint: "What the shop's requests name it by. It cannot be changed later.",
        required: true,
        invalid: !problem.is_empty(),
    };
    html! {
        (desk.form("/units", &html! {
            (field.render())
            (register::question(missing))
            button { "Add the unit" }
        }))
    }
}

/// Adds a unit to the register, and shows it. Takes two reads and two writes; where it is new, two lists,
/// as its ID may be another's misspelt.
pub(super) async fn add_unit<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    form: &Form,
) -> Result {
    let id = form.text("unit");
    let again = |missing: &[Unknown], problem: &str| {
        let content = html! {
            (view::problem(problem))
            section { h2 { "Add a unit" } (add_form(desk, id, missing, problem)) }
        };
        Ok(Page { status: 422, ..Page::new("No unit was added", content) })
    };
    if desk.was_done().await?.is_some() {
        return add(desk, id).await;
    }
    let level = [KeyLevel::Unit(id.to_owned())];
    let missing = match records::look_up(desk.store, &level).await {
        Err(OperatorError::Invalid(problem)) => return again(&[], &problem),
        missing => missing?,
    };
    match missing.first() {
        None => {
            let words = html! { "The register has this unit already: nothing was changed." };
            added(desk, id, view::done(&words)).await
        }
        Some(Unknown { suggestion: Some(_), .. }) if !register::is_right(form) => {
            let problem = register::problem(&missing).unwrap_or_default();
            again(&missing, &problem)
        }
        Some(_) => add(desk, id).await,
    }
}

async fn add<S: OperatorStore, C: Clock, E: Entropy>(desk: &Desk<'_, S, C, E>, id: &str) -> Result {
    let done = records::add(desk.store, desk.ledger, &desk.author, &[id.to_owned()]).await?;
    let words =
        html! { "The register has the unit now. Lists may show it " (SHOWN_SECONDS) " s later." };
    added(desk, id, html! { (operation::before(done.before.as_ref())) (view::done(&words)) }).await
}

async fn added<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    id: &str,
    notice: Markup,
) -> Result {
    page(desk, id, After { notice, is_registered: true, ..After::default() }).await
}

// ---- One unit ------------------------------------------------------------------------------------

/// Takes two reads, and for operators a read and a list for each thousand keys and members of teams.
/// Where the register lacks the unit, also two lists.
pub(super) async fn unit<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    id: &str,
) -> Result {
    page(desk, id, After::default()).await
}

/// What a page begins with after a form, and what the form knows better than records that are read
/// soon after.
#[derive(Default)]
pub(super) struct After {
    pub notice: Markup,
    pub row: Option<UnitRow>,
    pub is_registered: bool,
}

pub(super) async fn page<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    id: &str,
    after: After,
) -> Result {
    let level = KeyLevel::Unit(id.to_owned());
    let levels = if after.is_registered { &[] } else { std::slice::from_ref(&level) };
    let missing = records::look_up(desk.store, levels).await?;
    let row = match after.row {
        Some(row) => row,
        None => units::get(desk.store, id).await?.unwrap_or_default(),
    };
    let row = UnitRow { unit: id.to_owned(), ..row };
    let operates = desk.may(Act::Operate);
    let content = html! {
        (after.notice)
        (absence(&missing))
        (settings(desk, &row))
        @if operates { (keys::section(desk, &level, &missing).await?) }
        (profile::section(desk, &row, &missing))
        @if operates { (team::of_unit(desk, id).await?) }
    };
    Ok(Page::new(format!("Unit {id}"), content))
}

/// Says that the register lacks a unit or a team.
pub(super) fn absence(missing: &[Unknown]) -> Markup {
    html! {
        @for Unknown { level, suggestion } in missing {
            (view::notice(&html! {
                "The register has no " (register::named(level)) "."
                @if let Some(suggestion) = suggestion {
                    " Did you mean " (keys::owner(&level.with_id(suggestion))) "?"
                }
            }))
        }
    }
}

fn settings<S, C, E>(desk: &Desk<'_, S, C, E>, row: &UnitRow) -> Markup {
    let id = &row.unit;
    let name = row.profile.as_ref().map(|profile| profile.name());
    let with_unit = |path: &str| [path, "?unit=", &link::encoded(id)].concat();
    html! {
        section {
            h2 { "Settings" }
            (view::facts(&[
                ("Unit ID", html! {
                    (view::copyable(id)) " "
                    small {
                        "With a key of a team it is the value of the header "
                        code { "X-Service-Unit-Id" } "."
                    }
                }),
                ("Name", html! {
                    @if let Some(name) = name { bdi { (name) } } @else { span.soft { "none" } }
                }),
            ]))
            ul.links {
                @if desk.may(Act::Account) {
                    li {
                        a href=(link::path(&["units", id, "usage"])) { "Usage and payments" }
                    }
                    li { a href=(link::path(&["units", id, "quantities"])) { "Quantities by offering" } }
                }
                li { a href=(with_unit("/orders")) { "Newest orders" } }
                @if desk.may(Act::Support) {
                    li { a href=(with_unit("/")) { "Find a transaction" } }
                }
                @if desk.may(Act::Operate) {
                    li { a href=(with_unit("/person")) { "Erase a person" } }
                }
            }
        }
    }
}
