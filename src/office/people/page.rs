//! The people who may sign in for a unit or a team: the list, and the forms that add and remove a person, or let a
//! person leave.

use super::rows::changes::Removable;
use super::rows::people::{PeopleList, Person};
use super::rule as people;
use super::rule::normal_address;
use crate::office::people::rows::people::PersonRole;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::list_times::ListTimes;
use crate::office::shared::page::problem::FormProblem;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::office::shared::page::view::hidden;
use crate::office::shared::page::{link, operation};
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::once::Done;
use crate::office::shared::rule::refused::Refused;
use crate::office::shared::rule::roles::Permission;
use crate::office::shops::page::register;
use crate::office::shops::rule::register::Unregistered;
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
    page(context, &KeyLevel::Unit(unit.to_owned()), FormResult::of_page(query)).await
}

/// Shows the people who may sign in for a team. Ledger cost: 1 query.
pub(crate) async fn of_team<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    team: &str,
    query: &Form,
) -> Result {
    page(context, &KeyLevel::Team(team.to_owned()), FormResult::of_page(query)).await
}

/// Adds a person to a unit, then shows the unit's people. Cost: that of [`people::add`], plus 5 ledger queries.
pub(crate) async fn add_to_unit<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
    form: &Form,
) -> Result {
    add(context, &KeyLevel::Unit(unit.to_owned()), form).await
}

/// Adds a person to a team, then shows the team's people. Cost: that of [`people::add`], plus 5 ledger queries.
pub(crate) async fn add_to_team<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    team: &str,
    form: &Form,
) -> Result {
    add(context, &KeyLevel::Team(team.to_owned()), form).await
}

/// Removes a person from a unit after a confirmation, then shows the unit's people. Cost: that of
/// [`people::remove`], plus 4 ledger queries.
pub(crate) async fn remove_from_unit<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
    form: &Form,
) -> Result {
    remove(context, &KeyLevel::Unit(unit.to_owned()), form).await
}

/// Removes a person from a team after a confirmation, then shows the team's people. Cost: that of
/// [`people::remove`], plus 4 ledger queries.
pub(crate) async fn remove_from_team<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    team: &str,
    form: &Form,
) -> Result {
    remove(context, &KeyLevel::Team(team.to_owned()), form).await
}

/// Removes the sender of the form from a unit, after a confirmation. Cost: that of
/// [`people::leave`].
pub(crate) async fn leave_unit<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
) -> Result {
    leave(context, &KeyLevel::Unit(unit.to_owned())).await
}

/// Removes the sender of the form from a team, after a confirmation. Cost: that of
/// [`people::leave`].
pub(crate) async fn leave_team<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    team: &str,
) -> Result {
    leave(context, &KeyLevel::Team(team.to_owned())).await
}

// ---- The page ------------------------------------------------------------------------------------

/// What the page of people shows after a form was sent.
#[derive(Default)]
struct FormResult<'f> {
    status: Option<u16>,
    notice: Markup,
    /// What was entered, if the form is shown again.
    entered: Option<&'f Form>,
    /// Why the person was not added.
    problem: FormProblem,
    /// The unit or team, if it is not registered; otherwise empty.
    missing: &'f [Unregistered],
    /// The page of the list: 0 and 1 are the first one.
    page: usize,
}

impl FormResult<'_> {
    /// Returns the result without a form: the page of the list that the query names.
    fn of_page(query: &Form) -> Self {
        FormResult { page: query.text("page").parse().unwrap_or(1), ..FormResult::default() }
    }
}

async fn page<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    place: &KeyLevel,
    after: FormResult<'_>,
) -> Result {
    let PeopleList { people, has_more } = people::list(context.ledger, place, after.page).await?;
    let times = context.times_of_place(place).await;
    let rows: Vec<_> = people.iter().map(|person| cells(context, place, person, &times)).collect();
    let added = times.heading("Added");
    let content = html! {
        (after.notice)
        p.lead { "People who may sign in to this dashboard for the " (register::owner(place)) "." }
        section {
            (view::table(&["Address", "Role", &added, "Added by", "Change"], &rows, "No people yet."))
            (pages(place, after.page.max(1), has_more))
            p.soft {
                "Managers see personal data, send e-mails again, erase people, and change keys, the profile and this "
                "list. Viewers see transactions, with personal data hidden, and usage."
            }
        }
        section { h2 { "Add a person" } (add_form(context, place, &after)) }
        section { h2 { "Remove a person" } (remove_form(place)) }
    };
    Ok(Page { status: after.status.unwrap_or(200), ..Page::new("People", content) })
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

fn cells<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    place: &KeyLevel,
    person: &Person,
    times: &ListTimes<'_, C>,
) -> Vec<Markup> {
    let Person { address, role, created, by, by_shop, .. } = person;
    vec![
        view::untrusted_text(address),
        html! { (view::capital(role.name())) },
        times.cell(created),
        context.author_of(by, *by_shop),
        view::form(
            &path(place, "remove"),
            &html! {
                (hidden("address", address))
                button.quiet aria-label={ "Remove " (address) } { "Remove" }
            },
        ),
    ]
}

/// Returns the path of the page of people. If `last` is not empty, returns the path of a form, which ends with `last`.
fn path(place: &KeyLevel, last: &str) -> String {
    let people = [&link::page_of(place), "/people"].concat();
    if last.is_empty() { people } else { [&people, "/", last].concat() }
}

const ROLES: [(&str, &str); 2] = [("viewer", "Viewer"), ("manager", "Manager")];

