//! What the simulated shop systems and the consumer of their orders did.

use crate::callers::Exchange;
use crate::isolate::Isolate;
use crate::kv::Calls;
use crate::order_bodies::{OrderId, Sent};
use crate::random::Random;
use impact_pledge::pledges::orders::ConnectionId;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The shops, and what they sent.
#[derive(Default)]
pub struct Orders {
    pub connections: RefCell<Vec<ConnectionId>>,
    pub deliveries: RefCell<Vec<Delivery>>,
    /// The create requests of orders: the idempotency key and the body of each.
    pub creates: RefCell<Vec<(String, String)>>,
    /// The versions of orders whose buyers were erased, or began to be.
    pub erased: RefCell<BTreeSet<(OrderId, usize)>>,
    /// The isolates of the service, and its exchanges.
    pub isolates: RefCell<Vec<Rc<Isolate>>>,
    pub exchanges: RefCell<Rc<RefCell<Vec<Exchange>>>>,
}

pub struct Delivery {
    pub order: OrderId,
    pub sent: Sent,
    /// The status of the answer; `None` if there is none.
    pub status: Option<u16>,
    pub calls: Rc<Calls>,
}

impl Delivery {
    /// Returns what became of the delivery; `no row` if nothing did.
    pub fn outcome<'o>(&self, outcomes: &'o BTreeMap<String, String>) -> &'o str {
        let calls = self.calls.list.borrow();
        let put = calls.iter().find(|call| call.operation == "put");
        let id = put.and_then(|put| put.name.strip_prefix("received:")).unwrap_or_default();
        outcomes.get(id).map_or("no row", |row| row)
    }
}

impl Orders {
    /// Returns whether a delivery may be lost, because its buyer was erased.
    pub fn may_lose(&self, it: &Delivery) -> bool {
        match it.sent {
            Sent::Order { version, .. } => self.erased.borrow().contains(&(it.order, version)),
            Sent::Refund(_) => false,
        }
    }

    pub fn pick_isolate(&self, random: &Random) -> Rc<Isolate> {
        let isolates = self.isolates.borrow();
        Rc::clone(&isolates[random.index(isolates.len())])
    }
}
