//! Resends or dismisses many failed notifications, a limited number per request.

use super::groups::{Batch, group_of, service_of};
use super::mails::{TITLE, is_day};
use crate::office::mails::rule as notifications;
use crate::office::mails::rule::{BatchQuery, BatchStep};
use crate::office::orders::page::transaction;
use crate::office::shared::page::change::question_page;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::operation;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::office::shared::page::view::id_link;
use crate::office::shared::rule::delays::SHOWN_SECONDS;
use crate::office::shared::rule::once::Done;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};

/// Maximum number of notifications that one step sends again.
const STEP: usize = 20;
/// Maximum number of notifications that one step dismisses.
const DISMISS_STEP: usize = 100;

/// The counts of all steps so far. The form passes them on to the next step.
#[derive(Clone, Copy)]
struct Progress {
    queued: usize,
    before: usize,
    ended: usize,
    dismissed: usize,
}

impl Progress {
    const NAMES: [&str; 4] = ["queued", "before", "ended", "dismissed"];

    fn new(form: &Form, step: &BatchStep) -> Self {
        let [queued, before, ended, dismissed] =
            Self::NAMES.map(|name| form.text(name).parse().unwrap_or(0));
        Progress {
            queued: step.queued.saturating_add(queued),
            before: step.before.saturating_add(before),
            ended: step.ended.saturating_add(ended),
            dismissed: step.dismissed.saturating_add(dismissed),
        }
    }

    fn hidden(self) -> Markup {
        let counts = [self.queued, self.before, self.ended, self.dismissed];
        html! {
            @for (name, count) in Self::NAMES.iter().zip(counts) { (view::hidden(name, &count.to_string())) }
        }
    }

    fn words(self, batch: &Batch<'_>) -> Markup {
        html! {
            @match batch {
                Batch::Resend => {
                    "Queued: " (self.queued) ". Already queued: " (self.before)
                    ". Sent, skipped or failed again since: " (self.ended) "."
                }
                Batch::Dismiss(_) => {
                    "Dismissed: " (self.dismissed) ". The list may still show them for about " (SHOWN_SECONDS) " s."
                }
            }
        }
    }
}

/// Sends the failed notifications of a day or a group again, 20 per step, or dismisses those of a group, 100 per step. A form
/// about a group is confirmed first. If a form is sent twice, notifications that are already queued are not queued again. Cost of
/// a step: at most 104 KV calls and 101 KV writes, and 20 calls of the queue.
pub(crate) async fn batch<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
) -> Result {
    let (batch, query) = (Batch::of(form)?, query(form)?);
    if query.group.is_some()
        && let Some(page) = question_page(context, form, &batch.question(&query))
    {
        return Ok(page);
    }
    let Done { outcome: step, before } = run(context, &batch, &query).await?;
    let progress = Progress::new(form, &step);
    let content = html! {
        (operation::before(before.as_ref()))
        (stand(&step, &progress.words(&batch)))
        (about(&query))
        (refused(&step))
        @if let Some(next) = &step.next { (next_step(context, form, next, progress, step.untaken)) }
        @match &query.day {
            Some(day) => p { a href={ "/mails?day=" (day) } { "Failed notifications of this day" } },
            None => p { a href="/mails" { "Failed notifications" } },
        }
    };
    Ok(Page::new(TITLE, content))
}

/// Returns what a form is about: the failures of a day, or those of a group.
fn query(form: &Form) -> Result<BatchQuery> {
    let group = group_of(form)?;
    let day = form.given("day").filter(|day| is_day(day)).map(str::to_owned);
    if group.is_none() && (day.is_none() || Batch::is_dismissal(form)) {
        return Err(Refusal::invalid("write the day as 2026-11-21"));
    }
    let from = form.given("from").map(str::to_owned);
    let count = if Batch::is_dismissal(form) { DISMISS_STEP } else { STEP };
    Ok(BatchQuery { day, service: service_of(form)?, group, from, count })
}

async fn run<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    batch: &Batch<'_>,
    query: &BatchQuery,
) -> Result<Done<BatchStep>> {
    let (store, ledger, author) = (context.store, context.ledger, &context.author);
    Ok(match batch {
        Batch::Dismiss(reason) => {
            notifications::dismiss_batch(store, ledger, author, (query, reason)).await?
        }
        Batch::Resend => {
            let outbox = context.outbox.ok_or_else(|| Refusal::invalid(transaction::NO_QUEUE))?;
            let rounds = context.rounds;
            notifications::resend_batch(store, ledger, author, outbox, rounds, query).await?
        }
    })
}

fn about(BatchQuery { day, group, .. }: &BatchQuery) -> Markup {
    html! {
        p.lead {
            "E-mails and messages that failed"
            @if let Some(day) = day { " on " (view::day(&format!("{day}T00:00:00Z"))) }
            @if let Some(group) = group {
                " in the unit " (transaction::unit(&group.scope.unit)) " because of " code { (view::untrusted_text(&group.cause)) }
            }
        }
    }
}

fn stand(step: &BatchStep, words: &Markup) -> Markup {
    match (step.untaken, &step.next) {
        (true, _) => view::problem(
            "the queue did not accept all notifications. Try again later: notifications that are already queued are not queued again",
        ),
        (false, Some(_)) => {
            view::notice(&html! { "There are more of these notifications. " (words) })
        }
        (false, None) => {
            view::done(&html! { "All of these notifications were processed. " (words) })
        }
    }
}

fn refused(step: &BatchStep) -> Markup {
    let row = |(id, why): &(String, String)| vec![id_link(id), html! { (view::sentence(why)) }];
    let rows: Vec<_> = step.refused.iter().map(row).collect();
    html! {
        @if !rows.is_empty() {
            (view::table(&["Transaction", "Why the notification cannot be sent"], &rows, ""))
        }
    }
}

/// Renders the form of the next step, with the fields of this one.
fn next_step<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
    next: &str,
    progress: Progress,
    is_same: bool,
) -> Markup {
    let is_kept = |name: &str| {
        ![operation::FIELD, "from"].contains(&name) && !Progress::NAMES.contains(&name)
    };
    let content = html! {
        @for (name, value) in form.fields().filter(|(name, _)| is_kept(name)) { (view::hidden(name, value)) }
        (view::hidden("from", next))
        (progress.hidden())
        button { @if is_same { "Try again" } @else { "Continue" } }
    };
    context.form("/mails", &content)
}
