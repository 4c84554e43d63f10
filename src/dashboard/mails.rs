//! E-mails that failed.

use super::form::Form;
use super::frame::Page;
use super::transaction::{self, id_link};
use super::{Desk, Result, mail_state, view};
use crate::handle::{Clock, Entropy};
use crate::operator::delays::SHOWN_SECONDS;
use crate::operator::notifications::{self, FailedMail, FailedQuery, Failures, State};
use crate::pledge::TransactionId;
use crate::store::{FAILED_MAIL_DAYS, OperatorStore};
use crate::time::parse_ms;
use maud::{Markup, html};

/// How many are listed.
const LIMIT: usize = 20;

/// E-mails that failed, of a day or the newest ones, with what has become of them since. At most 152 calls
/// of Workers KV: a list of all, or one for each of 91 days if there are over 1,000, and three reads
/// for each that is shown.
pub(super) async fn mails<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    query: &Form,
) -> Result {
    let day = query.given("day");
    if day.is_some_and(|day| !is_day(day)) {
        let problem = view::problem("a day is written as 2026-11-21");
        let content = html! { (problem) (filter("")) };
        return Ok(Page { status: 422, ..Page::new(TITLE, content) });
    }
    let after = query.given("after").filter(|after| is_place(after));
    let wanted =
        FailedQuery { day: day.map(str::to_owned), limit: LIMIT, after: after.map(str::to_owned) };
    let failures = notifications::failed(desk.store, desk.clock, &wanted).await?;
    let content = html! {
        p.lead { "E-mails that failed within " (FAILED_MAIL_DAYS) " days, the newest first, with what became of them since." }
        (filter(day.unwrap_or_default()))
        (list(&failures, desk.outbox.is_some()))
        @if failures.more { (go_on(day, &failures)) }
        p { small {
            "An e-mail of which nothing was heard is in no list: look at its transaction. One that \
             failed within the last " (SHOWN_SECONDS) " s may be missing here."
        } }
    };
    Ok(Page::new(TITLE, content))
}

const TITLE: &str = "E-mails that failed";

fn is_day(text: &str) -> bool {
    text.len() == "2026-11-21".len() && parse_ms(&format!("{text}T00:00:00Z")).is_some()
}

fn is_place(text: &str) -> bool {
    let parts = text.split_once(':');
    parts.is_some_and(|(day, id)| is_day(day) && TransactionId::parse(id).is_some())
}

fn filter(day: &str) -> Markup {
    let label = "Day in UTC, such as 2026-11-21";
    let field = view::Field { name: "day", label, value: day, ..view::Field::default() };
    html! {
        form method="get" action="/mails" {
            div.row { (field.render()) button.quiet { "Show" } }
        }
    }
}

fn list(failures: &Failures, has_queue: bool) -> Markup {
    let days = failures.failed.chunk_by(|one, next| one.day == next.day);
    html! {
        @if failures.failed.is_empty() { p { "No e-mail is listed as failed." } }
        @for failed in days {
            section {
                h2 { (view::day(&day_begins(failed))) }
                ul.plain { @for failed in failed { li { (item(failed, has_queue)) } } }
            }
        }
    }
}

fn day_begins(failed: &[FailedMail]) -> String {
    failed.first().map(|failed| format!("{}T00:00:00Z", failed.day)).unwrap_or_default()
}

fn item(failed: &FailedMail, has_queue: bool) -> Markup {
    html! {
        p { (id_link(&failed.id)) }
        @match &failed.now {
            Some(now) => {
                p {
                    (transaction::unit(&now.unit)) " to " (view::told(&now.recipient)) " "
                    @if !now.mode.is_live() { (transaction::mode(false)) }
                }
                p {
                    (mail_state::tag(&mail_state::words(&now.mail))) " "
                    (mail_state::words(&now.mail).advice)
                    @if let Some(code) = &now.mail.reason { " " code { (code) } }
                }
                @if has_queue && matches!(now.mail.state, State::Failed | State::Skipped) {
                    (transaction::resend_form(&failed.id, &now.mail))
                }
            }
            None => p { (view::marked(&view::sentence(failed.problem.as_deref().unwrap_or_default()))) }
        }
    }
}

fn go_on(day: Option<&str>, failures: &Failures) -> Markup {
    let last = failures.failed.last().map(|last| format!("after={}:{}", last.day, last.id));
    let day = day.map(|day| format!("day={day}"));
    let query = [day, last].into_iter().flatten().collect::<Vec<_>>().join("&");
    html! { p { a href={ "/mails?" (query) } { "Go on" } } }
}
