//! The start page of operators: the checklist of a new service, and the list of tasks.
//!
//! Each task is read separately. If reading one fails, its line says so, and the other lines are still shown.

use super::acceptance::{accept, accepted};
use super::first_day::checklist;
use super::last_backups;
use super::last_backups::Age;
use super::setup::LATE_MINUTES;
use crate::office::connections::page::troubles;
use crate::office::connections::rows::troubles::Trouble;
use crate::office::credit_requests::rows::requests::RequestFilter;
use crate::office::credit_requests::rule as credit_requests;
use crate::office::credit_requests::rule::Request;
use crate::office::fulfilment::rule as fulfilments;
use crate::office::fulfilment::rule::Balance;
use crate::office::orders::page::orders;
use crate::office::orders::rows::notes;
use crate::office::orders::rows::notes::HandOver;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::{link, view};
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::roles::Permission;
use crate::office::system::rows::accepted::TaskKind;
use crate::office::system::rows::unusual::{
    LEAST_CHARGES, UNUSUAL_TIMES, UnusualCharge, UnusualCharges,
};
use crate::office::system::rule::attention;
use crate::office::system::rule::attention::{
    IdleUnits, RECENT_DAYS, RecentFailures, UNUSUAL_DAYS,
};
use crate::office::system::rule::epoch;
use crate::office::system::rule::tasks;
use crate::office::system::rule::tasks::Accepted;
use crate::pledges::scope::Mode;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::Month;
use crate::pledges::store::OperatorStore;
use crate::pledges::time::date_time;
use futures_util::future::{join3, join4};
use maud::{Markup, html};

const MAX_NAMED: usize = 5;
/// Maximum number of requested credits that are counted.
const MAX_LISTED: usize = 100;

/// The line that shows a task on the page; `None` if there is nothing to do.
type Task = Result<Option<Markup>, OperatorError>;

/// Shows the start page. KV cost: at most 9 lists and 86 reads. Ledger cost: 12 queries, all but one sent at the same time, and 7 or
/// 8 beside them. A new service costs as much as the [`checklist`] more.
pub(crate) async fn home<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
) -> Result {
    let steps = task(context, Permission::Operate, "The first steps", checklist(context));
    let (steps, tasks, accepted) = join3(steps, tasks(context), accepted(context)).await;
    let content = html! {
        @if let Some(steps) = &steps { section { (steps) } }
        @if steps.is_none() || !tasks.is_empty() {
            section {
                h2 { "To do" }
                @if tasks.is_empty() { p { "Nothing needs doing." } }
                @else { ul.plain.tasks { @for task in &tasks { li { (task) } } } }
                (accepted)
            }
        }
        @if context.may(Permission::Operate) { p { a href="/person" { "Erase a person" } } }
    };
    Ok(Page::new("Home", content))
}

async fn tasks<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
) -> Vec<Markup> {
    let accepted = &tasks::accepted(context.ledger).await.unwrap_or_default();
    let of_mail = task(context, Permission::Support, "Failed notifications", mails(context));
    let to_support = handed_over(context, HandOver::Support);
    let to_support = task(context, Permission::Support, "Transactions handed over", to_support);
    let to_accounts = handed_over(context, HandOver::Accounts);
    let to_accounts = task(context, Permission::Account, "Transactions handed over", to_accounts);
    let of_pledges =
        task(context, Permission::Account, "Unpriced pledges", unpriced(context, accepted));
    let of_months = task(context, Permission::Account, "Months to settle", unsettled(context));
    let of_updates =
        task(context, Permission::Operate, "Pledges without updates", untold(context, accepted));
    let of_charges = task(context, Permission::Look, "Unusual transactions", unusual(context));
    let of_units =
        task(context, Permission::Operate, "Units without a transaction", idle(context, accepted));
    let of_ledger =
        task(context, Permission::Operate, "The state of the ledger", ledger(context, accepted));
    let of_backups = task(context, Permission::Operate, "The last backup", backup(context));
    let of_shops =
        task(context, Permission::Operate, "Shop systems", connections(context, accepted));
    let of_credits = task(context, Permission::Account, "Requested credits", credits(context));
    let (
        (mails, pledges, months, charges),
        (units, ledger, backup, shops),
        (updates, notes, others, credits),
    ) = join3(
        join4(of_mail, of_pledges, of_months, of_charges),
        join4(of_units, of_ledger, of_backups, of_shops),
        join4(of_updates, to_support, to_accounts, of_credits),
    )
    .await;
    let all = [
        notes, others, mails, shops, credits, pledges, months, charges, updates, ledger, backup,
        units,
    ];
    all.into_iter().flatten().collect()
}

/// Returns the line of a task; `None` if the person lacks the permission, or if there is nothing to do. If reading the
/// task fails, the line says so.
async fn task<S, C, E>(
    context: &PageContext<'_, S, C, E>,
    permission: Permission,
    name: &str,
    read: impl Future<Output = Task>,
) -> Option<Markup> {
    if !context.may(permission) {
        return None;
    }
    match read.await {
        Ok(line) => line,
        Err(error) => Some(html! {
            span.problem { (name) " could not be read" } ": " (view::inline_code(&view::sentence(&error.to_string())))
        }),
    }
}

