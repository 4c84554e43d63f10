//! The parts of a transaction that a list shows in addition to its ledger row: the reference, and what was
//! pledged.

use super::show::masked;
use crate::buyer::recipient::{Language, write_amount};
use crate::office::orders::rows::order::Order;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::read_values;
use crate::pledges::store::{CancelledKey, OperatorStore, TransactionKey};
use crate::pledges::types::{
    Amount, NotificationService, RetrievedPledgeTransaction, TransactionId,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Largest number of pledges of a [`Brief`].
const MAX_PLEDGES: usize = 3;

/// What a list shows of a transaction's record. People who see only masked data see all of it, but only people who may
/// see the recipient see the buyer.
#[derive(Clone, Debug, PartialEq)]
pub struct Brief {
    pub reference: String,
    /// The quantities and offerings of the first three pledges.
    pub pledged: Vec<(Amount, String)>,
    /// Number of further pledges.
    pub more: usize,
    /// The masked e-mail address of the recipient; empty if the transaction has none, as after an erasure.
    pub buyer: String,
    /// The notifications that the create request asked for.
    pub services: Vec<NotificationService>,
}

impl Brief {
    /// Returns the quantities and offerings, such as `3 × tree, and 2 more`.
    pub fn pledged_in_words(&self) -> String {
        let one = |(amount, offering): &(Amount, String)| {
            format!("{} × {offering}", write_amount(Language::En, *amount))
        };
        let pledged: Vec<_> = self.pledged.iter().map(one).collect();
        let more = if self.more > 0 { format!(", and {} more", self.more) } else { String::new() };
        pledged.join(", ") + &more
    }
}

/// Reads the reference and the pledges of each transaction, in the given order. Returns `None` for a record
/// that cannot be read. KV cost: 1 read per 100 transactions.
pub(super) async fn briefs(
    store: &impl OperatorStore,
    orders: &[Order],
) -> Result<Vec<Option<Brief>>> {
    let ids: Vec<_> = orders.iter().map(|order| TransactionId::parse(&order.id)).collect();
    let keys: Vec<_> = ids.iter().flatten().map(TransactionKey).collect();
    let mut values = read_values(store, &keys).await?.into_iter();
    let value = |id: &Option<_>| id.as_ref().and_then(|_| values.next()).flatten();
    Ok(ids.iter().map(value).map(|value| brief(&value?)).collect())
}

/// Returns the IDs of the transactions that an operator cancelled. Only a transaction with a credit can be cancelled.
/// KV cost: 1 read per 100 transactions with a credit.
pub async fn cancelled(store: &impl OperatorStore, orders: &[Order]) -> Result<BTreeSet<String>> {
    let credited = orders.iter().filter(|order| order.credited.is_some());
    let ids: Vec<_> = credited.filter_map(|order| TransactionId::parse(&order.id)).collect();
    let keys: Vec<_> = ids.iter().map(CancelledKey).collect();
    let values = read_values(store, &keys).await?;
    let found = ids.iter().zip(values).filter(|(_, value)| value.is_some());
    Ok(found.map(|(id, _)| id.to_string()).collect())
}

/// Sets [`Order::cancelled`]. Cost and errors as for [`cancelled`].
pub async fn mark_cancelled(store: &impl OperatorStore, orders: &mut [Order]) -> Result<()> {
    let cancelled = cancelled(store, orders).await?;
    orders.iter_mut().for_each(|order| order.cancelled = cancelled.contains(&order.id));
    Ok(())
}

/// The part of a recipient that lists show.
#[derive(Deserialize)]
struct Buyer<'a> {
    #[serde(borrow, default)]
    email: Cow<'a, str>,
}

fn brief(value: &[u8]) -> Option<Brief> {
    let transaction: RetrievedPledgeTransaction<'_, Buyer<'_>, IgnoredAny> =
        serde_json::from_slice(value).ok()?;
    let buyer = transaction.pledges.first().map(|pledge| masked(&pledge.recipient.email));
    let asked = transaction.notifications.unwrap_or_default();
    let services = asked.iter().filter_map(|it| NotificationService::from_name(&it.kind)).collect();
    let pledges = transaction.pledges.iter().map(|pledge| &pledge.impact).take(MAX_PLEDGES);
    let pledged: Vec<_> =
        pledges.map(|impact| (impact.amount, impact.offering_id.to_string())).collect();
    let more = transaction.pledges.len() - pledged.len();
    let reference = transaction.reference.into_owned();
    Some(Brief { reference, pledged, more, buyer: buyer.unwrap_or_default(), services })
}
