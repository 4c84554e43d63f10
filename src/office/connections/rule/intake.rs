//! Reads what shop systems sent.

use super::api::PledgeApi;
use super::fetch::ShopApi;
use super::record;
use super::record::Connection;
use crate::office::connections::rows::orders::OrderKey;
use crate::office::connections::rows::received as rows;
use crate::office::connections::rows::received::{Fate, Finding, ReceivedRow};
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::records::read_value;
use crate::office::system::rows::receive::Verdict;
use crate::pledges::orders::{Event, RefundOfOrder, read};
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{NoMetadata, OperatorStore, ReceivedKey, StoreError};
use crate::pledges::time::DAY_MS;

/// How long Workers KV may take to show what was received, in milliseconds. After that, it counts as lost.
const SHOWN_MS: u64 = DAY_MS;

/// Reads deliveries of shop systems, and pledges what they order.
#[expect(missing_debug_implementations, reason = "ports")]
pub struct Intake<'i, S, C, E, A> {
    pub store: &'i S,
    pub ledger: &'i dyn Ledger,
    pub clock: &'i C,
    pub entropy: &'i E,
    /// The service, and the APIs of shop systems.
    pub api: &'i A,
}

impl<S: OperatorStore, C: Clock, E: Entropy, A: PledgeApi + ShopApi> Intake<'_, S, C, E, A> {
    /// Reads a delivery, unless that was done before. `id` is the delivery's ID, `attempt` the number of this attempt from 1.
    /// A delivery that cannot be read now is noted as waiting, so that the cron reads it if the queue does not. A delivery
    /// whose record cannot be deleted comes again, too.
    pub async fn read(&self, id: &str, attempt: u32) -> Verdict {
        let Some(key) = ReceivedKey::from_id(id) else { return Verdict::Done }; // not from the service
        match self.try_to_read(&key).await {
            Ok(Fate::Waiting) => Verdict::later(attempt),
            Ok(_) => Verdict::Done,
            Err(error) => {
                let waiting = Finding::waiting(&error);
                let _or_the_queue_repeats_it = rows::keep(self.ledger, &row(&key, waiting)).await;
                Verdict::later(attempt)
            }
        }
    }

    async fn try_to_read(&self, key: &ReceivedKey) -> Result<Fate> {
        let known = rows::get(self.ledger, &key.id()).await?.map(|row| row.finding.outcome);
        let outcome = match known.filter(|outcome| *outcome != Fate::Waiting) {
            Some(outcome) => outcome,
            None => self.find_out(key).await?,
        };
        if outcome.is_over() {
            self.store.remove(key).await?; // after the row, which a failure leaves as it is
        }
        Ok(outcome)
    }

    /// Reads a delivery, and writes what became of it.
    async fn find_out(&self, key: &ReceivedKey) -> Result<Fate> {
        let finding = match record::find(self.ledger, key.connection()).await? {
            Some(connection) => self.read_for(key, &connection).await?,
            None => Finding::new(Fate::Ended),
        };
        let outcome = finding.outcome;
        rows::keep(self.ledger, &row(key, finding)).await?;
        Ok(outcome)
    }

    /// Lists an order that was fetched. Unless it is over, it is kept as if it had been sent, so that it can be read again.
    pub(super) async fn keep_fetched(
        &self,
        connection: &Connection,
        body: &[u8],
        finding: Finding,
    ) -> Result<()> {
        let mut random = [0; ReceivedKey::RANDOM_BYTES];
        self.entropy.fill(&mut random);
        let key = ReceivedKey::new(self.clock.now_ms(), connection.id.clone(), random);
        if !finding.outcome.is_over() {
            self.store.put(&key, body.to_vec(), &NoMetadata).await?;
        }
        Ok(rows::keep(self.ledger, &row(&key, finding)).await?)
    }

    async fn read_for(&self, key: &ReceivedKey, connection: &Connection) -> Result<Finding> {
        let Some(body) = read_value(self.store, key.clone()).await? else {
            let is_late = self.clock.now_ms().saturating_sub(key.time_ms()) > SHOWN_MS;
            return if is_late {
                Ok(Finding::new(Fate::Lost))
            } else {
                Err(StoreError::Unavailable.into())
            };
        };
        self.read_body(connection, &body).await
    }

    /// Reads what a shop system sent, or what was fetched from it.
    pub(super) async fn read_body(&self, connection: &Connection, body: &[u8]) -> Result<Finding> {
        match read(connection.record.endpoint.system, body) {
            Ok(Event::Order(order)) => {
                let order = self.with_items(connection, body, order).await?;
                self.order(connection, &order).await
            }
            Ok(Event::Refund(RefundOfOrder { order_id, refund })) => {
                self.refund(connection, &order_id, refund).await
            }
            Ok(Event::OrderId(number)) => self.order_by_id(connection, number).await,
            Ok(Event::Ignored(why)) => Ok(Finding::new(Fate::Ignored).because(why.to_string())),
            Err(error) => Ok(Finding::new(Fate::Unreadable).because(error.to_string())),
        }
    }
}

impl Finding {
    /// Says that something did not answer, so that the delivery has to be read again.
    pub(super) fn waiting(error: &OperatorError) -> Self {
        Finding::new(Fate::Waiting).because(error.to_string())
    }
}

impl Connection {
    pub(super) fn order_key(&self, number: &str) -> OrderKey {
        let record = &self.record;
        let (scope, store) = (record.scope.clone(), record.store.clone());
        OrderKey { scope, system: record.endpoint.system, store, number: number.to_owned() }
    }
}

fn row(key: &ReceivedKey, finding: Finding) -> ReceivedRow {
    let connection = key.connection().as_str().to_owned();
    ReceivedRow { delivery: key.id(), connection, at: key.time_ms(), finding }
}
