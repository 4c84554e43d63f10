//! The section "Health and setup" of the System page. It shows which parts of the service work, which have a
//! problem, and how to set up the missing ones. A part that cannot be read affects only its own line.

use super::last_backups;
use super::setup_messaging::{Attachment, attachment};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::view;
use crate::office::shared::rows::port::LedgerError;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::roles::Role;
use crate::office::system::rows::health::Health;
use crate::office::system::rule::attention;
use crate::office::system::rule::attention::RECENT_DAYS;
use crate::office::system::rule::epoch;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use crate::pledges::types::NotificationService;
use futures_util::future::join3;
use maud::{Markup, html};
use strum::IntoEnumIterator as _;

/// A message in the ledger's queue is late if it arrives this many minutes or more after its transaction.
pub(crate) const LATE_MINUTES: u64 = 10;

/// A line of the section: the name of the part, its state, and an explanation or instructions.
type Line = (&'static str, State, Markup);

#[derive(Clone, Copy)]
enum State {
    Works,
    Problem,
    NotSetUp,
}

impl State {
    fn render(self) -> Markup {
        match self {
            State::Works => html! { span.tag { "Works" } },
            State::Problem => html! { span.tag.alarm { "Problem" } },
            State::NotSetUp => html! { span.tag.note { "Not set up" } },
        }
    }
}

/// Renders the section, with the lines of all parts. KV cost: at most 8 lists and 64 reads. Ledger cost: 1 call.
pub(crate) async fn section<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
) -> Markup {
    let (mails, ledger, backups) =
        join3(mails(context), of_ledger(context), last_backups::days(context)).await;
    let mut lines = vec![
        ("Sign-in", State::Works, html! { "Cloudflare Access identified you." }),
        readable("E-mails and messages", mails),
    ];
    lines.extend(messaging(context));
    lines.push(notices(context));
    lines.extend(match ledger {
        Ok(lines) => lines,
        Err(error) => vec![("Ledger", State::Problem, unread(&error))],
    });
    lines.push(readable("Backups", backups.map(of_backups)));
    lines.extend(roles(context));
    lines.extend(variables(context));
    let cells = |(name, state, text): Line| vec![html! { (name) }, state.render(), text];
    let rows: Vec<_> = lines.into_iter().map(cells).collect();
    html! { section { h2 { "Health and setup" } (view::table(&["Part", "State", "Details"], &rows, "")) } }
}

fn readable(name: &'static str, line: Result<(State, Markup), OperatorError>) -> Line {
    match line {
        Ok((state, text)) => (name, state, text),
        Err(error) => (name, State::Problem, unread(&error)),
    }
}

fn unread(error: &OperatorError) -> Markup {
    html! { "This could not be read: " (view::inline_code(&error.to_string())) "." }
}

async fn mails<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
) -> Result<(State, Markup), OperatorError> {
    if context.outbox.is_none() {
        let how = html! {
            "Switch e-mails or messaging services on (" code { "docs/emails.md" } ", " code { "docs/messaging.md" } "), then deploy the dashboard again, which binds the \
             queue " code { "NOTIFICATIONS" } "."
        };
        return Ok((State::NotSetUp, how));
    }
    let failures = attention::recent_failures(context.store, context.clock).await?;
    if failures.count == 0 {
        let text = html! { "No e-mail or message failed in the last " (RECENT_DAYS) " days." };
        return Ok((State::Works, text));
    }
    let text = html! {
        a href="/mails" { @if failures.has_more { "At least " } (failures.count) " failed" }
        " in the last " (RECENT_DAYS) " days."
    };
    Ok((State::Problem, text))
}

/// Returns a line for each messaging service. If no adapter is connected by a service binding or a URL, returns
/// one line that says so.
fn messaging<S, C, E>(context: &PageContext<'_, S, C, E>) -> Vec<Line> {
    let set = &context.settings.messaging_bindings;
    let line = |service: NotificationService| {
        let Some(attachment) = attachment(set, service) else {
            return (service.name(), State::NotSetUp, unattached());
        };
        let state = match &attachment {
            Attachment { has_problem: true, .. } => State::Problem,
            Attachment { is_attached: true, .. } => State::Works,
            _ => State::NotSetUp,
        };
        (service.name(), state, view::inline_code(&attachment.text))
    };
    let services = NotificationService::MESSAGING;
    if services.iter().any(|service| attachment(set, *service).is_some()) {
        return services.into_iter().map(line).collect();
    }
    let how = html! {
        "No adapter is attached to the service. If you attached one after the last deploy of the \
         dashboard, deploy the dashboard again (" code { "docs/messaging.md" } ")."
    };
    vec![("Messaging services", State::NotSetUp, how)]
}

