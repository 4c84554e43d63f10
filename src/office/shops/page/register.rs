//! Units and teams that may not exist: asks before a new one is created, because its ID may be misspelt.

use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::{link, view};
use crate::office::shops::rule::register;
use crate::office::shops::rule::register::Unregistered;
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};

/// Returns which of these units and teams do not exist, with similar IDs as suggestions. People of shops
/// get no suggestions, because a suggestion could name another shop. KV cost: 1 read, and 2 lists for each
/// unit or team that does not exist.
pub(crate) async fn look_up<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    levels: &[KeyLevel],
) -> Result<Vec<Unregistered>> {
    let mut missing = register::look_up(context.store, levels).await?;
    if context.is_of_shop() {
        missing.iter_mut().for_each(|unknown| unknown.suggestion = None);
    }
    Ok(missing)
}

/// Writes `unit shop_1` or `team chain_1`.
pub(crate) fn named(level: &KeyLevel) -> String {
    let kind = level.kind();
    [kind, " ", level.id()].concat()
}

pub(crate) fn absence(missing: &[Unregistered]) -> Markup {
    html! {
        @for Unregistered { level, suggestion } in missing {
            (view::notice(&html! {
                "The " (named(level)) " does not exist yet."
                @if let Some(suggestion) = suggestion {
                    " Did you mean " (owner(&level.with_id(suggestion))) "?"
                }
            }))
        }
    }
}

pub(crate) fn owner(level: &KeyLevel) -> Markup {
    html! { a href=(link::page_of(level)) { (named(level)) } }
}
