use crate::office::mails::rule::{State, Status};
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::{ERASABLE_MINUTES, Record};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::{link, view};
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
    html! {
        @match &erased {
            None => p {
                "Permanently deletes the recipient's details and all texts. This cannot be undone. Offerings, \
                 quantities, times and the charge are kept for accounting. Backups and the shop's own systems \
                 still have the data."
            },
            Some(at) => p {
                "This transaction was erased on " (at) "."
                @if was_notified {
                    " A notification that was being sent at that time may have stored data after the \
                     erasure. Erasing again "
                    "removes this data."
                }
            },
        }
        @if erased.is_none() || was_notified { (form(context, id, "", "")) }
    }
}

/// Renders the form, with the ID that was entered and what is wrong with it.
pub(super) fn form<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    entered: &str,
    problem: &str,
) -> Markup {
    let field = view::Field {
        name: "id",
        label: "Type the transaction ID to confirm",
        value: entered,
        problem,
        hint: "It is at the top of this page.",
        required: true,
        ..view::Field::default()
    };
    let content = html! { (field.render()) button.alarm { "Erase permanently" } };
    context.form(&link::path(&["transactions", id, "erase"]), &content)
}
