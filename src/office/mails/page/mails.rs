//! The page of failed e-mails and messages, with the forms that send or dismiss many of them.

use super::groups;
use super::mail_state;
use crate::office::mails::operation::RESEND;
use crate::office::mails::rule as notifications;
use crate::office::mails::rule::{FailedMail, FailedQuery, Failures, Resendable, State};
use crate::office::orders::page::transaction;
use crate::office::shared::operation::facts::Fact;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::fields::OperationForm;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::unit_names::UnitNames;
use crate::office::shared::page::{facts, view};
use crate::office::shared::rule::delays::SHOWN_SECONDS;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{FAILED_MAIL_DAYS, OperatorStore};
use crate::pledges::time::parse_ms;
use crate::pledges::types::TransactionId;
use maud::{Markup, html};

/// Notifications per page.
const LIMIT: usize = 20;

/// Shows the failed notifications of a day with their current state. Without a day, shows the newest ones.
///
/// Ledger cost: 3 queries. KV cost: at most 250 calls:
/// - 1 list and 1 read, and 31 more lists if more than 1,000 failed;
/// - 3 calls for each of up to 20 notifications;
/// - 1 list and 30 reads for the groups of the first page;
/// - 63 calls for each of up to two days that the page shows only in part.
pub(crate) async fn mails<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    let day = query.given("day");
    if day.is_some_and(|day| !is_day(day)) {
        let problem = "write the day as 2026-11-21";
        let content = html! {
            (view::form_problem(problem, Some("day")))
            (filter(query.text("day"), problem))
        };
        return Ok(Page { status: 422, ..Page::new(TITLE, content) });
    }
    let after = query.given("after").filter(|after| is_place(after));
    let wanted = FailedQuery {
        day: day.map(str::to_owned),
        service: None,
        limit: LIMIT,
        after: after.map(str::to_owned),
    };
    let failures = notifications::failed(context.store, context.clock, &wanted).await?;
    let content = html! {
        p.lead { "E-mails and messages that failed in the last " (FAILED_MAIL_DAYS) " days, newest first, with their current state." }
        @if day.is_none() && after.is_none() { (groups::by_cause(context).await?) }
        (filter(day.unwrap_or_default(), ""))
        (list(context, &failures, after).await?)
        @if failures.more { (go_on(day, &failures)) }
        p { small {
            "Notifications without a delivery result are not listed here: open the transaction to see them. Failures of the last " (SHOWN_SECONDS) " s may be missing."
        } }
    };
    Ok(Page::new(TITLE, content))
}

/// Shows a link to the list after failed notifications were resent or dismissed. If the form was refused, shows the list.
pub(crate) async fn handled<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
) -> Result {
    match context.is_done() {
        true => {
            let note = html! { p { small { "The list may still show them for about " (SHOWN_SECONDS) " s." } } };
            let content = html! { p { a href="/mails" { "Failed notifications" } } (note) };
            Ok(Page::new(TITLE, content))
        }
        false => mails(context, &Form::default()).await,
    }
}

const TITLE: &str = "Failed e-mails and messages";

fn is_day(text: &str) -> bool {
    text.len() == "2026-11-21".len() && parse_ms(&format!("{text}T00:00:00Z")).is_some()
}

fn is_place(text: &str) -> bool {
    let parts = text.split_once(':');
    parts.is_some_and(|(day, rest)| {
        let id = rest.split(':').next().unwrap_or_default();
        is_day(day) && TransactionId::parse(id).is_some()
    })
}

fn filter(day: &str, problem: &str) -> Markup {
    let field = view::Field {
        name: "day",
        label: "Day (UTC)",
        value: day,
        kind: "date",
        problem,
        ..view::Field::default()
    };
    view::filter("/mails", &html! { div.row { (field.render()) button.quiet { "Show" } } })
}

async fn list<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    failures: &Failures,
    after: Option<&str>,
) -> Result<Markup> {
    let shown = failures.failed.iter().filter_map(|failed| failed.now.as_ref());
    let names = context.names_of(shown.map(|now| &*now.scope.unit)).await;
    let days: Vec<_> = failures.failed.chunk_by(|one, next| one.day == next.day).collect();
    let mut forms = Vec::with_capacity(days.len());
    for (index, failed) in days.iter().enumerate() {
        let is_last = index + 1 == days.len();
        let is_part = is_last && failures.more || is_begun(after, failed);
        forms.push(day_form(context, failed, is_part).await?);
    }
    Ok(html! {
        @if days.is_empty() { p { "No failed e-mails or messages." } }
        @for (failed, form) in days.into_iter().zip(forms) {
            section {
                h2 { (view::day(&day_begins(failed))) }
                (form)
                ul.plain { @for failed in failed { li { (item(context, failed, &names)) } } }
            }
        }
    })
}

