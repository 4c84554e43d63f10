//! Teams (§5): the list of all teams, and the page of one team with its units and keys.

use super::register;
use crate::office::keys::page as keys;
use crate::office::people::page as people;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::problem::FormProblem;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::office::shared::page::view::hidden;
use crate::office::shared::page::{link, operation};
use crate::office::shared::rule::delays::{REFUSED_SECONDS, SHOWN_SECONDS};
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::once::Done;
use crate::office::shared::rule::records::MAX_PAGES;
use crate::office::shared::rule::refused::{RefusalCode, Refused};
use crate::office::shared::rule::roles::Permission;
use crate::office::shops::rule::register as records;
use crate::office::shops::rule::register::Unregistered;
use crate::office::shops::rule::teams;
use crate::office::shops::rule::teams::{ExistingMember, TeamRow};
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{OperatorStore, Registered};
use maud::{Markup, html};

// ---- The list ------------------------------------------------------------------------------------

/// Shows the list of teams. KV cost: 2 lists, and up to 10 more that count the units: 1 list per 1,000
/// memberships.
pub(crate) async fn teams<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
) -> Result {
    let (rows, has_more) = teams::list(context.store, view::MAX_ROWS, MAX_PAGES).await?;
    let rows: Vec<_> = rows.iter().map(cells).collect();
    let content = html! {
        section {
            p { "A team's API key can act for each of the team's units." }
            (view::table(&["ID", "Units", "Created", "Created by"], &rows, "There are no teams yet."))
            @if has_more {
                p { "Not all teams and units are shown: at most the first " (view::MAX_ROWS) " teams by ID, and the "
                    "first 10,000 of their units. " a href="/" { "Find" } " opens the others by their IDs." }
            }
            (view::staleness_note())
        }
        section { h2 { "Create a team" } (add_form(context, ["", ""], &[], &FormProblem::default())) }
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
    context: &PageContext<'_, S, C, E>,
    [team, unit]: [&str; 2],
    missing: &[Unregistered],
    problem: &FormProblem,
) -> Markup {
    let field = |name, label, value| view::Field {
        name,
        label,
        value,
        required: true,
        problem: problem.of(name),
        ..view::Field::default()
    };
    html! {
        (context.form("/teams", &html! {
            div.row {
                (field("team", "Team ID", team).render())
                (field("unit", "ID of the first unit", unit).render())
            }
            (register::question(missing, ""))
            @if missing.is_empty() { button { "Create team" } }
        }))
    }
}

/// Creates a team, or adds a unit to one, and shows its page. KV cost: 2 reads, 1 list and 4 writes. A new team
/// costs 2 more lists, and so does a new unit.
pub(crate) async fn add_team<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
) -> Result {
    let levels = [
        register::meant(form, KeyLevel::Team(form.text("team").to_owned())),
        register::meant(form, KeyLevel::Unit(form.text("unit").to_owned())),
    ];
    let [id, unit] = levels.each_ref().map(KeyLevel::id);
    let again = |missing: &[Unregistered], why: Refused| {
        let problem = FormProblem::from(why);
        let form = add_form(context, [id, unit], missing, &problem);
        let content = problem.above(&html! { section { h2 { "Create a team" } (form) } });
        Ok(Page { status: 422, ..Page::new("The team was not created", content) })
    };
    if context.was_done().await?.is_some() {
        return add(context, id, unit).await;
    }
    let mut missing = match records::look_up(context.store, &levels).await {
        Err(OperatorError::Invalid(why)) => return again(&[], why),
        missing => missing?,
    };
    let is_new = missing.iter().any(|unknown| matches!(unknown.level, KeyLevel::Team(_)));
    if !is_new && !teams::get(context.store, id).await?.units.iter().any(|own| own == unit) {
        let problem = format!("the team `{id}` already exists: add units on its page");
        return again(&[], Refused::at("team", RefusalCode::NotAllowed, problem));
    }
    missing.retain(|unknown| {
        let is_asked = unknown.suggestion.is_some() || !matches!(unknown.level, KeyLevel::Team(_));
        is_asked && !register::is_new(form, &unknown.level)
    });
    match register::problem(&missing) {
        Some(why) => again(&missing, why),
        None => add(context, id, unit).await,
    }
}

