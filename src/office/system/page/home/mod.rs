//! The start page of operators: the checklist of a new service, and the list of tasks.
//!
//! Each task is read separately. If reading one fails, its line says so, and the other lines are still shown.

mod accounts;
mod lines;
mod operators;

use super::acceptance;
use super::first_day::checklist;
use crate::office::orders::rows::notes::HandOver;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::office::shared::rule::roles::Permission;
use crate::office::system::rule::tasks;
use crate::office::system::rule::tasks::Accepted;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use accounts::{credits, handed_over, mails, unpriced, unsettled, unusual};
use futures_util::future::{LocalBoxFuture, join, join_all};
use lines::Task;
use maud::{Markup, html};
use operators::{backup, connections, idle, ledger, untold};

/// Shows the start page. KV cost: at most 9 lists and 86 reads. Ledger cost: 11 queries, all but one sent at the same time, and 7 or
/// 8 beside them. A new service costs as much as the [`checklist`] more.
pub(crate) async fn home<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
) -> Result {
    let steps = task(context, Permission::Operate, "The first steps", Box::pin(checklist(context)));
    let accepted = tasks::list(context.ledger, tasks::MAX_ACCEPTED).await.unwrap_or_default();
    let (steps, tasks) = join(steps, tasks(context, &Accepted::of(&accepted))).await;
    let content = html! {
        @if let Some(steps) = &steps { section { (steps) } }
        @if steps.is_none() || !tasks.is_empty() {
            section {
                h2 { "To do" }
                @if tasks.is_empty() { p { "Nothing needs doing." } }
                @else { ul.plain.tasks { @for task in &tasks { li { (task) } } } }
                (acceptance::accepted(context, &accepted))
            }
        }
        @if context.may(Permission::Operate) { p { a href="/person" { "Erase a person" } } }
    };
    Ok(Page::new("Home", content))
}

/// Returns the lines of the tasks, in the order of their urgency.
async fn tasks<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    accepted: &Accepted,
) -> Vec<Markup> {
    use Permission::{Account, Look, Operate, Support};
    let lines = join_all([
        task(
            context,
            Support,
            "Transactions handed over",
            Box::pin(handed_over(context, HandOver::Support)),
        ),
        task(
            context,
            Account,
            "Transactions handed over",
            Box::pin(handed_over(context, HandOver::Accounts)),
        ),
        task(context, Support, "Failed notifications", Box::pin(mails(context))),
        task(context, Operate, "Shop systems", Box::pin(connections(context, accepted))),
        task(context, Account, "Requested credits", Box::pin(credits(context))),
        task(context, Account, "Unpriced pledges", Box::pin(unpriced(context, accepted))),
        task(context, Account, "Months to settle", Box::pin(unsettled(context))),
        task(context, Look, "Unusual transactions", Box::pin(unusual(context))),
        task(context, Operate, "Pledges without updates", Box::pin(untold(context, accepted))),
        task(context, Operate, "The state of the ledger", Box::pin(ledger(context, accepted))),
        task(context, Operate, "The last backup", Box::pin(backup(context))),
        task(context, Operate, "Units without a transaction", Box::pin(idle(context, accepted))),
    ]);
    lines.await.into_iter().flatten().collect()
}

/// Returns the line of a task; `None` if the person lacks the permission, or if there is nothing to do. If reading the
/// task fails, the line says so.
async fn task<S, C, E>(
    context: &PageContext<'_, S, C, E>,
    permission: Permission,
    name: &str,
    read: LocalBoxFuture<'_, Task>,
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
