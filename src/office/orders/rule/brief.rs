//! The parts of a transaction that a list shows in addition to its ledger row: the reference, and what was
//! pledged.

use crate::office::orders::rows::order::Order;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::read_values;
use crate::pledges::store::{CancelledKey, OperatorStore, TransactionKey};
use crate::pledges::types::{Amount, RetrievedPledgeTransaction, TransactionId};
use serde::de::IgnoredAny;
use std::collections::BTreeSet;

/// Largest number of pledges of a [`Brief`].
const MAX_PLEDGES: usize = 3;

/// The reference of a transaction, and what was pledged. Both are shown even to people who see only masked
/// data.
#[derive(Clone, Debug, PartialEq)]
pub struct Brief {
    pub reference: String,
    /// The quantities and offerings of the first three pledges.
    pub pledged: Vec<(Amount, String)>,
    /// Number of further pledges.
    pub more: usize,
}

/// Reads the reference and the pledges of each transaction, in the given order. Returns `None` for a record
/// that cannot be read. KV cost: 1 read per 100 transactions.
pub async fn briefs(store: &impl OperatorStore, orders: &[Order]) -> Result<Vec<Option<Brief>>> {
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

fn brief(value: &[u8]) -> Option<Brief> {
    let transaction: RetrievedPledgeTransaction<'_, IgnoredAny, IgnoredAny> =
        serde_json::from_slice(value).ok()?;
    let pledges = transaction.pledges.iter().map(|pledge| &pledge.impact).take(MAX_PLEDGES);
    let pledged: Vec<_> =
        pledges.map(|impact| (impact.amount, impact.offering_id.to_string())).collect();
    let more = transaction.pledges.len() - pledged.len();
    Some(Brief { reference: transaction.reference.into_owned(), pledged, more })
}