/// Returns whether this page continues a day whose failures begin on the previous page of the list.
fn is_begun(after: Option<&str>, failed: &[FailedMail]) -> bool {
    let last = after.and_then(|after| after.split_once(':')).map(|(day, _)| day);
    last.is_some_and(|last| failed.first().is_some_and(|first| first.day == last))
}

/// Renders the form that sends the failed notifications of a day again, or a sentence if none of them can be
/// sent. If `is_part` is true, the page may not show all notifications of the day. In this case they are
/// counted first, at a KV cost of 1 list and at most 62 reads.
async fn day_form<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    failed: &[FailedMail],
    is_part: bool,
) -> Result<Markup> {
    let Some(FailedMail { day, .. }) = failed.first().filter(|_| context.outbox.is_some()) else {
        return Ok(html! {});
    };
    let found = match is_part {
        true => notifications::resendable(context.store, context.clock, day).await?,
        false => shown(day, failed),
    };
    if found == Resendable::default() {
        return Ok(html! { p.soft { "None of these notifications can be sent again." } });
    }
    let Resendable { count, has_more } = found;
    let button = match (has_more, count) {
        (true, _) => "Send all failed notifications of this day again".to_owned(),
        (_, 1) => "Send the failed notification of this day again".to_owned(),
        _ => format!("Send {count} failed notifications of this day again"),
    };
    Ok(html! {
        (context.operation_form(OperationForm {
            fixed: &[("failed-on", day)],
            button: &button,
            ..OperationForm::new(&RESEND, "/mails")
        }))
        p { small {
            @if has_more { "At least " (count) ", including those of this day that are not shown here. " }
            @else if is_part { "This includes failed notifications of this day that are not shown here. " }
            "Each notification is sent once. It is left out if its address is blocked, or if it is no \
             longer in the state “failed”."
        } }
    })
}

/// Counts the notifications that can be sent again. `failed` contains all failed notifications of the day.
fn shown(day: &str, failed: &[FailedMail]) -> Resendable {
    let now = failed.iter().filter_map(|failed| failed.now.as_ref());
    let count = now.filter(|now| notifications::is_resendable(day, &now.mail)).count();
    Resendable { count, has_more: false }
}

fn day_begins(failed: &[FailedMail]) -> String {
    failed.first().map(|failed| format!("{}T00:00:00Z", failed.day)).unwrap_or_default()
}

fn item<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    failed: &FailedMail,
    names: &UnitNames,
) -> Markup {
    let has_queue = context.outbox.is_some();
    let reference = failed.now.as_ref().map(|now| &*now.reference);
    html! {
        p {
            (facts::inline(&Fact::order(&failed.id, reference)))
            @if !failed.service.is_email() { " " span.tag { (failed.service.name()) } }
        }
        @match &failed.now {
            Some(now) => {
                p {
                    (names.link(&now.scope.unit)) " to " (view::untrusted_text(&now.recipient)) " "
                    @if !now.scope.mode.is_live() { (transaction::mode(false)) }
                }
                p {
                    (mail_state::tag(&now.mail)) " " (mail_state::explanation(&now.mail))
                    @if let Some(code) = notifications::words(&now.mail).code { " " code { (view::untrusted_text(code)) } }
                }
                @if has_queue && matches!(now.mail.state, State::Failed | State::Skipped) && notifications::can_be_sent(&now.mail) {
                    (transaction::resend_form(context, &failed.id, &now.mail))
                }
            }
            None => p { (view::inline_code(&view::sentence(failed.problem.as_deref().unwrap_or_default()))) }
        }
    }
}

fn go_on(day: Option<&str>, failures: &Failures) -> Markup {
    let last = failures.failed.last().map(|last| format!("after={}", last.position()));
    let day = day.map(|day| format!("day={day}"));
    let query = [day, last].into_iter().flatten().collect::<Vec<_>>().join("&");
    html! { p { a href={ "/mails?" (query) } { "Older" } } }
}
