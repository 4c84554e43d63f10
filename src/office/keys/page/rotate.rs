use super::new_key::made;
use super::parts::{facts, gone, level, level_fields, lives, name, named_key};
use crate::office::keys::rule as keys;
use crate::office::keys::rule::KeyExpiry;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::office::shared::page::view::hidden;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::once::Done;
use crate::office::shops::page::register::owner;
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{CredentialKey, OperatorStore};
use maud::html;

/// The choices for how long a replaced key keeps working: the seconds, and the label of the choice.
const KEEPS: [(&str, &str); 4] =
    [("0", "Revoke it now"), ("3600", "1 hour"), ("86400", "24 hours"), ("604800", "7 days")];

/// Asks how long the old key is to keep working, then creates the new key. KV cost: 1 read for the form. To
/// create the key: about 10 reads and writes, and 1 list of the last changes.
pub(crate) async fn rotate_key<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
) -> Result {
    let (key, level) = (named_key(form)?, level(form)?);
    let Some(keep) = keep(form).filter(|_| context.has_operation()) else {
        return confirm_rotation(context, key, &level).await;
    };
    let rotated =
        keys::rotate(context.store, context.ledger, &context.author, &name(key), keep).await;
    let Done { outcome: rotated, before } = match rotated {
        Err(OperatorError::Invalid(why)) => return Ok(not_replaced(&level, &why.text)),
        rotated => rotated?,
    };
    let page = made(context, &rotated.made, before.as_ref(), &level);
    let old = &rotated.replaces.id;
    let after = match &rotated.end {
        Ok(KeyExpiry { revoked: true, .. }) => {
            html! { "Somebody revoked the old key at the same time. The old key stays revoked." }
        }
        Ok(_) if keep == 0 => html! { "The old key was revoked. " (lives()) },
        Ok(KeyExpiry { ends, .. }) => {
            html! { "The old key stops working on " (view::time(ends)) ". Use the new key by then." }
        }
        Err(error) => html! {
            strong { "The old key keeps working as before" } ", because its expiry could not be saved ("
            (error.to_string()) "). The new key works, too: revoke one of the two."
        },
    };
    Ok(page.with(&html! { section { h2 { "The old key " code { (old) } } p { (after) } } }))
}

fn not_replaced(level: &KeyLevel, problem: &str) -> Page {
    let content = html! { (view::problem(problem)) p { "Back to the " (owner(level)) "." } };
    Page { status: 422, ..Page::new("The key was not replaced", content) }
}

fn keep(form: &Form) -> Option<u32> {
    let (seconds, _) = KEEPS.iter().find(|(seconds, _)| *seconds == form.text("keep"))?;
    seconds.parse().ok()
}

async fn confirm_rotation<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    key: CredentialKey,
    level: &KeyLevel,
) -> Result {
    let Some(row) = keys::get(context.store, &name(key)).await? else {
        return Ok(gone(key, level));
    };
    let successor = row.note.as_ref().and_then(|note| note.successor.as_ref());
    let content = html! {
        @if let Some(successor) = successor {
            (view::notice(&html! {
                "This key was already replaced by the key " code { (successor) } ". Replace it again only if \
                 that key was lost."
            }))
        }
        section {
            (facts(context, &row, level))
            (context.form("/keys/rotate", &html! {
                (hidden("key", &row.name.name)) (level_fields(level))
                (view::select("keep", "Keep the old key working for", &KEEPS, "86400"))
                button { "Create the new key" }
            }))
        }
        p { "The new key has the same permissions as the old one, and is shown once. Nothing was changed yet. "
            "Back to the " (owner(level)) "." }
    };
    Ok(Page::new("Replace a key", content))
}