fn notices<S, C, E>(context: &PageContext<'_, S, C, E>) -> Line {
    let setup = &context.settings.notices;
    let (state, text) = match setup.is_on() {
        true => (
            State::Works,
            html! { "Sent from " (view::untrusted_text(&setup.from)) ". " a href="/notices" { "See the sent e-mails" } "." },
        ),
        false => (
            State::NotSetUp,
            html! {
                "People of the dashboard get no e-mails, because the dashboard's Worker lacks "
                @for (index, name) in setup.missing.iter().enumerate() {
                    @if index > 0 { ", " } (view::inline_code(&["`", name, "`"].concat()))
                }
                " (" code { "docs/dashboard.md" } ")."
            },
        ),
    };
    ("E-mails to people", state, text)
}

fn unattached() -> Markup {
    html! {
        "No adapter is attached, so messages to this service are not sent: they are listed under "
        a href="/mails" { "E-mails" } ". To attach one, see " code { "docs/messaging.md" } "."
    }
}

async fn of_ledger<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
) -> Result<Vec<Line>, OperatorError> {
    let health = epoch::health(context.store, context.ledger, context.clock.now_ms()).await;
    if let Err(unbound @ OperatorError::Ledger(LedgerError::Unbound)) = health {
        let how = view::inline_code(&view::sentence(&unbound.to_string()));
        return Ok(vec![("Ledger", State::NotSetUp, how)]);
    }
    let health = health?;
    let (state, text) = match &health.problem {
        Some(problem) => (State::Problem, view::inline_code(&view::sentence(problem))),
        None => (State::Works, html! { "Complete up to " (complete_up_to(&health)) "." }),
    };
    let (queue, lag) = of_queue(&health);
    Ok(vec![("Ledger", state, text), ("Queue of the ledger", queue, lag)])
}

fn complete_up_to(health: &Health) -> Markup {
    html! { @match &health.complete_up_to { Some(at) => (view::time(at)), None => "no time yet" } }
}

fn of_queue(health: &Health) -> (State, Markup) {
    let Some(received) = &health.received else {
        let how = html! {
            "No message has arrived yet. If the shops have transactions, bind the queue " code { "LEDGER" }
            " in the service's configuration, and deploy both Workers."
        };
        return (State::NotSetUp, how);
    };
    let minutes = health.lag_ms.unwrap_or_default() / 60_000;
    let state = if minutes >= LATE_MINUTES { State::Problem } else { State::Works };
    let lag =
        html! { @if minutes >= LATE_MINUTES { ", " (minutes) " minutes after its transaction" } };
    (state, html! { "The last message arrived on " (view::time(received)) (lag) "." })
}

fn of_backups(days: last_backups::Age) -> (State, Markup) {
    let how = html! { "Run " code { "transactions backup" } "." };
    match days {
        last_backups::Age::None => (State::NotSetUp, how),
        last_backups::Age::Invalid => {
            (State::Problem, html! { "The record of the last backup has no valid time. " (how) })
        }
        last_backups::Age::Days(days) => {
            let is_old = days > last_backups::MAX_DAYS;
            let state = if is_old { State::Problem } else { State::Works };
            let age = view::counted(days, "day");
            let text = html! { "The last backup is " (age) " old. " @if is_old { (how) } };
            (state, text)
        }
    }
}

fn roles<S, C, E>(context: &PageContext<'_, S, C, E>) -> Vec<Line> {
    let problems = context.settings.problems.iter();
    let problems = problems
        .map(|problem| ("Roles", State::Problem, view::inline_code(&view::sentence(problem))));
    let is_empty = |role: &Role| context.settings.members(*role).next().is_none();
    let empty = Role::iter().filter(is_empty).map(|role| {
        let name: &str = role.into();
        let how = html! {
            "Nobody has the role " (name) ". Set the secret " code { (secret(role)) }
            " to the e-mail addresses of its members."
        };
        ("Roles", State::NotSetUp, how)
    });
    problems.chain(empty).collect()
}

fn secret(role: Role) -> &'static str {
    match role {
        Role::Operator => "OPERATORS",
        Role::Support => "SUPPORT",
        Role::Accounts => "ACCOUNTS",
    }
}

fn variables<S, C, E>(context: &PageContext<'_, S, C, E>) -> Vec<Line> {
    let settings = context.settings;
    let problems = settings.variable_problems.iter();
    let problems = problems
        .map(|problem| ("Variables", State::Problem, view::inline_code(&view::sentence(problem))));
    let missing = [
        (
            "ENVIRONMENT",
            settings.environment.is_empty(),
            "puts the environment's name on each page, in red for production",
        ),
        (
            "SERVICE_ORIGIN",
            settings.service_origin.is_empty(),
            "puts the service's address into the examples for new keys",
        ),
        (
            "UNUSUAL_CHARGE",
            settings.unusual_charge.is_none() && settings.variable_problems.is_empty(),
            "sets a charge: the start page reports transactions above it",
        ),
    ];
    let missing = missing.into_iter().filter(|(_, is_missing, _)| *is_missing);
    let missing = missing.map(|(name, _, why)| {
        let how = html! { "The variable " code { (name) } " " (why) "." };
        ("Variables", State::NotSetUp, how)
    });
    problems.chain(missing).collect()
}
