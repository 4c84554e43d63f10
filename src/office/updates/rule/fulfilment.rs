//! Drafts an update from a fulfilment, the report of what was done for pledges.

use super::change::{UpdateChange, add};
use super::checked::NewUpdate;
use super::refusal::refused_at;
use crate::buyer::updates::Stage;
use crate::office::audit::rule::Author;
use crate::office::fulfilment::rows::fulfilments::{Fulfilment, NewFulfilment};
use crate::office::fulfilment::rule as fulfilments;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::once::Done;
use crate::office::shared::rule::refused::RefusalCode;
use crate::office::updates::rows::updates::Pledges;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;

/// Adds a draft with the partner, place, day, quantity and report of a fulfilment, which records what was
/// done for pledges. A person still has to write the draft's sentence. Ledger cost: 4 calls. KV cost: 1
/// write.
///
/// # Errors
/// - If no fulfilment has this ID, or the fulfilment was removed, or it already has an update.
/// - As [`add`].
pub async fn add_from_fulfilment(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    id: &str,
) -> Result<Done<UpdateChange>> {
    let Fulfilment { done, removed, .. } = fulfilments::get(ledger, id).await?;
    if removed.is_some() {
        let problem = format_args!("the fulfilment `{id}` was removed");
        return Err(refused_at("fulfilment", RefusalCode::NotAllowed, problem));
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
