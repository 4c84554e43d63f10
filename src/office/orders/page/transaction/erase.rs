//! The erasure of a transaction's personal data.

use super::erase_form::form as erase_form;
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::Record;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::guard::Scoped;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view::id_link;
use crate::office::shared::page::{operation, view};
use crate::office::shared::rule::delays::SHOWN_SECONDS;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::once::Done;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::html;

/// Erases a transaction's personal data, if the person has typed the transaction's ID to confirm. Sending the form
/// again is safe. KV cost: at most 7 reads and 10 writes.
pub(crate) async fn erase<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Scoped<Record>,
    form: &Form,
) -> Result {
    if form.text("id") != record.id() {
        let problem = "nothing was erased: type the transaction ID that is at the top of the page";
        return Ok(refused(context, record, form, problem));
    }
    let done = transactions::erase(context.store, context.ledger, &context.author, record).await;
    let Done { outcome: erased, before } = match done {
        Err(OperatorError::Invalid(why)) => return Ok(refused(context, record, form, &why.text)),
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
             the erased data for about " (SHOWN_SECONDS) " s. Backups and the shop's own systems still have the data."
        }
    };
    Ok(Page::new("Erased", content))
}

/// Shows the form again, with the ID that was entered and what is wrong.
fn refused<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Record,
    entered: &Form,
    problem: &str,
) -> Page {
    let id = record.id();
    let content = html! {
        (view::form_problem(problem, Some("id")))
        p.lead { "Transaction " (id_link(id)) }
        section { (erase_form(context, id, entered.text("id"), problem)) }
    };
    Page { status: 422, ..Page::new("Nothing was erased", content) }
}
