//! The forms that record a fulfilment (what was done for the pledges of a month), and that remove one.

use super::done::details;
use super::form::{BEYOND, FormResult, PAGE, PATH, confirmation};
use super::overview::page;
use crate::office::fulfilment::rows::fulfilments::{Fulfilment, NewFulfilment, Removal};
use crate::office::fulfilment::rule as fulfilments;
use crate::office::payments::page::month::MonthSelection;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::problem::FormProblem;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::office::shared::page::{operation, view};
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::once::Done;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::html;

/// Records a fulfilment, then shows its month. If its quantity is more than is still to be done, asks for confirmation
/// first. Ledger cost: at most 23 calls. KV cost: 1 write.
pub(crate) async fn record<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
) -> Result {
    if !context.has_operation() {
        return Err(Refusal::invalid("some fields are missing. Reload the page and try again"));
    }
    let selection = MonthSelection::read(context, form, PAGE)?;
    let new = new(selection, form);
    let is_beyond = fulfilments::check(&new, context.clock).is_ok()
        && form.text(BEYOND) != confirmation(form)
        && context.was_done().await?.is_none()
        && fulfilments::beyond(context.store, context.ledger, &new).await?.is_some();
    let refused = |problem: FormProblem, is_beyond| FormResult {
        form: Some(form),
        problem,
        is_beyond,
        ..FormResult::default()
    };
    if is_beyond {
        let problem = "the quantity exceeds what is still to be done for this month. Check the \
                       quantity, then confirm";
        return page(context, selection, refused(FormProblem::at("quantity", problem), true)).await;
    }
    match fulfilments::add(context.store, context.ledger, &context.author, &new).await {
        Ok(added) => page(context, selection, recorded(&added)).await,
        Err(OperatorError::Invalid(why)) => {
            page(context, selection, refused(why.into(), false)).await
        }
        Err(error) => Err(error.into()),
    }
}

fn new(MonthSelection { mode, month }: MonthSelection, form: &Form) -> NewFulfilment {
    let given = |name| form.given(name).map(str::to_owned);
    NewFulfilment {
        mode,
        month,
        offering: form.text("offering").to_owned(),
        quantity: form.text("quantity").to_owned(),
        done_on: form.text("done-on").to_owned(),
        partner: given("partner"),
        place: given("place"),
        report: given("report"),
    }
}

fn recorded(Done { outcome, before }: &Done<Fulfilment>) -> FormResult<'static> {
    let Fulfilment { done, .. } = outcome;
    let words = html! { (done.quantity) " " (view::untrusted_text(&done.offering)) " was recorded as done." };
    let notice = html! { (operation::before(before.as_ref())) (view::done(&words)) };
    FormResult { notice, ..FormResult::default() }
}

// ---- Remove --------------------------------------------------------------------------------------

/// Asks for confirmation. Once the person has confirmed, removes a fulfilment and shows its month. Ledger cost: at most
/// 19 calls. KV cost: 1 write.
pub(crate) async fn remove<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
) -> Result {
    let id = form.text("id");
    if !context.has_operation() {
        return confirm(context, id).await;
    }
    let removed = fulfilments::remove(context.store, context.ledger, &context.author, id).await?;
    let Fulfilment { done, .. } = &removed.outcome;
    let words = html! {
        (done.quantity) " " (view::untrusted_text(&done.offering)) " was removed. It stays in the audit log."
    };
    let notice = html! { (operation::before(removed.before.as_ref())) (view::done(&words)) };
    let selection = MonthSelection { mode: done.mode, month: done.month };
    page(context, selection, FormResult { notice, ..FormResult::default() }).await
}

async fn confirm<S, C: Clock, E: Entropy>(context: &PageContext<'_, S, C, E>, id: &str) -> Result {
    let found = fulfilments::get(context.ledger, id).await?;
    let Fulfilment { done, by, at, removed, .. } = &found;
    if let Some(Removal { at, by }) = removed {
        return Err(Refusal::invalid(format!(
            "nothing was removed: {by} already removed this record at {at}"
        )));
    }
    let selection = MonthSelection { mode: done.mode, month: done.month };
    let content = html! {
        section {
            (view::facts(&[
                ("Offering", view::untrusted_text(&done.offering)),
                ("Quantity", html! { (done.quantity) }),
                ("Pledged in", html! { (view::month(done.month)) " (" (done.mode.name()) " mode)" }),
                ("Done on", view::day(&[&done.done_on, "T00:00:00Z"].concat())),
                ("Details", details(done)),
                ("Recorded by", html! { (view::untrusted_text(by)) " on " (view::time(at)) }),
            ]))
            (context.form("/fulfilment/remove", &html! {
                (view::hidden("id", id))
                button.alarm { "Remove" }
            }))
        }
        p { "Nothing was changed yet. " a href=(selection.address(PATH)) { "Back" } }
    };
    Ok(Page::new("Remove this fulfilment?", content))
}
