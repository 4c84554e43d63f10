//! Finds the transactions in a state that only Workers KV has: cancelled, or with a failed notification.

use super::list::ListQuery;
use crate::office::mails::rule as notifications;
use crate::office::orders::rows::order::TransactionState;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::records::{MAX_PAGES, Pages};
use crate::office::shared::rule::refused::RefusalCode;
use crate::pledges::scope::Scope;
use crate::pledges::service::Clock;
use crate::pledges::store::{CancelledKey, Key as _, OperatorStore};
use crate::pledges::types::TransactionId;

/// Reads the IDs of the transactions in the query's state, unless the ledger knows the state. KV cost: for cancelled
/// transactions, 1 list per 1,000 of them, at most 10 in all. For failed ones, see [`notifications::failed_orders`].
///
/// # Errors
/// If there are more such transactions than can be listed, or the store fails.
pub async fn add_ids(
    store: &impl OperatorStore,
    clock: &impl Clock,
    query: &mut ListQuery,
) -> Result<()> {
    let scopes = query.scopes();
    query.ids = match query.state {
        Some(TransactionState::Cancelled) => Some(cancelled(store, scopes.as_deref()).await?),
        Some(TransactionState::Failed) => {
            let own = notifications::failed_orders(store, clock.now_ms(), scopes.as_deref());
            Some(own.await?.into_iter().collect())
        }
        _ => None,
    };
    Ok(())
}

async fn cancelled(store: &impl OperatorStore, scopes: Option<&[Scope]>) -> Result<Vec<String>> {
    let prefixes = match scopes {
        Some(scopes) if scopes.len() <= MAX_PAGES => scopes
            .iter()
            .map(|scope| [CancelledKey::PREFIX, &TransactionId::scope_prefix(scope)].concat())
            .collect(),
        _ => vec![CancelledKey::PREFIX.to_owned()],
    };
    let mut found = Vec::new();
    let mut lists = MAX_PAGES;
    for prefix in prefixes {
        let mut pages = Pages::new(store, prefix);
        while lists > 0
            && let Some(page) = pages.next().await?
        {
            lists -= 1;
            let names = page.iter().filter_map(|it| it.name.strip_prefix(CancelledKey::PREFIX));
            found.extend(names.map(str::to_owned));
        }
        if !pages.is_last {
            let problem = "there are too many cancelled transactions to list: choose a unit";
            return Err(OperatorError::at("state", RefusalCode::Invalid, problem));
        }
    }
    Ok(found)
}