/// Renders one link per month, such as `2 credits in Oct 2026`. `one` is the noun for a count of 1. `address`
/// returns the URL for a month.
fn by_month(months: &[(Month, u64)], one: &str, address: impl Fn(Month) -> String) -> Markup {
    html! {
        @for (index, (month, count)) in months.iter().enumerate() {
            @if index > 0 { ", " }
            a href=(address(*month)) { (view::counted(*count, one)) " in " (view::month(*month)) }
        }
        "."
    }
}

/// Returns the URL of the page `path`, filtered by live mode, this month, and the parameters `more`.
fn in_month(path: &str, month: Month, more: &[(&str, &str)]) -> String {
    let month = month.to_string();
    let parameters = [("mode", Mode::Live.name()), ("month", &month)];
    link::with(path, &[&parameters[..], more].concat())
}

// ---- Tasks of support and accounts ---------------------------------------------------------------

async fn mails<S: OperatorStore, C: Clock, E>(context: &PageContext<'_, S, C, E>) -> Task {
    let failures = attention::recent_failures(context.store, context.clock).await?;
    let RecentFailures { count, has_more } = failures;
    Ok((count > 0).then(|| {
        html! {
            a href="/mails" { @if has_more { "At least " } (view::counted(count, "failed notification")) }
            " in the last " (RECENT_DAYS) " days. Correct the cause, then resend the notifications."
        }
    }))
}

/// Lists the transactions that somebody has handed over to a role, the oldest first. Ledger cost: 1 query.
async fn handed_over<S, C, E>(context: &PageContext<'_, S, C, E>, role: HandOver) -> Task {
    let found = notes::handed_over(context.ledger, role, MAX_NAMED + 1).await?;
    Ok((!found.is_empty()).then(|| {
        html! {
            "Transactions handed over to " (role.name()) ":"
            ul {
                @for note in found.iter().take(MAX_NAMED) {
                    li {
                        a href=(link::path(&["transactions", &note.id])) { (view::untrusted_text(&note.text)) }
                        " (" (view::untrusted_text(&note.author)) ", " (view::time(&date_time(note.at))) ")"
                    }
                }
            }
            @if found.len() > MAX_NAMED { p { "These are the " (MAX_NAMED) " oldest ones." } }
        }
    }))
}

async fn unpriced<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    accepted: &Accepted,
) -> Task {
    let mut months = attention::unpriced(context.ledger, context.clock).await?;
    months.retain(|month| accepted.leaves_open(&tasks::Task::unpriced(month)));
    let now_ms = context.clock.now_ms();
    let address = |month: Month| match month.has_ended(now_ms) {
        true => in_month("/payments", month, &[]),
        false => in_month("/orders", month, &[("state", "unpriced")]),
    };
    let has_ended = months.iter().any(|(month, _)| month.has_ended(now_ms));
    Ok((!months.is_empty()).then(|| {
        html! {
            "Unpriced pledges, which are charged 0.00: " (by_month(&months, "pledge", address))
            @if context.may(Permission::Operate) { " " a href="/prices" { "Set the prices of new ones" } "." }
            @if has_ended { " Once a month has ended, accept its unpriced pledges as you mark it as paid." }
            (accept(context, TaskKind::Unpriced))
        }
    }))
}

async fn unsettled<S: OperatorStore, C: Clock, E>(context: &PageContext<'_, S, C, E>) -> Task {
    let months = attention::unsettled(context.store, context.ledger, context.clock).await?;
    let address = |month| in_month("/payments", month, &[]);
    Ok((!months.is_empty())
        .then(|| html! { "Months to settle: " (by_month(&months, "unit", address)) }))
}

async fn credits<S: OperatorStore, C: Clock, E>(context: &PageContext<'_, S, C, E>) -> Task {
    let filter = RequestFilter { unit: None, only_open: true, most: MAX_LISTED };
    let found = credit_requests::list(context.ledger, &filter).await?;
    let others = found.len().saturating_sub(MAX_NAMED);
    let names = context.names_of(found.iter().take(MAX_NAMED).map(|it| &*it.scope.unit)).await;
    Ok((!found.is_empty()).then(|| {
        html! {
            "Confirm or refuse requested credits: "
            @for (index, Request { transaction, scope, amount, currency_code, .. }) in found.iter().take(MAX_NAMED).enumerate() {
                @if index > 0 { ", " }
                a href=(link::path(&["transactions", transaction])) { (view::money(amount, currency_code)) }
                " of " (names.link(&scope.unit))
            }
            @if others > 0 { " and " (others) " more" @if found.len() >= MAX_LISTED { " or more" } }
            "."
        }
    }))
}

