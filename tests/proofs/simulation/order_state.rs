//! What the simulated shop systems and the consumer of their orders did.

use crate::callers::Exchange;
use crate::isolate::Isolate;
use crate::kv::Calls;
use crate::order_bodies::{OrderId, Sent};
use crate::random::Random;
use impact_pledge::pledges::orders::ConnectionId;
use std::cell::RefCell;
use std::rc::Rc;

/// The shops, and what they sent.
#[derive(Default)]
pub struct Orders {
    pub connections: RefCell<Vec<ConnectionId>>,
    pub deliveries: RefCell<Vec<Delivery>>,
    /// The create requests of orders: the idempotency key and the body of each.
    pub creates: RefCell<Vec<(String, String)>>,
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

impl Orders {
    pub fn pick_isolate(&self, random: &Random) -> Rc<Isolate> {
        let isolates = self.isolates.borrow();
        Rc::clone(&isolates[random.index(isolates.len())])
    }
}
