//! The form that replaces a key by a new one.

use super::changed::{back, level, new_key};
use super::list::level_fields;
use crate::office::keys::operation::{ROTATE, facts};
use crate::office::keys::rule as keys;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::facts as fact_list;
use crate::office::shared::page::fields::OperationForm;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::html;

/// The choices for how long a replaced key keeps working: the duration, and the label of the choice.
const KEEPS: [(&str, &str); 4] =
    [("0", "Revoke it now"), ("1h", "1 hour"), ("24h", "24 hours"), ("7d", "7 days")];

/// Asks how long the old key is to keep working. KV cost: 1 read.
pub(crate) async fn replace<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
) -> Result {
    let (level, key) = (level(form)?, form.text("key"));
    let Some(row) = keys::get(context.store, key).await? else {
        let problem =
            "this key no longer exists: it was revoked or has expired. Nothing was changed";
        return Err(Refusal::invalid(problem));
    };
    let fixed = [&[("key", key)][..], &[level_fields(&level)]].concat();
    let content = html! {
        section {
            (fact_list::list(&facts(&row, &context.author)))
            (context.operation_form(OperationForm {
                fixed: &fixed,
                values: &[("keep", "24h")],
                menus: &[("keep", &KEEPS)],
                ..OperationForm::new(&ROTATE, "/keys/rotate")
            }))
        }
        p { "The new key has the same permissions as the old one, and is shown once. Nothing was changed yet." }
        (back(&level))
    };
    Ok(Page::new("Replace a key", content))
}

/// Explains how to use the new key. If the form was refused, shows it again.
pub(crate) async fn rotated<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
) -> Result {
    if !context.is_done() {
        return match replace(context, form).await {
            Err(Refusal::Request(..)) => {
                Ok(Page::new("The key was not replaced", back(&level(form)?)))
            }
            page => page,
        };
    }
    Ok(new_key(context, &ROTATE, &level(form)?))
}
