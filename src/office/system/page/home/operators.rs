//! The tasks of operators.

use super::lines::{MAX_NAMED, Task, in_month};
use crate::office::connections::page::troubles;
use crate::office::connections::rows::troubles::Trouble;
use crate::office::fulfilment::rule as fulfilments;
use crate::office::fulfilment::rule::Balance;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::view;
use crate::office::shared::rows::port::Ledger;
use crate::office::system::page::acceptance::accept;
use crate::office::system::page::last_backups;
use crate::office::system::page::last_backups::Age;
use crate::office::system::page::setup::LATE_MINUTES;
use crate::office::system::rows::accepted::TaskKind;
use crate::office::system::rule::attention;
use crate::office::system::rule::attention::IdleUnits;
use crate::office::system::rule::epoch;
use crate::office::system::rule::tasks;
use crate::office::system::rule::tasks::Accepted;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::html;

pub(super) async fn untold<S: OperatorStore, C: Clock, E: Entropy>(
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
                a href=(in_month("/updates", *month, &[("offering", offering)])) { (view::untrusted_text(offering)) ", " (view::month(*month)) }
                " (" (view::grouped(pledged)) " pledged)"
            }
            @if others > 0 { " and " (others) " more" }
            "."
            (accept(context, TaskKind::Untold))
        }
    }))
}

pub(super) async fn idle<S: OperatorStore, C: Clock, E: Entropy>(
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
pub(super) async fn connections<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    accepted: &Accepted,
) -> Task {
    let is_open = |it: &Trouble| accepted.leaves_open(&tasks::Task::connection(it));
    let line = troubles(context, None, is_open).await?;
    Ok(line.map(|line| html! { (line) (accept(context, TaskKind::Connection)) }))
}

pub(super) async fn ledger<S: OperatorStore, C: Clock, E: Entropy>(
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

pub(super) async fn backup<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
) -> Task {
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
