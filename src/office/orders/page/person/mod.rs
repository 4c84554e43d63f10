//! Erases all transactions of a person, in one unit or in all units in which the ledger finds them, in steps.
//!
//! The person's e-mail address is only in the form. It never appears in a URL, a record or a receipt.

mod find;
mod form;
mod receipt;
mod step;

use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::guard::{Scoped, Units};
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use find::{confirmation, look, summary};
use form::{Asked, TITLE, question};
use maud::html;
use step::step;

/// Shows the form for an e-mail address and a unit. Reads nothing from Workers KV.
pub(crate) async fn person<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    units: &Units,
    query: &Form,
) -> Result {
    let unit = query.given("unit").or_else(|| units.single()).unwrap_or_default();
    Ok(Page::new(TITLE, question(context, [unit, ""], None)))
}

/// Erases all transactions of a person, in steps. First shows a preview of the transactions that the ledger
/// lists, and asks for a confirmation. The first step deletes what is kept of orders of shop systems. Then each step erases at most 20
/// transactions, including those that are only in Workers KV. A step may be repeated.
///
/// Cost of the preview: 3 or 4 ledger queries. Cost of a step: 1 ledger query and at most 40 KV lists. In
/// addition, at most 17 KV calls and 1 ledger query for each transaction. Deliveries of shop systems cost 2 ledger queries, 1 KV read
/// and at most 100 KV writes in a step, and in the first one a KV list for each hour since the last cron.
pub(crate) async fn erase_person<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    owner: &Scoped<Option<KeyLevel>>,
    form: &Form,
) -> Result {
    let asked = match Asked::parse(owner.as_ref(), form) {
        Ok(asked) => asked,
        Err((field, problem)) => {
            let entered = [form.text("unit"), form.text("address")];
            let content = html! {
                (view::form_problem(&problem, Some(field)))
                (question(context, entered, Some((field, &problem))))
            };
            return Ok(Page { status: 422, ..Page::new(TITLE, content) });
        }
    };
    match form.given("confirm") {
        None => look(context, asked).await,
        Some(typed) if typed == asked.word() => step(context, form, asked).await,
        Some(_) => {
            let problem = match asked.unit {
                Some(_) => "nothing was erased: type the unit ID that is shown above",
                None => "nothing was erased: type the words that are shown below",
            };
            let content = html! {
                (view::form_problem(problem, Some("confirm")))
                (summary(asked))
                (confirmation(context, asked, &asked.units(form)?, problem))
            };
            Ok(Page { status: 422, ..Page::new(TITLE, content) })
        }
    }
}