fn add_form<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    place: &KeyLevel,
    after: &FormResult<'_>,
) -> Markup {
    let entered = |name| after.entered.map_or("", |form| form.text(name));
    let address = view::Field {
        name: "address",
        label: "E-mail address",
        value: entered("address"),
        hint: "The person signs in with this address. No e-mail is sent: tell the person yourself.",
        required: true,
        problem: after.problem.of("address"),
        ..view::Field::default()
    };
    let role = view::Field {
        name: "role",
        label: "Role",
        value: entered("role"),
        problem: after.problem.of("role"),
        ..view::Field::default()
    };
    let content = html! {
        div.row { (address.render()) (role.render_select(&ROLES)) }
        (register::question(after.missing, " and add the person"))
        @if after.missing.is_empty() { button { "Add person" } }
    };
    after.problem.above(&context.form(&path(place, ""), &content))
}

// ---- Add -----------------------------------------------------------------------------------------

async fn add<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    place: &KeyLevel,
    form: &Form,
) -> Result {
    let role = match form.text("role") {
        "manager" => PersonRole::Manager,
        "viewer" => PersonRole::Viewer,
        _ => return Err(Refusal::invalid(NOT_WHOLE)),
    };
    if !context.has_operation() {
        return Err(Refusal::invalid(NOT_WHOLE));
    }
    if context.was_done().await?.is_none() {
        let levels = std::slice::from_ref(place);
        let missing = register::missing(context, levels, form).await?;
        if let Some(problem) = register::problem(&missing) {
            return again(context, place, form, &missing, problem).await;
        }
    }
    let whom = (place, form.text("address"));
    let added = people::add(context.store, context.ledger, &context.author, whom, role).await;
    let Done { outcome, before } = match added {
        Err(OperatorError::Invalid(why)) => return again(context, place, form, &[], why).await,
        added => added?,
    };
    let address = normal_address(form.text("address"));
    let words = html! {
        (view::untrusted_text(&address))
        @if outcome.already { " is already a " (role.name()) ". Nothing was changed." }
        @else {
            " is a " (role.name()) ", and can sign in at once. Send the person the address of this dashboard."
        }
    };
    let notice = html! { (operation::before(before.as_ref())) (view::done(&words)) };
    page(context, place, FormResult { notice, ..FormResult::default() }).await
}

const NOT_WHOLE: &str = "some fields are missing. Reload the page and try again";

async fn again<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    place: &KeyLevel,
    form: &Form,
    missing: &[Unregistered],
    why: Refused,
) -> Result {
    let (status, entered, problem) = (Some(422), Some(form), why.into());
    let after = FormResult { status, entered, problem, missing, ..FormResult::default() };
    page(context, place, after).await
}

// ---- Remove --------------------------------------------------------------------------------------

async fn remove<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    place: &KeyLevel,
    form: &Form,
) -> Result {
    let address = normal_address(form.text("address"));
    if !context.has_operation() {
        return Ok(confirm_removal(context, place, &address));
    }
    let which = match context.may(Permission::Operate) {
        true => Removable::All,
        false => Removable::NotTheLast,
    };
    let whom = (place, &*address);
    let removed = people::remove(context.ledger, &context.author, whom, which).await;
    let Done { before, .. } = match removed {
        Err(OperatorError::Invalid(why)) => {
            let (status, notice) = (Some(422), view::problem(&why.text));
            return page(context, place, FormResult { status, notice, ..FormResult::default() })
                .await;
        }
        removed => removed?,
    };
    let words = html! {
        (view::untrusted_text(&address)) " was removed. This takes effect at once. API keys that the \
                                          person has seen still work: replace them."
    };
    let notice = html! { (operation::before(before.as_ref())) (view::done(&words)) };
    if is_self(context, &address) && !context.may(Permission::Operate) {
        return Ok(Page::new("People", notice)); // the list is for managers
    }
    page(context, place, FormResult { notice, ..FormResult::default() }).await
}

fn is_self<S, C: Clock, E: Entropy>(context: &PageContext<'_, S, C, E>, address: &str) -> bool {
    normal_address(context.author.by()) == address
}

fn confirm_removal<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    place: &KeyLevel,
    address: &str,
) -> Page {
    let content = html! {
        section {
            (view::facts(&[
                ("Address", view::untrusted_text(address)),
                ("For", register::owner(place)),
            ]))
            p { "The person can no longer sign in for this unit or team. API keys that the person has \
                 seen still work: replace them." }
            (context.form(&path(place, "remove"), &html! {
                (hidden("address", address))
                button.alarm { "Remove this person" }
            }))
        }
        p { "Nothing was changed yet. Back to " a href=(path(place, "")) { "People" } "." }
    };
    Page::new("Remove this person?", content)
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

async fn leave<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    place: &KeyLevel,
) -> Result {
    if !context.has_operation() {
        return Ok(confirm_leaving(context, place));
    }
    let left = people::leave(context.ledger, &context.author, place).await?;
    let words = html! { "You left the " (place.kind()) " " bdi { (place.id()) } ". This takes effect at once." };
    let content = html! { (operation::before(left.before.as_ref())) (view::done(&words)) };
    Ok(Page::new("Your access", content))
}

fn confirm_leaving<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    place: &KeyLevel,
) -> Page {
    let content = html! {
        section {
            p {
                "You can no longer sign in for the " (register::owner(place))
                ". Only a manager or an operator can add you again."
            }
            (context.form(&path(place, "leave"), &html! {
                button.alarm { "Leave this " (place.kind()) }
            }))
        }
        p { "Nothing was changed yet. Back to the " (register::owner(place)) "." }
    };
    Page::new(format!("Leave this {}?", place.kind()), content)
}