// ---- One team ------------------------------------------------------------------------------------

/// Shows the page of a team. KV cost: 1 read, and 1 list per 1,000 units of the team. For operators and
/// managers, 1 more read, and 1 list per 1,000 of all keys. If the team does not exist, 2 more lists.
pub(crate) async fn team<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
) -> Result {
    page(context, id, FormResult::default()).await
}

/// What the page shows after a form was sent: a notice, and changes that KV's lists may not contain yet.
#[derive(Default)]
struct FormResult<'a> {
    status: Option<u16>,
    notice: Markup,
    added: Option<&'a str>,
    removed: Option<&'a str>,
    unit: &'a str,
    /// Contains the unit that the person entered, if that unit does not exist.
    missing: &'a [Unregistered],
    problem: FormProblem,
}

async fn page<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    after: FormResult<'_>,
) -> Result {
    let level = KeyLevel::Team(id.to_owned());
    let levels = if after.added.is_some() { &[] } else { std::slice::from_ref(&level) };
    let missing = register::look_up(context, levels).await?;
    let mut units = teams::get(context.store, id).await?.units;
    units.retain(|unit| Some(&**unit) != after.removed && Some(&**unit) != after.added);
    units.splice(0..0, after.added.map(str::to_owned));
    let (operates, manages) = (context.may(Permission::Operate), context.manages(&level));
    let row = |unit: &String| member(id, unit, operates);
    let rows: Vec<_> = units.iter().take(view::MAX_ROWS).map(row).collect();
    let headings: &[&str] = if operates { &["Unit", "Change"] } else { &["Unit"] };
    let content = html! {
        (after.notice)
        (register::absence(&missing))
        section {
            h2 { "Units" }
            p {
                "Requests with this team's API key name one of these units in the header "
                code { "X-Service-Unit-Id" } ". Adding or removing units does not change keys."
            }
            (view::table(headings, &rows, "No units yet."))
            (view::more(units.len()))
            (view::staleness_note())
            @if operates { h3 { "Add a unit" } (member_form(context, id, &after)) }
        }
        @if manages {
            section {
                h2 { "People" }
                p {
                    a href=(link::path(&["teams", id, "people"])) { "People who may sign in" }
                    " for all units of this team."
                }
            }
            (keys::section(context, &level, &missing, &context.times_in(None)).await?)
        }
        (people::leave_section(context, &level))
    };
    Ok(Page { status: after.status.unwrap_or(200), ..Page::new(format!("Team {id}"), content) })
}

/// Renders a unit's row in the list of a team's units. For operators, it has a button that removes the unit.
fn member(team: &str, unit: &str, operates: bool) -> Vec<Markup> {
    let removal = || {
        view::form(
            &link::path(&["teams", team, "remove"]),
            &html! {
                (hidden("unit", unit))
                button.quiet aria-label={ "Remove " (unit) } { "Remove" }
            },
        )
    };
    let unit = html! { a href=(link::path(&["units", unit])) { (unit) } };
    std::iter::once(unit).chain(operates.then(removal)).collect()
}

fn member_form<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    team: &str,
    after: &FormResult<'_>,
) -> Markup {
    let field = view::Field {
        name: "unit",
        label: "Unit ID",
        value: after.unit,
        required: true,
        problem: after.problem.of("unit"),
        ..view::Field::default()
    };
    let content = html! {
        (field.render())
        (register::question(after.missing, ""))
        @if after.missing.is_empty() { button { "Add unit" } }
    };
    after.problem.above(&context.form(&link::path(&["teams", team, "add"]), &content))
}

/// Adds a unit to a team, and shows the team's page. KV cost: 2 reads, 3 writes, 1 list per 1,000 units of the team,
/// and 1 list and 1 read per 100 changes of the last hour. If the unit is new, 1 more write and 2 more lists.
pub(crate) async fn add_member<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    form: &Form,
) -> Result {
    let level = register::meant(form, KeyLevel::Unit(form.text("unit").to_owned()));
    let unit = level.id();
    if context.was_done().await?.is_some() {
        return add(context, id, unit).await;
    }
    let missing = match register::missing(context, std::slice::from_ref(&level), form).await {
        Err(Refusal::Operator(OperatorError::Invalid(why))) => {
            return refused(context, id, unit, &[], why).await;
        }
        missing => missing?,
    };
    match register::problem(&missing) {
        Some(why) => refused(context, id, unit, &missing, why).await,
        None => add(context, id, unit).await,
    }
}

