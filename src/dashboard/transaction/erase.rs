//! The erasure of a transaction's personal data.

use super::page::refused;
use crate::dashboard::form::Form;
use crate::dashboard::guard::Scoped;
use crate::dashboard::page::Page;
use crate::dashboard::view::id_link;
use crate::dashboard::{PageContext, Refusal, Result, operation, view};
use crate::operator::delays::SHOWN_SECONDS;
use crate::operator::transactions::Record;
use crate::operator::{Done, OperatorError, transactions};
use crate::service::{Clock, Entropy};
use crate::store::OperatorStore;
use maud::html;

/// Erases a transaction's personal data, if the person has typed the transaction's ID to confirm. Sending the form
/// again is safe. KV cost: at most 7 reads and 10 writes.
pub(in crate::dashboard) async fn erase<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Scoped<Record>,
    form: &Form,
) -> Result {
    if form.text("id") != record.id() {
        let problem = "nothing was erased: type the transaction ID that is at the top of the page";
        return refused(context, record, problem).await;
    }
    let done = transactions::erase(context.store, context.ledger, &context.author, record).await;
    let Done { outcome: erased, before } = match done {
        Err(OperatorError::Invalid(problem)) => return refused(context, record, &problem).await,
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
