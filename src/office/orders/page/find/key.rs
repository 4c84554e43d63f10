//! The results of a search for an API key.

use super::form::SearchForm;
use super::term::{KEY, KEY_RECORD, pasted};
use crate::office::keys::operation::facts as key_facts;
use crate::office::keys::page::change_forms as key_forms;
use crate::office::keys::rule as keys;
use crate::office::keys::rule::KeyRow;
use crate::office::orders::page::transaction::level;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::facts;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::office::shared::rule::delays::SHOWN_SECONDS;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::roles::Permission;
use crate::pledges::auth::KEY_ID_LENGTH;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::html;

/// Returns a text without its prefix `key:`, if the rest has the form of an API key's hash or ID; otherwise
/// `None`.
fn digits(text: &str) -> Option<&str> {
    let digits = text.strip_prefix(KEY_RECORD).unwrap_or(text);
    let is_hexadecimal = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (is_hexadecimal && (KEY_ID_LENGTH..=64).contains(&digits.len())).then_some(digits)
}

/// Returns the page of the API key that a search term identifies by the key itself, its hash or its ID.
///
/// If no key matches, the result depends on the term. For a whole key or the name of a key's record, returns
/// a page that says so. For any other term, returns `None`.
pub(super) async fn find<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    term: &str,
    filters: &Form,
) -> Result<Option<Page>> {
    let Some(text) = pasted(term).or_else(|| digits(term)) else { return Ok(None) };
    let key = match keys::get(context.store, text).await {
        Err(OperatorError::Invalid(_)) => None,
        found => found?,
    };
    let is_whole = text.starts_with(KEY) || term.starts_with(KEY_RECORD);
    Ok(match key {
        Some(key) => Some(key_page(context, &key, context.may(Permission::Operate))),
        None if is_whole => Some(no_key(context, filters)),
        None => None,
    })
}

/// Renders the page of an API key. If `operates` is true, the page contains the key's details, and the forms that
/// replace and revoke the key.
pub(crate) fn key_page<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    key: &KeyRow,
    operates: bool,
) -> Page {
    let content = html! {
        @match &key.note {
            Some(note) if operates => {
                p.lead { "An API key of the " (level(&note.level, true)) "." }
                section { (facts::list(&key_facts(key, &context.author))) (key_forms(&key.name, &note.level)) }
            }
            Some(note) => p.lead { "An API key of the " (level(&note.level, false)) "." },
            None => {
                p.lead { "An API key whose details cannot be read." }
                p { "Its ID is " code { (key.name.id) } "." }
            }
        }
        @if let Some(problem) = key.problem.as_ref().filter(|_| operates && key.note.is_none()) {
            p.problem { (view::sentence(problem)) }
        }
        p { "Anyone who has seen a key can use it. If it was sent in a message, replace it." }
    };
    Page::new("API key", content)
}

fn no_key<S, C, E>(context: &PageContext<'_, S, C, E>, filters: &Form) -> Page {
    SearchForm::of(context, "", filters).nothing(&html! {
        p.lead { "No API key matches this." }
        p {
            "The key may be revoked, expired or incomplete, or it may belong to another environment. A \
             key created in the last " (SHOWN_SECONDS)
            " s may not show yet."
        }
    })
}
