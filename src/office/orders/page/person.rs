//! Erases all transactions of a person, in one unit or in all units in which the ledger finds them, in steps.
//!
//! The person's e-mail address is only in the form. It never appears in a URL, a record or a receipt.

use crate::office::orders::operation::ERASE;
use crate::office::orders::rule::ERASABLE_MINUTES;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::fields::OperationForm;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::guard::{Scoped, Units};
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::pledges::service::{Clock, Entropy};
use maud::html;

const TITLE: &str = "Erase a person";

/// Shows the form for an e-mail address and a unit. Reads nothing from Workers KV.
pub(crate) async fn person<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    units: &Scoped<Units>,
    query: &Form,
) -> Result {
    let unit = query.given("unit").or_else(|| units.single()).unwrap_or_default();
    Ok(page(context, unit))
}

/// Shows what an erasure did, or its form if it was refused.
pub(crate) async fn erased<S, C: Clock, E: Entropy>(context: &PageContext<'_, S, C, E>) -> Result {
    Ok(match context.is_done() {
        true => {
            let copy = "Copy the receipt. It does not contain the e-mail address.";
            Page::new(
                TITLE,
                html! { p { (copy) } p { a href="/person" { "Erase another person" } } },
            )
        }
        false => page(context, ""),
    })
}

fn page<S, C: Clock, E: Entropy>(context: &PageContext<'_, S, C, E>, unit: &str) -> Page {
    let content = html! {
        p.lead {
            "Erases a person's data from transactions, in live and test mode. The recipient's \
             details and all texts are deleted from each transaction with this e-mail address."
        }
        section {
            (context.operation_form(OperationForm {
                values: &[("unit", unit)],
                button: "Find transactions",
                ..OperationForm::new(&ERASE, "/person")
            }))
        }
        p { small { "A transaction can be erased " (ERASABLE_MINUTES) " minutes after it was created." } }
    };
    Page::new(TITLE, content)
}
