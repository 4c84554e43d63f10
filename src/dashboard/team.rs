//! Teams: the register, and the page of one with its units and its keys (§5).

use super::form::Form;
use super::frame::Page;
use super::view::{self, hidden};
use super::{Desk, Refusal, Result, keys, link, operation, register, unit};
use crate::auth::KeyLevel;
use crate::handle::{Clock, Entropy};
use crate::operator::delays::{REFUSED_SECONDS, SHOWN_SECONDS};
use crate::operator::register::{self as records, Unknown};
use crate::operator::teams::{self, Already, TeamRow};
use crate::operator::{Done, MAX_PAGES, OperatorError};
use crate::store::{OperatorStore, Registered};
use maud::{Markup, html};

// ---- The register --------------------------------------------------------------------------------

/// Takes two lists of teams, and one for each thousand units of theirs, at most ten.
pub(super) async fn teams<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
) -> Result {
    let (rows, has_more) = teams::list(desk.store, view::MAX_ROWS, MAX_PAGES).await?;
    let rows: Vec<_> = rows.iter().map(cells).collect();
    let content = html! {
        section {
            p { "A key of a team may act as each of its units." }
            (view::table(&["ID", "Units", "Made", "By"], &rows, "There are no teams yet."))
            @if has_more {
                p { "Not all are shown: at most the first " (view::MAX_ROWS) " by ID, and of their units "
                    "the first 10,000. " a href="/" { "Find" } " opens any other by its ID." }
            }
            (view::made_just_now())
        }
        section { h2 { "Make a team" } (add_form(desk, ["", ""], &[], "")) }
    };
    Ok(Page::new("Teams", content))
}

fn cells(row: &TeamRow) -> Vec<Markup> {
    let registered = row.registered.as_ref();
    vec![
        html! { a href=(link::path(&["teams", &row.team])) { (row.team) } },
        html! { (row.units) },
        html! { @if let Some(registered) = registered { (view::time(&registered.created)) } },
        html! { @if let Some(registered) = registered { bdi { (registered.by) } } },
    ]
}

fn add_form<S, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    [team, unit]: [&str; 2],
    missing: &[Unknown],
    problem: &str,
) -> Markup {
    let field = |name, label, value| view::Field {
        name,
        label,
        value,
        required: true,
        invalid: problem.contains(&format!("`{value}`")),
        ..view::Field::default()
    };
    html! {
        (desk.form("/teams", &html! {
            div.row {
                (field("team", "ID of the team", team).render())
                (field("unit", "ID of its first unit", unit).render())
            }
            (register::question(missing))
            button { "Make the team" }
        }))
    }
}

/// Makes a team, and shows it. Takes two reads, a list, and four writes; where one of the two is new, two
/// lists more for each.
pub(super) async fn add_team<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    form: &Form,
) -> Result {
    let (id, unit) = (form.text("team"), form.text("unit"));
    let again = |missing: &[Unknown], problem: &str| {
        let content = html! {
            (view::problem(problem))
            section { h2 { "Make a team" } (add_form(desk, [id, unit], missing, problem)) }
        };
        Ok(Page { status: 422, ..Page::new("No team was made", content) })
    };
    if desk.was_done().await?.is_some() {
        return add(desk, id, unit).await;
    }
    let levels = [KeyLevel::Team(id.to_owned()), KeyLevel::Unit(unit.to_owned())];
    let mut missing = match records::look_up(desk.store, &levels).await {
        Err(OperatorError::Invalid(problem)) => return again(&[], &problem),
        missing => missing?,
    };
    let is_new = missing.iter().any(|unknown| matches!(unknown.level, KeyLevel::Team(_)));
    if !is_new && !teams::get(desk.store, id).await?.units.iter().any(|own| own == unit) {
        return again(&[], &format!("there is a team {id} already: add units on its own page"));
    }
    missing.retain(|unknown| {
        unknown.suggestion.is_some() || !matches!(unknown.level, KeyLevel::Team(_))
    });
    match register::problem(&missing) {
        Some(problem) if !register::is_right(form) => again(&missing, &problem),
        _ => add(desk, id, unit).await,
    }
}

