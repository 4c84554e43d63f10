use super::parts::{facts, gone, level, level_fields, lives, name, named_key};
use crate::office::keys::rule as keys;
use crate::office::keys::rule::{KeyName, KeyRow};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::operation;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::office::shared::page::view::hidden;
use crate::office::shared::rule::delays::SHOWN_SECONDS;
use crate::office::shared::rule::once::Done;
use crate::office::shops::page::register::owner;
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::html;

/// Asks for confirmation, then revokes the key. KV cost: 1 read for the confirmation page; 2 reads and 2 writes to
/// revoke the key.
pub(crate) async fn revoke_key<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
) -> Result {
    let (key, level) = (named_key(form)?, level(form)?);
    if context.was_done().await?.is_none() {
        let row = keys::get(context.store, &name(key)).await?;
        let Some(row) = row else { return Ok(gone(key, &level)) };
        if form.text("sure").is_empty() {
            return Ok(confirm_revocation(context, &row, &level));
        }
    }
    let revoked = keys::revoke(context.store, context.ledger, &context.author, &name(key)).await?;
    let Done { outcome: KeyName { id, .. }, before } = revoked;
    let content = html! {
        (operation::before(before.as_ref()))
        (view::done(&html! { "The key " code { (id) } " was revoked. " (lives()) }))
        p { "Back to the " (owner(&level)) ". Its list may still show the key for " (SHOWN_SECONDS) " s." }
    };
    Ok(Page::new("Key revoked", content))
}

fn confirm_revocation<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    row: &KeyRow,
    level: &KeyLevel,
) -> Page {
    let content = html! {
        section {
            (facts(context, row, level))
            p {
                "Everything that uses this key will stop working. The dashboard cannot undo this. " (lives())
                " To change a key without an interruption, replace it instead."
            }
            (context.form("/keys/revoke", &html! {
                (hidden("key", &row.name.name)) (level_fields(level)) (hidden("sure", "yes"))
                button.alarm { "Revoke the key " (row.name.id) }
            }))
        }
        p { "Nothing was changed yet. Back to the " (owner(level)) "." }
    };
    Page::new("Revoke this key?", content)
}
