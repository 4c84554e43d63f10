//! Drafts an update from a fulfilment, the report of what was done for pledges.

use super::change::{UpdateChange, add};
use super::checked::NewUpdate;
use crate::ledger::Ledger;
use crate::ledger::fulfilments::{Fulfilment, NewFulfilment};
use crate::ledger::updates::Pledges;
use crate::operator::audit::Author;
use crate::operator::once::Done;
use crate::operator::{OperatorError, Result, bound, fulfilments};
use crate::service::{Clock, Entropy};
use crate::store::OperatorStore;
use crate::updates::Stage;

/// Adds a draft with the partner, place, day, quantity and report of a fulfilment, which records what was
/// done for pledges. A person still has to write the draft's sentence. Ledger cost: 4 calls. KV cost: 1
/// write.
///
/// # Errors
/// - If no fulfilment has this ID, or the fulfilment was removed, or it already has an update.
/// - As [`add`].
pub async fn add_from_fulfilment(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    id: &str,
) -> Result<Done<UpdateChange>> {
    let Fulfilment { done, removed, .. } = fulfilments::get(bound(ledger)?, id).await?;
    if removed.is_some() {
        return Err(OperatorError::Invalid(format!(
            "nothing was saved: the fulfilment `{id}` was removed"
        )));
    }
    let NewFulfilment { mode, month, offering, quantity, done_on, partner, place, report } = done;
    let new = NewUpdate {
        stage: Stage::Done.name().to_owned(),
        date: done_on,
        place: place.unwrap_or_default(),
        partner: partner.unwrap_or_default(),
        quantity,
        report: report.unwrap_or_default(),
        ..NewUpdate::default()
    };
    let pledges = Pledges { mode, month, offering };
    add(store, ledger, author, (&pledges, Some(id)), &new).await
}