// ---- One team ------------------------------------------------------------------------------------

/// Takes two reads, and a list for each thousand of its units and of all keys. Where the register lacks
/// the team, also two lists.
pub(super) async fn team<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    id: &str,
) -> Result {
    page(desk, id, After::default()).await
}

/// What the page begins with after a form, and what the form knows better than lists of that moment.
#[derive(Default)]
struct After<'a> {
    status: Option<u16>,
    notice: Markup,
    added: Option<&'a str>,
    removed: Option<&'a str>,
    /// What was filled in, and what the register lacks of it.
    unit: &'a str,
    missing: &'a [Unknown],
}

async fn page<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    id: &str,
    after: After<'_>,
) -> Result {
    let level = KeyLevel::Team(id.to_owned());
    let levels = if after.added.is_some() { &[] } else { std::slice::from_ref(&level) };
    let missing = records::look_up(desk.store, levels).await?;
    let mut units = teams::get(desk.store, id).await?.units;
    units.retain(|unit| Some(&**unit) != after.removed && Some(&**unit) != after.added);
    units.splice(0..0, after.added.map(str::to_owned));
    let rows: Vec<_> = units.iter().take(view::MAX_ROWS).map(|unit| member(id, unit)).collect();
    let content = html! {
        (after.notice)
        (unit::absence(&missing))
        section {
            h2 { "Units" }
            p {
                "A request with a key of this team acts as one of these units: it names it in the header "
                code { "X-Service-Unit-Id" } ". Keys stay as they are when units come and go."
            }
            (view::table(&["Unit", "Change"], &rows, "It has no units yet."))
            (view::more(units.len()))
            (view::made_just_now())
            h3 { "Add a unit" }
            (member_form(desk, id, &after))
        }
        (keys::section(desk, &level, &missing).await?)
    };
    Ok(Page { status: after.status.unwrap_or(200), ..Page::new(format!("Team {id}"), content) })
}

fn member(team: &str, unit: &str) -> Vec<Markup> {
    vec![
        html! { a href=(link::path(&["units", unit])) { (unit) } },
        html! {
            (view::form(&link::path(&["teams", team, "remove"]), &html! {
                (hidden("unit", unit))
                button.quiet aria-label={ "Remove " (unit) } { "Remove" }
            }))
        },
    ]
}

fn member_form<S, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    team: &str,
    after: &After<'_>,
) -> Markup {
    let field = view::Field {
        name: "unit",
        label: "ID of the unit",
        value: after.unit,
        required: true,
        invalid: !after.unit.is_empty(),
        ..view::Field::default()
    };
    html! {
        (desk.form(&link::path(&["teams", team, "add"]), &html! {
            (field.render())
            (register::question(after.missing))
            button { "Add the unit" }
        }))
    }
}

/// Adds a unit to a team, and shows it. Takes two reads and three writes, a list for each thousand of its
/// units, and a list and a read for each hundred changes of the last hour; where the unit is new, one
/// write and two lists more.
pub(super) async fn add_member<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    id: &str,
    form: &Form,
) -> Result {
    let unit = form.text("unit");
    if desk.was_done().await?.is_some() {
        return add(desk, id, unit).await;
    }
    let missing = match register::missing(desk, &[KeyLevel::Unit(unit.to_owned())], form).await {
        Err(Refusal::Operator(OperatorError::Invalid(problem))) => {
            return refused(desk, id, unit, &[], &problem).await;
        }
        missing => missing?,
    };
    match register::problem(&missing) {
        Some(problem) => refused(desk, id, unit, &missing, &problem).await,
        None => add(desk, id, unit).await,
    }
}

async fn refused<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    id: &str,
    unit: &str,
    missing: &[Unknown],
    problem: &str,
) -> Result {
    let notice = view::problem(problem);
    let after = After { status: Some(422), notice, unit, missing, ..After::default() };
    page(desk, id, after).await
}

