//! Shows one transaction. Personal data is masked unless it is requested.

use super::{Record, order};
use crate::office::audit::rule::Author;
use crate::office::orders::rows::order::Order;
use crate::office::prices::rule as prices;
use crate::office::prices::rule::PriceListVersion;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::load;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::{Month, PaidAt, ScopeMonth, Settlement};
use crate::pledges::store::{OperatorStore, Recorded, SettlementKey};
use crate::pledges::types::RetrievedPledgeTransaction;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What to show of a transaction in addition to the masked data.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct ViewOptions {
    /// Shows unmasked texts instead of their first characters.
    pub reveal: bool,
    /// Shows the timeline's address, with which anyone can open the timeline.
    pub timeline: bool,
}

/// The data of a transaction that is shown.
#[derive(Clone, Debug, Serialize)]
pub struct TransactionView<'r> {
    /// The transaction's row, as in a list.
    pub row: Order,
    /// Whether the transaction was created with an `Idempotency-Key`.
    pub repeatable: bool,
    /// The ID of the API key that created the transaction.
    pub key: Option<String>,
    /// The response of the get operation (contract §4.2), masked.
    pub transaction: RetrievedPledgeTransaction<'r>,
}

impl Record {
    /// Returns the transaction, masked according to `view`.
    ///
    /// # Errors
    /// If the record is damaged.
    pub fn show(&self, view: ViewOptions) -> Result<TransactionView<'_>> {
        let metadata = self.metadata()?;
        let mut transaction = self.transaction()?;
        let repeatable = metadata.summary.replay.is_some();
        let key = metadata.summary.key.clone();
        let row = order(metadata).ok_or_else(|| {
            self.damaged_by("the transaction's metadata lacks its creation time or its charge")
        })?;
        if !view.timeline {
            transaction.timeline_url = None;
        }
        if !view.reveal {
            mask(&mut transaction);
        }
        Ok(TransactionView { row, repeatable, key, transaction })
    }

    pub(crate) fn masked(&self) -> Result<RetrievedPledgeTransaction<'_>> {
        let mut transaction = self.transaction()?;
        mask(&mut transaction);
        Ok(transaction)
    }

    /// Returns when the transaction's month was paid; `None` if the month is unpaid. KV cost: 1 read.
    ///
    /// # Errors
    /// If the record or the settlement is damaged, or the store fails.
    pub async fn paid_at(&self, store: &impl OperatorStore) -> Result<Option<PaidAt>> {
        let Recorded { scope, summary, .. } = self.metadata()?;
        let Some(month) = summary.created_at.as_deref().and_then(Month::of) else {
            return Ok(None);
        };
        let of = ScopeMonth { scope, month };
        let settlement: Option<Settlement> = load(store, SettlementKey(&of)).await?;
        Ok(settlement.map(|settlement| settlement.paid_at))
    }

    /// Returns the price list from which the charge was computed, reduced to the transaction's offerings.
    /// Returns `None` if there was no list, or this namespace does not have it. KV cost: 1 read; 2 if the
    /// unit had a list of its own.
    ///
    /// # Errors
    /// If the record or the list is damaged, or the store fails.
    pub async fn prices(&self, store: &impl OperatorStore) -> Result<Option<PriceListVersion>> {
        let Recorded { scope, summary, .. } = self.metadata()?;
        let Some(time) = summary.prices else { return Ok(None) };
        let mut list = prices::charged_by(store, &scope, &time).await?;
        if let Some(list) = &mut list {
            let transaction = self.transaction()?;
            let mut own: Vec<_> =
                transaction.pledges.iter().map(|pledge| &*pledge.impact.offering_id).collect();
            own.sort_unstable();
            let is_own = |offering: &String| own.binary_search(&offering.as_str()).is_ok();
            list.price_list.unit_prices.retain(|offering, _| is_own(offering));
        }
        Ok(list)
    }
}

/// Shows a transaction with unmasked data. Records this in the audit log first.
///
/// # Errors
/// If the audit log cannot be written, or the record is damaged.
pub async fn reveal<'r>(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    record: &'r Record,
    view: ViewOptions,
) -> Result<TransactionView<'r>> {
    let shown = record.show(view)?;
    author.record(store, "transactions reveal", [record.id.to_string()]).await?;
    Ok(shown)
}

/// Masks the recipient and the texts about the order: only their first characters stay. These are enough to
/// compare with what a person says on the phone. The reference, the offerings and their nouns are not masked,
/// because they name nobody.
fn mask(transaction: &mut RetrievedPledgeTransaction<'_>) {
    let trigger = &mut transaction.trigger;
    [&mut trigger.phrase, &mut trigger.external_url].into_iter().for_each(shorten);
    for pledge in &mut transaction.pledges {
        let recipient = &mut pledge.recipient;
        recipient.email = Cow::Owned(masked(&recipient.email));
        [&mut recipient.first_name, &mut recipient.name].into_iter().for_each(shorten);
        for detail in &mut pledge.details {
            [
                &mut detail.name,
                &mut detail.description,
                &mut detail.image,
                &mut detail.external_id,
                &mut detail.external_url,
            ]
            .into_iter()
            .for_each(shorten);
        }
    }
}

/// Masks an e-mail address: `ada@example.org` becomes `a…@e…`.
pub(crate) fn masked(address: &str) -> String {
    let (local, domain) = address.rsplit_once('@').unwrap_or((address, ""));
    format!("{}@{}", beginning(local), beginning(domain))
}

fn shorten(text: &mut Option<Cow<'_, str>>) {
    if let Some(text) = text {
        *text = Cow::Owned(beginning(text));
    }
}

/// Masks a text: `Ada` becomes `A…`.
fn beginning(text: &str) -> String {
    text.chars().take(1).chain(['…']).collect()
}