async fn refused<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    unit: &str,
    missing: &[Unregistered],
    why: Refused,
) -> Result {
    let (status, problem) = (Some(422), why.into());
    let after = FormResult { status, unit, missing, problem, ..FormResult::default() };
    page(context, id, after).await
}

/// Adds a unit to a team, unless the team already has it.
async fn add<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    unit: &str,
) -> Result {
    if !context.has_operation() {
        return Err(not_whole());
    }
    let units = [unit.to_owned()];
    let added = teams::add(context.store, context.ledger, &context.author, id, &units).await;
    let Done { outcome, before } = match added {
        Err(OperatorError::Invalid(why)) => return refused(context, id, unit, &[], why).await,
        added => added?,
    };
    let words = match outcome.already.first() {
        Some(already) => in_it_already(already),
        None => html! {
            (unit) " was added: the team's keys can act for it. A key that was recently refused for this unit may \
             still be refused for up to " (SHOWN_SECONDS) " s."
        },
    };
    let notice = html! { (operation::before(before.as_ref())) (view::done(&words)) };
    let added = Some(unit).filter(|_| before.is_none()); // otherwise it may have been removed since
    page(context, id, FormResult { notice, added, ..FormResult::default() }).await
}

fn in_it_already(ExistingMember { unit, registered }: &ExistingMember) -> Markup {
    html! {
        (unit) " is already in the team. "
        @if let Some(Registered { created, by, .. }) = registered {
            (view::untrusted_text(by)) " added it on " (view::time(created)) ". "
        }
        "Nothing was changed."
    }
}

fn not_whole() -> Refusal {
    Refusal::invalid("some fields are missing. Reload the page and try again")
}

/// Asks for confirmation, then removes a unit from a team, and shows the team's page. KV cost: 1 read and 2 writes, and
/// 1 list and 1 read per 100 changes of the last hour.
pub(crate) async fn remove_member<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    form: &Form,
) -> Result {
    let unit = form.text("unit");
    KeyLevel::Team(id.to_owned()).check().map_err(Refusal::invalid)?;
    if !context.has_operation() {
        return Ok(confirm_removal(context, id, unit));
    }
    let units = [unit.to_owned()];
    let removed = teams::remove(context.store, context.ledger, &context.author, id, &units).await;
    let Done { before, .. } = match removed {
        Err(OperatorError::Invalid(why)) => {
            let (status, notice) = (Some(422), view::problem(&why.text));
            return page(context, id, FormResult { status, notice, ..FormResult::default() }).await;
        }
        removed => removed?,
    };
    let words = html! { (unit) " was removed. " (later()) };
    let notice = html! { (operation::before(before.as_ref())) (view::done(&words)) };
    let removed = Some(unit).filter(|_| before.is_none()); // otherwise it may have been added again since
    page(context, id, FormResult { notice, removed, ..FormResult::default() }).await
}

fn later() -> Markup {
    html! { "After about " (REFUSED_SECONDS) " s, the service refuses the team's keys for this unit everywhere." }
}

fn confirm_removal<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    team: &str,
    unit: &str,
) -> Page {
    let level = KeyLevel::Team(team.to_owned());
    let content = html! {
        section {
            (view::facts(&[
                ("Unit", register::owner(&KeyLevel::Unit(unit.to_owned()))),
                ("Team", register::owner(&level)),
            ]))
            p {
                "The team's keys will no longer be able to act for this unit. The unit's own keys and its "
                "transactions are kept."
            }
            (context.form(&link::path(&["teams", team, "remove"]), &html! {
                (hidden("unit", unit))
                button.alarm { "Remove " (unit) }
            }))
        }
        p { "Nothing was changed yet. Back to the " (register::owner(&level)) "." }
    };
    Page::new("Remove this unit?", content)
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
