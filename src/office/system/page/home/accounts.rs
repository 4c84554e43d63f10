//! The tasks of support and accounts.

use super::lines::{MAX_NAMED, Task, by_month, in_month};
use crate::office::credit_requests::rows::requests::RequestFilter;
use crate::office::credit_requests::rule as credit_requests;
use crate::office::credit_requests::rule::Request;
use crate::office::orders::page::orders;
use crate::office::orders::rows::notes;
use crate::office::orders::rows::notes::HandOver;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::unit_names::UnitNames;
use crate::office::shared::page::{link, view};
use crate::office::shared::rule::roles::Permission;
use crate::office::system::page::acceptance::accept;
use crate::office::system::rows::accepted::TaskKind;
use crate::office::system::rows::unusual::{
    LEAST_CHARGES, UNUSUAL_TIMES, UnusualCharge, UnusualCharges,
};
use crate::office::system::rule::attention;
use crate::office::system::rule::attention::{RECENT_DAYS, RecentFailures, UNUSUAL_DAYS};
use crate::office::system::rule::tasks;
use crate::office::system::rule::tasks::Accepted;
use crate::pledges::scope::Mode;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::Month;
use crate::pledges::store::OperatorStore;
use crate::pledges::time::date_time;
use maud::{Markup, html};

/// Maximum number of requested credits that are counted.
const MAX_LISTED: usize = 100;

pub(super) async fn mails<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
) -> Task {
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
pub(super) async fn handed_over<S, C, E>(
    context: &PageContext<'_, S, C, E>,
    role: HandOver,
) -> Task {
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

pub(super) async fn unpriced<S, C: Clock, E: Entropy>(
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

pub(super) async fn unsettled<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
) -> Task {
    let months = attention::unsettled(context.store, context.ledger, context.clock).await?;
    let address = |month| in_month("/payments", month, &[]);
    Ok((!months.is_empty())
        .then(|| html! { "Months to settle: " (by_month(&months, "unit", address)) }))
}

pub(super) async fn credits<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
) -> Task {
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

pub(super) async fn unusual<S, C: Clock, E: Entropy>(context: &PageContext<'_, S, C, E>) -> Task {
    let limit = context.settings.unusual_charge;
    let ledger = context.ledger;
    let found = attention::unusual(ledger, context.clock, limit, MAX_NAMED).await?;
    let UnusualCharges { count, newest } = &found;
    let names = context.names_of(newest.iter().map(|charge| &*charge.unit)).await;
    Ok((*count > 0).then(|| html! {
        (view::counted(*count, "unusual transaction")) " in the last " (UNUSUAL_DAYS) " days"
        @if *count > newest.len() as u64 { ", the newest " (newest.len()) }
        ":"
        ul { @for charge in newest { li { (unusual_charge(charge, &names)) } } }
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

fn unusual_charge(charge: &UnusualCharge, names: &UnitNames) -> Markup {
    let UnusualCharge { id, unit, created_at, currency_code, amount } = charge;
    let of_unit = orders::address(&[("unit", unit), ("mode", Mode::Live.name())]);
    let money = html! { (amount) " " (view::untrusted_text(currency_code)) };
    html! {
        a href=(link::path(&["transactions", id])) { (money) }
        ", " (names.link_to(&of_unit, unit)) ", " (view::time(created_at))
    }
}
