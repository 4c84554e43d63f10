//! Erases what shop systems have sent about a person, as far as it is kept.

use super::catch_up::prefixes;
use super::record;
use super::record::Connection;
use crate::office::connections::rows::connections;
use crate::office::connections::rows::orders;
use crate::office::connections::rows::orders::OrderState;
use crate::office::connections::rows::people as rows;
use crate::office::connections::rows::received::MOST;
use crate::office::orders::rule::ERASABLE_MINUTES;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::{Pages, read_values};
use crate::pledges::orders::{ConnectionId, Event, read};
use crate::pledges::scope::Scope;
use crate::pledges::secret::NamespaceSecret;
use crate::pledges::store::{OperatorStore, ReceivedKey};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Erases a person from the deliveries of connections.
#[expect(missing_debug_implementations, reason = "ports")]
pub struct Received<'r, S> {
    pub store: &'r S,
    pub ledger: &'r dyn Ledger,
    pub secret: &'r NamespaceSecret,
    pub address: &'r str,
    /// The units and modes whose connections are meant.
    pub scopes: &'r [Scope],
    pub now_ms: u64,
}

/// What one step did.
#[derive(Debug)]
pub struct ReceivedStep {
    /// Deliveries of the person that cannot be deleted yet: the ID, the unit and mode, and why.
    pub left: Vec<(String, Scope, String)>,
    /// The ID after which the next step begins; `None` after the last one.
    pub next: Option<String>,
    /// Number of deliveries that were deleted.
    pub deleted: usize,
}

/// The buyer of a delivery.
enum Buyer {
    /// It does not name the person.
    Other,
    Own,
    /// It names the person, and may be pledged at any moment.
    Pledging(String),
}

const FROZEN: &str = "the order is being pledged, but the service does not answer. Try again when its connection lists it as \
     pledged or refused";

/// Returns the units and modes that have connections. Ledger cost: 1 query.
///
/// # Errors
/// If the ledger fails.
pub async fn connected_scopes(ledger: &dyn Ledger) -> Result<Vec<Scope>> {
    Ok(connections::scopes(ledger).await?)
}

impl<S: OperatorStore> Received<'_, S> {
    /// Deletes the kept orders of the person whose rows say so. What was pledged for other orders is erased with their
    /// transactions. Then lists what was not read yet, so that [`step`](Self::step) finds it. Returns how many were deleted. Ledger cost: 2 queries, and 2 for
    /// each 100 orders. KV cost: 1 list per hour since the last cron, and 1 write for each order.
    ///
    /// # Errors
    /// If the ledger or the store fails. A repeated call continues.
    pub async fn begin(&self) -> Result<usize> {
        let mut deleted = 0;
        let people: Vec<_> =
            self.scopes.iter().map(|scope| self.secret.email(scope, self.address)).collect();
        loop {
            let found = rows::of_people(self.ledger, &people).await?;
            if found.is_empty() {
                break;
            }
            self.delete(&found).await?;
            deleted += found.len();
        }
        for prefix in prefixes(self.ledger, self.now_ms).await? {
            let mut pages = Pages::new(self.store, prefix);
            while let Some(page) = pages.next().await? {
                let keys: Vec<_> =
                    page.iter().filter_map(|record| ReceivedKey::parse(&record.name)).collect();
                rows::add(self.ledger, &keys).await?;
            }
        }
        Ok(deleted)
    }

    /// Reads deliveries whose rows do not say whose they are, at most 100 after an ID. Deletes those of the person, and those of
    /// connections that were ended. Ledger cost: 2 queries, 1 for each connection, and 1 for each order of the person. KV cost: 1
    /// read, and 1 write for each delivery that is deleted.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub async fn step(&self, after: &str) -> Result<ReceivedStep> {
        let ids = rows::unsettled(self.ledger, after).await?;
        let next = ids.last().filter(|_| ids.len() == MOST).cloned();
        let (mut connections, mut keys) = (BTreeMap::new(), Vec::new());
        for key in ids.iter().filter_map(|id| ReceivedKey::from_id(id)) {
            if let Entry::Vacant(entry) = connections.entry(key.connection().clone()) {
                entry.insert(record::find(self.ledger, key.connection()).await?);
            }
            keys.push(key);
        }
        let of = |key: &ReceivedKey| connections.get::<ConnectionId>(key.connection())?.as_ref();
        let (mut keys, ended): (Vec<_>, Vec<_>) =
            keys.into_iter().partition(|key| of(key).is_some());
        for key in &ended {
            self.store.remove(key).await?; // nobody reads it any more
        }
        keys.retain(|key| of(key).is_some_and(|it| self.scopes.contains(&it.record.scope)));
        let bodies = read_values(self.store, &keys).await?;
        let (mut own, mut left) = (Vec::new(), Vec::new());
        for (key, body) in keys.iter().zip(bodies) {
            let (Some(connection), Some(body)) = (of(key), body) else { continue };
            match self.buyer(key, connection, &body).await? {
                Buyer::Other => {}
                Buyer::Own => own.push(key.id()),
                Buyer::Pledging(why) => {
                    left.push((key.id(), connection.record.scope.clone(), why));
                }
            }
        }
        self.delete(&own).await?;
        Ok(ReceivedStep { left, next, deleted: own.len() })
    }

    async fn buyer(
        &self,
        key: &ReceivedKey,
        connection: &Connection,
        body: &[u8],
    ) -> Result<Buyer> {
        let record = &connection.record;
        let Ok(Event::Order(order)) = read(record.endpoint.system, body) else {
            return Ok(if has_address(body, self.address) { Buyer::Own } else { Buyer::Other });
        };
        let hash = |email: &str| self.secret.email(&record.scope, email);
        if order.email.is_none_or(|email| hash(&email) != hash(self.address)) {
            return Ok(Buyer::Other);
        }
        if self.now_ms.saturating_sub(key.time_ms()) < ERASABLE_MINUTES * 60_000 {
            return Ok(Buyer::Pledging(format!(
                "the order was received less than {ERASABLE_MINUTES} minutes ago, and may be pledged now: try again in \
                 {ERASABLE_MINUTES} minutes"
            )));
        }
        let decision = orders::get(self.ledger, &connection.order_key(&order.id)).await?;
        let is_frozen = decision.is_some_and(|row| row.state == OrderState::Frozen);
        Ok(if is_frozen { Buyer::Pledging(FROZEN.to_owned()) } else { Buyer::Own })
    }

    async fn delete(&self, ids: &[String]) -> Result<()> {
        for key in ids.iter().filter_map(|id| ReceivedKey::from_id(id)) {
            self.store.remove(&key).await?;
        }
        Ok(rows::forget_people(self.ledger, ids).await?)
    }
}

/// Returns whether a body that is no order has an e-mail address: as text, or with an `@` as JSON or a form may write it.
/// Capitals do not matter.
fn has_address(body: &[u8], address: &str) -> bool {
    let text = String::from_utf8_lossy(body).to_lowercase();
    let text = text.replace("\\u0040", "@").replace("%40", "@");
    text.contains(&address.trim().to_lowercase())
}
