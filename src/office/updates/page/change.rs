//! The forms that add, edit, publish and withdraw updates.

use super::form::{CONFIRMED, FormResult, PAGE, sent};
use super::preview::preview;
use super::{month, one};
use crate::office::payments::page::month::MonthSelection;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::problem::FormProblem;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::office::shared::page::{operation, view};
use crate::office::shared::rule::delays::APPLIED_SECONDS;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::once::Done;
use crate::office::shared::rule::refused::Refused;
use crate::office::updates::rows::updates::{Pledges, UpdateState};
use crate::office::updates::rule as updates;
use crate::office::updates::rule::UpdateChange;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};

/// Saves a new draft and shows it, or only shows a preview. Ledger cost: at most 9 calls. KV cost: 1 write.
pub(crate) async fn add<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
) -> Result {
    check_operation(context)?;
    let selection = MonthSelection::read(context, form, PAGE)?;
    let MonthSelection { mode, month } = selection;
    let (wanted, offering) = (sent(form), form.text("offering").to_owned());
    let pledges = Pledges { mode, month, offering };
    let again = |why: Refused| FormResult {
        wanted: Some(wanted.clone()),
        offering: pledges.offering.clone(),
        problem: why.into(),
        ..FormResult::default()
    };
    if let Some(tag) = form.given("preview") {
        let shown = preview(context, &pledges, None, &wanted, tag).await;
        return match shown {
            Err(Refusal::Operator(OperatorError::Invalid(why))) => {
                month::page(context, selection, again(why)).await
            }
            shown => shown,
        };
    }
    let of = (&pledges, None);
    match updates::add(context.store, context.ledger, &context.author, of, &wanted).await {
        Ok(added) => show(context, &added, "The draft was saved.").await,
        Err(OperatorError::Invalid(why)) => month::page(context, selection, again(why)).await,
        Err(error) => Err(error.into()),
    }
}

/// Drafts an update from a fulfilment, and shows it. Ledger cost: at most 6 calls. KV cost: 1 write.
pub(crate) async fn draft<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
) -> Result {
    check_operation(context)?;
    let (store, ledger, id) = (context.store, context.ledger, form.text("id"));
    let added = updates::add_from_fulfilment(store, ledger, &context.author, id).await?;
    let words = "The draft was saved. Write its sentence for buyers, then publish it.";
    show(context, &added, words).await
}

const NOT_CONFIRMED: &str =
    "nothing was saved: buyers see this update. Tick “Change what buyers see” to change it";

/// Saves changes to an update and shows it, or only shows a preview. Asks for confirmation if buyers see the
/// update. Ledger cost: at most 9 calls. KV cost: at most 2 writes.
pub(crate) async fn edit<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    form: &Form,
) -> Result {
    check_operation(context)?;
    let (wanted, revision) = (sent(form), revision(form)?);
    if let Some(tag) = form.given("preview") {
        let row = updates::get(context.ledger, id).await?;
        let shown = preview(context, &row.pledges, Some(&row), &wanted, tag).await;
        return match shown {
            Err(Refusal::Operator(OperatorError::Invalid(why))) => {
                let (wanted, problem) = (Some(wanted), why.into());
                one::page(context, &row, FormResult { wanted, problem, ..FormResult::default() })
                    .await
            }
            shown => shown,
        };
    }
    let (store, ledger) = (context.store, context.ledger);
    if form.given(CONFIRMED).is_none() && context.was_done().await?.is_none() {
        let row = updates::get(ledger, id).await?;
        if row.state == UpdateState::Published {
            let problem = FormProblem::at(CONFIRMED, NOT_CONFIRMED);
            let wanted = Some(wanted);
            let result = FormResult { wanted, problem, ..FormResult::default() };
            return one::page(context, &row, result).await;
        }
    }
    match updates::edit(store, ledger, &context.author, (id, revision), &wanted).await {
        Ok(edited) => show(context, &edited, "The update was saved.").await,
        Err(OperatorError::Invalid(why)) => {
            let row = updates::get(ledger, id).await?;
            let (wanted, problem) = (Some(wanted), why.into());
            one::page(context, &row, FormResult { wanted, problem, ..FormResult::default() }).await
        }
        Err(error) => Err(error.into()),
    }
}

/// Publishes an update and shows it. Ledger cost: at most 9 calls. KV cost: 2 writes.
pub(crate) async fn publish<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    form: &Form,
) -> Result {
    check_operation(context)?;
    let (store, ledger, of) = (context.store, context.ledger, (id, revision(form)?));
    match updates::publish(store, ledger, &context.author, of).await {
        Ok(published) => show(context, &published, "The update was published.").await,
        Err(OperatorError::Invalid(why)) => {
            let row = updates::get(ledger, id).await?;
            let problem = why.into();
            one::page(context, &row, FormResult { problem, ..FormResult::default() }).await
        }
        Err(error) => Err(error.into()),
    }
}

/// Asks for confirmation, then withdraws an update and shows it. Ledger cost: at most 8 calls. KV cost: at
/// most 2 writes.
pub(crate) async fn withdraw<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    form: &Form,
) -> Result {
    if !context.has_operation() {
        let row = updates::get(context.ledger, id).await?;
        return Ok(one::confirm_withdrawal(context, &row));
    }
    let (store, ledger, of) = (context.store, context.ledger, (id, revision(form)?));
    let withdrawn = updates::withdraw(store, ledger, &context.author, of).await?;
    show(context, &withdrawn, "The update was withdrawn. It stays in the list.").await
}

fn check_operation<S, C: Clock, E: Entropy>(context: &PageContext<'_, S, C, E>) -> Result<()> {
    match context.has_operation() {
        true => Ok(()),
        false => Err(Refusal::invalid("some fields are missing. Reload the page and try again")),
    }
}

/// Returns the revision number that the update had when its form was shown.
fn revision(form: &Form) -> Result<u64> {
    let problem = || Refusal::invalid("some fields are missing. Reload the page and try again");
    form.text("revision").parse().map_err(|_| problem())
}

async fn show<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    Done { outcome, before }: &Done<UpdateChange>,
    words: &str,
) -> Result<Page> {
    let UpdateChange { row, is_compiled } = outcome;
    let notice = html! {
        (operation::before(before.as_ref()))
        (view::done(&html! { (words) @if *is_compiled { (when(row.state)) } }))
        @if !is_compiled {
            (view::notice(&html! {
                "Workers KV did not accept the record for timelines, so timelines do not show this \
                 change yet. The next "
                "run of the cron job writes the record again, and so does the next change."
            }))
        }
    };
    one::page(context, row, FormResult { notice, ..FormResult::default() }).await
}

/// Renders how soon timelines show a published update, or stop showing a withdrawn one. Renders nothing for a
/// draft.
fn when(state: UpdateState) -> Markup {
    html! {
        @match state {
            UpdateState::Draft => {}
            UpdateState::Published => { " Timelines show the update after about " (APPLIED_SECONDS) " s." }
            UpdateState::Withdrawn => { " Timelines stop showing the update after about " (APPLIED_SECONDS) " s." }
        }
    }
}
