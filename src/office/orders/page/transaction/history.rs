//! The history of a transaction, and who may do what the page does not offer.

use crate::buyer::updates::Stage;
use crate::office::credit_requests::rows::requests::{Decision, RequestRow};
use crate::office::mails::page::mail_state;
use crate::office::orders::operation::{NOTE, NOTE_DONE};
use crate::office::orders::rows::notes::{HandOver, Note};
use crate::office::orders::rule::{Event, EventKind, History};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::fields::OperationForm;
use crate::office::shared::page::link;
use crate::office::shared::page::list_times::ListTimes;
use crate::office::shared::page::view;
use crate::office::shared::rule::roles::Permission;
use crate::pledges::service::{Clock, Entropy};
use maud::{Markup, html};

/// Renders the events in the order of time. The reason of a credit is for people who may credit.
pub(super) fn section<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    history: &History,
    times: &ListTimes<'_, C>,
) -> Markup {
    html! {
        section #history {
            h2 { "History" }
            ol.plain.history {
                @for event in history.events.iter().filter(|event| may_see(context, event)) { li { (when(event, times)) " " (what(context, history, event)) } }
            }
            @if history.lacks_credits { p.problem { "The ledger does not answer, so credits and notes are not shown." } }
            @if history.lacks_updates {
                p.problem { "Some records could not be read, so updates or a cancellation may be missing." }
            }
            (form(context, &history.row.id))
        }
    }
}

/// Returns whether the person may see an event. People of shops do not see the notes of the service's staff.
fn may_see<S, C, E>(context: &PageContext<'_, S, C, E>, event: &Event) -> bool {
    match &event.kind {
        EventKind::Noted(note) | EventKind::HandOverEnded(note) => {
            note.by_shop || !context.is_of_shop()
        }
        _ => true,
    }
}

/// Renders the form that writes a note.
fn form<S, C: Clock, E: Entropy>(context: &PageContext<'_, S, C, E>, id: &str) -> Markup {
    let action = link::path(&["transactions", id, "note"]);
    html! {
        details {
            summary { "Write a note" }
            (context.operation_form(OperationForm::new(&NOTE, &action)))
            @if context.is_of_shop() {
                p { small { "The people of your shop and the operators of this service see the note." } }
            }
        }
    }
}

fn when<C: Clock>(event: &Event, times: &ListTimes<'_, C>) -> Markup {
    match event.kind {
        EventKind::Paid | EventKind::Updated { .. } => view::day(&event.at),
        _ => times.text(&event.at),
    }
}

fn what<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    history: &History,
    event: &Event,
) -> Markup {
    let sees_reasons = context.may(Permission::Account) || context.is_of_shop();
    match &event.kind {
        EventKind::Created => html! { "Created" },
        EventKind::Notified(status) => {
            let service = if status.service.is_email() { "E-mail" } else { status.service.name() };
            html! { (service) ": " (mail_state::tag(status)) }
        }
        EventKind::Paid => html! { "The month was paid" },
        EventKind::Credited(credit) => html! {
            "Credited: " (view::money(&credit.amount(), &credit.currency))
            " by " (context.author_of(&credit.author, history.is_at_once(credit)))
            @if context.may(Permission::Account) { ": " (view::untrusted_text(&credit.reason)) }
        },
        EventKind::CreditRequested(request) => html! {
            "Credit requested: " (view::money(&request.amount(), &request.currency))
            " by " (context.author_of(&request.author, request.by_shop == 1))
            @if sees_reasons { ": " (view::untrusted_text(request.reason())) }
            @if request.is_open() { ". " strong { "Not decided yet." } }
        },
        EventKind::CreditRefused(request) => refused(context, request, sees_reasons),
        EventKind::Cancelled => html! { "Cancelled: the timeline says so" },
        EventKind::Updated { offering, stage } => {
            html! { "The timeline shows " (view::untrusted_text(offering)) ": " (words(*stage)) }
        }
        EventKind::Noted(note) => noted(context, note),
        EventKind::HandOverEnded(note) => html! {
            "Hand-over to " (note.role.map_or("", HandOver::name)) " ended by "
            (context.author_of(note.ended_by.as_deref().unwrap_or_default(), false))
        },
        EventKind::Erased => html! { "Personal data erased" },
    }
}

fn refused<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    request: &RequestRow,
    sees_reasons: bool,
) -> Markup {
    let Some(Decision { decider, decider_of_shop, .. }) = &request.decision else {
        return html! {};
    };
    let by_shop = *decider_of_shop == 1;
    html! {
        "Requested credit " @if by_shop { "withdrawn" } @else { "refused" }
        " by " (context.author_of(decider, by_shop))
        @if sees_reasons { ": " (view::untrusted_text(request.answer.as_deref().unwrap_or_default())) }
    }
}

/// Renders a note. The service's staff can end its hand-over.
fn noted<S, C: Clock, E: Entropy>(context: &PageContext<'_, S, C, E>, note: &Note) -> Markup {
    let action = link::path(&["transactions", &note.id, "note", "done"]);
    let number = note.number.to_string();
    let fixed = [("number", &*number)];
    let done = OperationForm { fixed: &fixed, ..OperationForm::new(&NOTE_DONE, &action) };
    html! {
        "Note by " (context.author_of(&note.author, note.by_shop)) ": " (view::untrusted_text(&note.text))
        @if let Some(role) = note.role {
            " " span.tag.note { "Handed over to " (role.name()) }
            @if note.is_open() && !context.is_of_shop() { (context.operation_form(done)) }
        }
    }
}

fn words(stage: Stage) -> &'static str {
    match stage {
        Stage::Funded => "funded",
        Stage::UnderWay => "under way",
        Stage::Done => "done",
        Stage::Verified => "verified",
    }
}

/// Says which role may do what the page does not offer to the person. `manages` is whether the person may see personal data.
pub(super) fn others<S, C, E>(context: &PageContext<'_, S, C, E>, manages: bool) -> Markup {
    let sees = context.may(Permission::Support) || context.is_of_shop();
    let text = match (context.is_of_shop(), manages) {
        (true, true) => return html! {},
        (true, false) => {
            "Managers of the shop see personal data, send e-mails again, request credits and erase."
        }
        (false, true) => return html! {},
        (false, false) if !sees => {
            "Support and operators see the recipient and send e-mails again. Operators and managers of the shop see \
             personal data and erase."
        }
        (false, false) if context.may(Permission::Account) => {
            "Operators and managers of the shop see personal data and erase."
        }
        (false, false) => {
            "Accounts and operators credit transactions. Operators and managers of the shop see personal data and erase."
        }
    };
    html! { p.soft { (text) } }
}
