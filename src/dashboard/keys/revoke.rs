//! Revokes keys.

use super::parts::{facts, gone, level, level_fields, lives, name, named_key};
use crate::auth::KeyLevel;
use crate::dashboard::form::Form;
use crate::dashboard::page::Page;
use crate::dashboard::register::owner;
use crate::dashboard::view::{self, hidden};
use crate::dashboard::{PageContext, Result, operation};
use crate::operator::Done;
use crate::operator::delays::SHOWN_SECONDS;
use crate::operator::keys::{self, KeyName, KeyRow};
use crate::service::{Clock, Entropy};
use crate::store::OperatorStore;
use maud::html;

/// Asks for confirmation, then revokes the key. KV cost: 1 read for the confirmation page; 2 reads and 2 writes to
/// revoke the key.
pub(in crate::dashboard) async fn revoke_key<S: OperatorStore, C: Clock, E: Entropy>(
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
