//! The erasure of a transaction's personal data.

use crate::office::mails::rule::{State, Status};
use crate::office::orders::operation::ERASE;
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::{ERASABLE_MINUTES, Record};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::fields::OperationForm;
use crate::office::shared::page::link;
use crate::pledges::service::{Clock, Entropy};
use maud::{Markup, html};

/// Renders the form that erases a transaction. If erasing is not possible yet, or has nothing left to do,
/// renders only a text that says so. `erased` is the time of an earlier erasure, if there was one.
pub(super) fn section<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Record,
    (id, erased): (&str, Option<Markup>),
    notifications: &[Status],
) -> Markup {
    if erased.is_none() && transactions::check_erasable(context.clock, record).is_err() {
        return html! {
            p { "This transaction can be erased " (ERASABLE_MINUTES) " minutes after it was created. Reload this page then." }
        };
    }
    let was_notified = notifications.iter().any(|status| status.state != State::NotAsked);
    let action = link::path(&["transactions", id, "erase"]);
    let form =
        OperationForm { leave_out: &["email", "unit"], ..OperationForm::new(&ERASE, &action) };
    html! {
        @if let Some(at) = &erased {
            p {
                "This transaction was erased on " (at) "."
                @if was_notified {
                    " A notification that was being sent at that time may have stored data after the \
                     erasure. Erasing again "
                    "removes this data."
                }
            }
        }
        @if erased.is_none() || was_notified { (context.operation_form(form)) }
    }
}
