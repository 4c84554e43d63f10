//! The erasure of a transaction's personal data.

use super::parts::id_link;
use super::refused;
use crate::dashboard::form::Form;
use crate::dashboard::layout::Page;
use crate::dashboard::{PageContext, Refusal, Result, link, operation, view};
use crate::operator::delays::SHOWN_SECONDS;
use crate::operator::notifications::{State, Status};
use crate::operator::transactions::{self, ERASABLE_MINUTES, Record};
use crate::operator::{Done, OperatorError};
use crate::service::{Clock, Entropy};
use crate::store::OperatorStore;
use maud::{Markup, html};

/// Renders the form that erases a transaction, if that can be done now. `erased` is when it was erased before.
pub(super) fn section<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Record,
    (id, erased): (&str, Option<&str>),
    mail: &Status,
) -> Markup {
    if erased.is_none() && transactions::check_erasable(context.clock, record).is_err() {
        return html! {
            p { "This transaction can be erased " (ERASABLE_MINUTES) " minutes after it was created. Reload this page then." }
        };
    }
    let has_mail = mail.state != State::NotAsked;
    html! {
        @match erased {
            None => p {
                "Permanently deletes the recipient's details and all texts. This cannot be undone. Offerings, \
                 quantities, times and the charge are kept for accounting. Backups and the shop's own systems \
                 still have the data."
            },
            Some(at) => p {
                "This transaction was erased on " (view::time(at)) "."
                @if has_mail {
                    " Erasing it again removes data that an e-mail that was being sent at that time may have left."
                }
            },
        }
        @if erased.is_none() || has_mail { (form(context, id)) }
    }
}

fn form<S, C: Clock, E: Entropy>(context: &PageContext<'_, S, C, E>, id: &str) -> Markup {
    let field = view::Field {
        name: "id",
        label: "Type the transaction ID to confirm",
        hint: "It is at the top of this page.",
        required: true,
        ..view::Field::default()
    };
    let content = html! { (field.render()) button.alarm { "Erase permanently" } };
    context.form(&link::path(&["transactions", id, "erase"]), &content)
}

/// Erases a transaction's personal data, if the person has typed its ID. The form may be sent again. KV cost: at most 7
/// reads, 10 writes.
pub(in crate::dashboard) async fn erase<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    form: &Form,
) -> Result {
    let record = transactions::get(context.store, id).await?;
    if form.text("id") != id.trim() {
        let problem = "nothing was erased: type the transaction ID that is at the top of the page";
        return refused(context, &record, problem).await;
    }
    let done = transactions::erase(context.store, context.ledger, &context.author, &record).await;
    let Done { outcome: erased, before } = match done {
        Err(OperatorError::Invalid(problem)) => return refused(context, &record, &problem).await,
        outcome => outcome.map_err(Refusal::from)?,
    };
    let content = html! {
        (operation::before(before.as_ref()))
        (view::done(&html! {
            (id_link(&erased.id))
            @match &erased.before {
                None => " was erased.",
                Some(before) => { " was already erased on " (view::time(before)) "." }
            }
        }))
        p {
            "Offerings, quantities, times and the charge are kept. The page of the transaction may still show \
             the erased data for about " (SHOWN_SECONDS) " s. Backups and the shop's own systems still have it."
        }
    };
    Ok(Page::new("Erased", content))
}
