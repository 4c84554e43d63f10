//! Transactions as lists show them: with their reference, pledges, buyer, and states.

use super::brief::{Brief, briefs, cancelled};
use crate::office::mails::rule as notifications;
use crate::office::mails::rule::Notified;
use crate::office::orders::rows::order::Order;
use crate::office::shared::rule::error::Result;
use crate::pledges::service::Clock;
use crate::pledges::store::OperatorStore;
use crate::pledges::time::day_of;
use crate::pledges::types::TransactionId;
use futures_util::future::join;
use std::collections::BTreeSet;

/// A transaction of a list.
#[derive(Clone, Debug)]
pub struct ListedOrder<'o> {
    pub order: &'o Order,
    /// What its record says; `None` if the record cannot be read.
    pub brief: Option<Brief>,
    pub is_cancelled: bool,
    /// Whether an e-mail or message failed, and was neither sent nor dismissed since.
    pub has_failed: bool,
}

/// A state that a list shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    Test,
    Erased,
    /// An e-mail or message failed.
    Failed,
    /// Number of pledges whose offering had no price.
    Unpriced(usize),
    Cancelled,
    /// The sum of the credits, a decimal with two places.
    Credited(String),
    /// The month is marked as paid.
    Paid,
}

impl Mark {
    /// Returns the words for the mark, such as `Credited: 0.50`.
    pub fn words(&self) -> String {
        match self {
            Mark::Test => "Test".to_owned(),
            Mark::Erased => "Erased".to_owned(),
            Mark::Failed => "Failed".to_owned(),
            Mark::Unpriced(count) => format!("Unpriced: {count}"),
            Mark::Cancelled => "Cancelled".to_owned(),
            Mark::Credited(amount) => format!("Credited: {amount}"),
            Mark::Paid => "Paid".to_owned(),
        }
    }
}

impl<'o> From<&'o Order> for ListedOrder<'o> {
    fn from(order: &'o Order) -> Self {
        ListedOrder { order, brief: None, is_cancelled: order.cancelled, has_failed: false }
    }
}

impl ListedOrder<'_> {
    pub fn marks(&self) -> Vec<Mark> {
        let order = self.order;
        let marks = [
            (!order.scope.mode.is_live()).then_some(Mark::Test),
            order.erased.as_ref().map(|_| Mark::Erased),
            self.has_failed.then_some(Mark::Failed),
            (order.unpriced > 0).then_some(Mark::Unpriced(order.unpriced)),
            self.is_cancelled.then_some(Mark::Cancelled),
            order.credited.clone().map(Mark::Credited),
            order.paid.then_some(Mark::Paid),
        ];
        marks.into_iter().flatten().collect()
    }
}

/// The transactions of a list, and what could not be read of them.
#[derive(Clone, Debug)]
pub struct ListedOrders<'o> {
    pub orders: Vec<ListedOrder<'o>>,
    /// Number of transactions whose records could not be read.
    pub unread: usize,
    /// Whether it could not be read which transactions are cancelled, or which notifications failed.
    pub is_partial: bool,
}

/// Reads what a list shows of these transactions, in their order. The buyer and failed notifications are read only for
/// people who may see the recipient. A failure of the store is part of the result. KV cost: 1 read per 100 transactions, 1
/// per 100 that are credited, and as [`notifications::unsent`] for the notifications that were asked for.
pub async fn listed<'o>(
    store: &impl OperatorStore,
    clock: &impl Clock,
    orders: &'o [Order],
    shows_buyers: bool,
) -> ListedOrders<'o> {
    let (briefs, cancelled) = join(briefs(store, orders), cancelled(store, orders)).await;
    let mut briefs = briefs.unwrap_or_default();
    briefs.resize(orders.len(), None);
    let failed = match shows_buyers {
        true => failed(store, clock, orders, &briefs).await,
        false => Ok(BTreeSet::new()),
    };
    let unread = briefs.iter().filter(|brief| brief.is_none()).count();
    let is_partial = cancelled.is_err() || failed.is_err();
    let (cancelled, failed) = (cancelled.unwrap_or_default(), failed.unwrap_or_default());
    let of = |(order, brief): (&'o Order, Option<Brief>)| ListedOrder {
        order,
        brief: brief.map(|brief| match shows_buyers {
            true => brief,
            false => Brief { buyer: String::new(), ..brief },
        }),
        is_cancelled: cancelled.contains(&order.id),
        has_failed: failed.contains(&order.id),
    };
    ListedOrders { orders: orders.iter().zip(briefs).map(of).collect(), unread, is_partial }
}

async fn failed(
    store: &impl OperatorStore,
    clock: &impl Clock,
    orders: &[Order],
    briefs: &[Option<Brief>],
) -> Result<BTreeSet<String>> {
    let of = orders.iter().zip(briefs).filter(|(order, _)| order.erased.is_none());
    let notified = of.flat_map(|(order, brief)| {
        let (id, day) = (TransactionId::parse(&order.id), day_of(&order.created_at));
        let services = brief.iter().flat_map(|brief| brief.services.iter().copied());
        services.filter_map(move |service| {
            Some(Notified { id: id.clone()?, service, day: Some(day.to_owned()) })
        })
    });
    let notified: Vec<_> = notified.collect();
    notifications::unsent(store, clock.now_ms(), &notified).await
}