async fn unusual<S, C: Clock, E: Entropy>(context: &PageContext<'_, S, C, E>) -> Task {
    let limit = context.settings.unusual_charge;
    let ledger = context.ledger;
    let found = attention::unusual(ledger, context.clock, limit, MAX_NAMED).await?;
    let UnusualCharges { count, newest } = &found;
    Ok((*count > 0).then(|| html! {
        (view::counted(*count, "unusual transaction")) " in the last " (UNUSUAL_DAYS) " days"
        @if *count > newest.len() as u64 { ", the newest " (newest.len()) }
        ":"
        ul { @for charge in newest { li { (unusual_charge(charge)) } } }
        p { small {
            "A charge is unusual if it is more than " (UNUSUAL_TIMES) " times the median of its unit's \
                                                                       charges, for units with at least "
            (LEAST_CHARGES) " transactions"
            @if limit.is_some() { ", or more than the sum in " code { "UNUSUAL_CHARGE" } }
            "."
        } }
        (accept(context, TaskKind::Unusual))
    }))
}

fn unusual_charge(charge: &UnusualCharge) -> Markup {
    let UnusualCharge { id, unit, created_at, currency_code, amount } = charge;
    let of_unit = orders::address(&[("unit", unit), ("mode", Mode::Live.name())]);
    let money = html! { (amount) " " (view::untrusted_text(currency_code)) };
    html! {
        a href=(link::path(&["transactions", id])) { (money) }
        ", " a href=(of_unit) { (view::untrusted_text(unit)) } ", " (view::time(created_at))
    }
}

// ---- Tasks of operators --------------------------------------------------------------------------

async fn untold<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    accepted: &Accepted,
) -> Task {
    let mut found = fulfilments::untold(context.store, context.ledger, context.clock).await?;
    found.retain(|balance| accepted.leaves_open(&tasks::Task::untold(balance)));
    let others = found.len().saturating_sub(MAX_NAMED);
    Ok((!found.is_empty()).then(|| {
        html! {
            "No update is published about "
            @for (index, Balance { month, offering, pledged, .. }) in found.iter().take(MAX_NAMED).enumerate() {
                @if index > 0 { ", " }
                a href=(in_month("/updates", *month, &[])) { (view::untrusted_text(offering)) ", " (view::month(*month)) }
                " (" (view::grouped(pledged)) " pledged)"
            }
            @if others > 0 { " and " (others) " more" }
            "."
            (accept(context, TaskKind::Untold))
        }
    }))
}

async fn idle<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    accepted: &Accepted,
) -> Task {
    let IdleUnits { mut units, has_more } =
        attention::idle_units(context.store, context.ledger).await?;
    units.retain(|unit| accepted.leaves_open(&tasks::Task::idle(unit)));
    let others = units.len().saturating_sub(MAX_NAMED);
    let names = context.names_of(units.iter().take(MAX_NAMED).map(|unit| &**unit)).await;
    Ok((!units.is_empty()).then(|| {
        html! {
            a href="/units" { (view::counted(units.len() as u64, "unit")) }
            " without a live transaction"
            @if has_more { ", among the first " (attention::MAX_UNITS) " units" }
            ": "
            @for (index, unit) in units.iter().take(MAX_NAMED).enumerate() {
                @if index > 0 { ", " }
                (names.link(unit))
            }
            @if others > 0 { " and " (others) " more" }
            "."
            (accept(context, TaskKind::Idle))
        }
    }))
}

/// Lists the shop systems with problems. Ledger cost: 1 query.
async fn connections<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    accepted: &Accepted,
) -> Task {
    let is_open = |it: &Trouble| accepted.leaves_open(&tasks::Task::connection(it));
    let line = troubles(context, None, is_open).await?;
    Ok(line.map(|line| html! { (line) (accept(context, TaskKind::Connection)) }))
}

async fn ledger<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    accepted: &Accepted,
) -> Task {
    let ledger: &dyn Ledger = context.ledger;
    let health = epoch::health(context.store, ledger, context.clock.now_ms()).await?;
    let minutes = health.lag_ms.unwrap_or_default() / 60_000;
    let problem = health.problem.as_deref().map(view::sentence);
    let is_late = minutes >= LATE_MINUTES;
    let findings = match health.findings {
        0 => 0,
        _ => tasks::open_findings(ledger, accepted).await?.len() as u64,
    };
    if problem.is_none() && !is_late && findings == 0 {
        return Ok(None);
    }
    Ok(Some(html! {
        a href="/system" { "The ledger" } ": "
        @if let Some(problem) = problem { (view::inline_code(&problem)) " " }
        @if is_late { "The last message arrived " (minutes) " minutes after its transaction. " }
        @if findings > 0 {
            (view::counted(findings, "finding")) " to check."
            (accept(context, TaskKind::Finding))
        }
    }))
}

async fn backup<S: OperatorStore, C: Clock, E>(context: &PageContext<'_, S, C, E>) -> Task {
    let days = match last_backups::days(context).await? {
        Age::Days(days) if days <= last_backups::MAX_DAYS => return Ok(None),
        Age::Days(days) => Some(days),
        Age::Invalid => None,
        Age::None => {
            return Ok(Some(html! {
                a href="/system" { "No backup" } " has been recorded. Run " code { "transactions backup" } "."
            }));
        }
    };
    Ok(Some(html! {
        a href="/system" { "The last backup" }
        @match days { Some(days) => { " is " (days) " days old." } None => " has no valid time." }
    }))
}
