//! The checklist of a new service on the start page. It ticks itself, and goes away when all is there that is needed.

use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::view;
use crate::office::shared::rule::error::OperatorError;
use crate::office::system::rows::health::CRON_MINUTES;
use crate::office::system::rule::first_day::{FirstDay, first_day};
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};

/// A step of the checklist.
struct Step {
    is_done: bool,
    name: &'static str,
    text: Markup,
}

/// Renders the checklist; `None` if the service is set up. Costs as much as [`first_day()`].
pub(crate) async fn checklist<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
) -> Result<Option<Markup>, OperatorError> {
    let day = first_day(context.store, context.ledger).await?;
    Ok(day.map(|day| {
        html! {
            h2 { "Set up the service" }
            p { "Run the commands as " code { "npx impact-pledge-service … --remote" } ", with " code { "--env" } " if you deploy with it." }
            ol.plain.tasks { @for step in needed(day) { (line(&step, "To do")) } }
            h3 { "Optional" }
            ul.plain.tasks { @for step in optional(day, context.outbox.is_some()) { (line(&step, "Off")) } }
            (view::staleness_note())
        }
    }))
}

fn line(Step { is_done, name, text }: &Step, open: &str) -> Markup {
    html! {
        li {
            @if *is_done { span.tag { "✓ Done" } } @else { span.tag.note { (open) } }
            " " strong { (name) } ": " (text)
        }
    }
}

fn needed(day: FirstDay) -> [Step; 6] {
    let step = |is_done, name, text| Step { is_done, name, text };
    [
        step(true, "Sign-in", html! { "Cloudflare Access identified you as an operator." }),
        step(
            day.has_passed,
            "Ledger",
            html! {
                "the first " a href="/system" { "reconciliation" } ", which starts automatically within " (CRON_MINUTES)
                " minutes of the deploy."
            },
        ),
        step(
            day.has_prices,
            "Prices",
            html! { a href="/prices" { "set the prices" } " of your offerings, or run " code { "prices set prices.json" } "." },
        ),
        step(
            day.has_unit,
            "Unit",
            html! {
                a href="/units" { "create a unit" } ", which is one shop, and give it a name, or run "
                code { "units set my-shop --name \"My shop\"" } "."
            },
        ),
        step(
            day.has_key,
            "API key",
            html! {
                "create a test key on the page of the " a href="/units" { "unit" } ", or run "
                code { "keys create --mode test --unit my-shop" } "."
            },
        ),
        step(
            day.has_transaction,
            "First transaction",
            html! {
                "with the test key, run " code { "npx impact-pledge create order.json" } " (" code { "docs/getting-started.md" }
                "). It then appears among the " a href="/orders" { "newest transactions" } "."
            },
        ),
    ]
}

fn optional(day: FirstDay, has_queue: bool) -> [Step; 2] {
    [
        Step {
            is_done: has_queue,
            name: "E-mails and messages",
            text: html! { "to tell buyers of their pledges, see " code { "docs/emails.md" } "." },
        },
        Step {
            is_done: day.has_bucket,
            name: "Backups on a schedule",
            text: html! {
                "bind a bucket as " code { "BACKUPS" } ", see " code { "docs/data.md" } ". The cron finds it within "
                (CRON_MINUTES) " minutes."
            },
        },
    ]
}