/// Adds a unit, unless the team has it already.
async fn add<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    id: &str,
    unit: &str,
) -> Result {
    if !desk.has_operation() {
        return Err(not_whole());
    }
    let units = [unit.to_owned()];
    let added = teams::add(desk.store, desk.ledger, &desk.author, id, &units).await;
    let Done { outcome, before } = match added {
        Err(OperatorError::Invalid(problem)) => {
            return refused(desk, id, unit, &[], &problem).await;
        }
        added => added?,
    };
    let words = match outcome.already.first() {
        Some(already) => in_it_already(already),
        None => html! {
            "The team's keys may act as " (unit) ". It may take " (SHOWN_SECONDS) " s where one has tried "
            "that before."
        },
    };
    let notice = html! { (operation::before(before.as_ref())) (view::done(&words)) };
    let added = Some(unit).filter(|_| before.is_none()); // else it may be removed since
    page(desk, id, After { notice, added, ..After::default() }).await
}

fn in_it_already(Already { unit, registered }: &Already) -> Markup {
    html! {
        (unit) " is in the team already: "
        @if let Some(Registered { created, by }) = registered {
            (view::told(by)) " added it " (view::time(created)) ". "
        }
        "Nothing was changed."
    }
}

fn not_whole() -> Refusal {
    Refusal::invalid("this form is not whole: open its page again")
}

/// Asks first; then removes a unit from a team, with a list and a read for each hundred changes of the last
/// hour, one read and two writes, and shows it.
pub(super) async fn remove_member<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    id: &str,
    form: &Form,
) -> Result {
    let unit = form.text("unit");
    KeyLevel::Team(id.to_owned()).check().map_err(Refusal::invalid)?;
    if !desk.has_operation() {
        return Ok(confirm_removal(desk, id, unit));
    }
    let units = [unit.to_owned()];
    let removed = teams::remove(desk.store, desk.ledger, &desk.author, id, &units).await;
    let Done { before, .. } = match removed {
        Err(OperatorError::Invalid(problem)) => return refused(desk, id, "", &[], &problem).await,
        removed => removed?,
    };
    let words = html! { (unit) " is removed. " (later()) };
    let notice = html! { (operation::before(before.as_ref())) (view::done(&words)) };
    let removed = Some(unit).filter(|_| before.is_none()); // else it may be in it again
    page(desk, id, After { notice, removed, ..After::default() }).await
}

fn later() -> Markup {
    html! { "After about " (REFUSED_SECONDS) " s the service refuses the team's keys for it everywhere." }
}

fn confirm_removal<S, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    team: &str,
    unit: &str,
) -> Page {
    let level = KeyLevel::Team(team.to_owned());
    let content = html! {
        section {
            (view::facts(&[
                ("Unit", keys::owner(&KeyLevel::Unit(unit.to_owned()))),
                ("Team", keys::owner(&level)),
            ]))
            p {
                "The team's keys may then no longer act as this unit. Its own keys and its transactions "
                "stay."
            }
            (desk.form(&link::path(&["teams", team, "remove"]), &html! {
                (hidden("unit", unit))
                button.alarm { "Remove " (unit) }
            }))
        }
        p { "Nothing was changed yet: back to the " (keys::owner(&level)) "." }
    };
    Page::new("Remove a unit?", content)
}

// ---- The teams of a unit -------------------------------------------------------------------------

/// The teams that a unit is in. Takes a list for each thousand members of teams, at most ten.
pub(super) async fn of_unit<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    unit: &str,
) -> Result<Markup> {
    let (teams, has_more) = teams::of_unit(desk.store, unit).await?;
    Ok(html! {
        section {
            h2 { "Teams" }
            @if teams.is_empty() { p.soft { "It is in no team." } } @else {
                p { "Keys of these teams may act as this unit." }
                ul.links {
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
