//! A notification of a transaction: its state, and the form that sends it again.

use crate::office::mails::operation::RESEND;
use crate::office::mails::page::mail_state;
use crate::office::mails::rule as notifications;
use crate::office::mails::rule::{State, Status};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::fields::OperationForm;
use crate::office::shared::page::link;
use crate::office::shared::page::list_times::ListTimes;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::types::NotificationService;
use maud::{Markup, html};

/// Renders the state of a notification. Adds the form for a resend if a resend may help and the person has
/// the permission.
pub(super) fn section<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    (status, times): (&Status, &ListTimes<'_, C>),
    may_send: bool,
) -> Markup {
    let service = status.service;
    let (anchor, heading) = match service.is_email() {
        true => ("mail", "E-mail"),
        false => (service.name(), service.name()),
    };
    let is_asked = !matches!(status.state, State::NotAsked | State::Erased);
    html! {
        section #(anchor) {
            h2 { (heading) }
            (mail_state::facts(status, times, !context.is_of_shop()))
            @if is_asked {
                p { a href=(preview_path(id, service)) { "Preview" } " (personal data masked)" }
            }
            @if notifications::can_be_sent(status) && may_send {
                @if context.outbox.is_some() { (resend_form(context, id, status)) } @else { p { (NO_QUEUE) } }
            }
        }
    }
}

fn preview_path(id: &str, service: NotificationService) -> String {
    let path = link::path(&["transactions", id, "mail"]);
    if service.is_email() { path } else { [&path, "?service=", service.name()].concat() }
}

const NO_QUEUE: &str = "This dashboard cannot send notifications, because it is not bound to the service's queue. To change this, bind \
     NOTIFICATIONS in wrangler.dashboard.toml and deploy again.";

/// Renders the form that sends a notification again.
pub(crate) fn resend_form<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    status: &Status,
) -> Markup {
    context.operation_form(OperationForm {
        fixed: &[("service", status.service.name())],
        button: "Send again",
        ..OperationForm::new(&RESEND, &link::path(&["transactions", id, "mail"]))
    })
}
