//! One exchange (a request and its answer) that is checked, and the questions that several rules ask about it.

use crate::callers::{Action, Answer, Exchange, Scope};
use crate::kv::{CACHE_MS, COPY_LAG_MS, Call, Record};
use crate::simulation::Simulation;
use std::rc::Rc;

/// Identifies a create request. Create requests with the same scope, idempotency key and payload are the same,
/// whatever API key they use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Identity {
    /// A create request without an idempotency key, identified by its number.
    Single(usize),
    Named {
        scope: Scope,
        name: usize,
        payload: usize,
    },
}

/// The exchange (a request and its answer) that is checked, and its simulation.
pub struct Case<'s> {
    pub simulation: &'s Simulation,
    pub exchanges: &'s [Exchange],
    pub number: usize,
    pub exchange: &'s Exchange,
}

impl<'s> Case<'s> {
    pub fn answer(&self) -> Option<&'s Answer> {
        self.exchange.answer.as_ref()
    }

    pub fn ended_ms(&self) -> u64 {
        self.exchange.ended_ms.unwrap_or_default()
    }

    pub fn identity(&self) -> Option<Identity> {
        identity(self.exchanges, self.number)
    }

    /// Returns the records that were stored under a name up to this time, oldest first.
    pub fn kept(&self, name: &str, by_ms: u64) -> Vec<Rc<Record>> {
        let versions = self.simulation.kv.versions.borrow();
        let versions = versions.get(name).into_iter().flatten();
        let arrived = versions.filter(|version| version.arrived_ms <= by_ms);
        arrived.filter_map(|version| version.held.clone()).collect()
    }

    pub fn kept_transaction(&self, id: &str, by_ms: u64) -> Vec<Rc<Record>> {
        self.kept(&transaction_name(id), by_ms)
    }

    /// Returns the time from which all locations and caches show a write of the record `name`. The write was
    /// acknowledged at `acknowledged_ms`.
    pub fn everywhere_ms(&self, name: &str, acknowledged_ms: u64, cache_ms: u64) -> u64 {
        let usual_ms = acknowledged_ms + cache_ms + COPY_LAG_MS;
        usual_ms.max(self.simulation.kv.late_until_ms(name))
    }

    /// Whether an earlier attempt of the same create request was acknowledged, and visible everywhere, before
    /// this request began. `record` returns the name of the record that must have been visible.
    pub fn was_acknowledged(&self, record: impl Fn(&Answer) -> String) -> bool {
        let own = self.identity();
        self.exchanges.iter().enumerate().any(|(number, earlier)| {
            let (Some(answer), Some(ended_ms)) = (earlier.created(), earlier.ended_ms) else {
                return false;
            };
            let from_ms = || self.everywhere_ms(&record(answer), ended_ms, CACHE_MS);
            identity(self.exchanges, number) == own
                && ended_ms < self.exchange.begun_ms // of one moment, either may be first
                && from_ms() <= self.exchange.begun_ms
        })
    }

    pub fn calls(&self, operation: &str) -> Vec<Call> {
        calls(self.exchange, operation)
    }

    /// Whether the request wrote a record or queued a message.
    pub fn wrote(&self) -> bool {
        !self.calls("put").is_empty() || !self.calls("queue").is_empty()
    }

    pub fn has_fault(&self) -> bool {
        self.exchange.calls.list.borrow().iter().any(|call| call.fault.is_some())
    }

    pub fn replay_get(&self) -> Option<Call> {
        self.calls("get").into_iter().find(|call| call.name.starts_with("idempotency:"))
    }

    pub fn is_timeline(&self) -> bool {
        matches!(self.exchange.ask.action, Action::Timeline { .. })
    }
}

pub fn identity(exchanges: &[Exchange], number: usize) -> Option<Identity> {
    let ask = &exchanges.get(number)?.ask;
    let (payload, scope) = (ask.payload()?, ask.scope()?);
    let Some(name) = ask.name() else { return Some(Identity::Single(number)) };
    Some(Identity::Named { scope, name, payload })
}

pub fn calls(exchange: &Exchange, operation: &str) -> Vec<Call> {
    let calls = exchange.calls.list.borrow();
    calls.iter().filter(|call| call.operation == operation).cloned().collect()
}

pub fn transaction_name(id: &str) -> String {
    format!("transaction:{id}")
}

pub fn id_of(answer: &Answer) -> &str {
    answer.json()["id"].as_str().unwrap_or_default()
}
