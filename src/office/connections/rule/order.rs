//! Pledges an order, once.

use super::api::{PledgeApi, Recorded};
use super::intake::Intake;
use super::record::{Connection, key_of};
use super::refund::KnownOrder;
use crate::office::connections::rows::orders as rows;
use crate::office::connections::rows::orders::{Decision, OrderKey, OrderRow, OrderState};
use crate::office::connections::rows::received::{Fate, Finding};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::system::rule::secret;
use crate::pledges::orders::{
    Event, Order, OrderPledge, OrderSettings, Payment, System, freeze, pledge, read,
};
use crate::pledges::scope::Mode;
use crate::pledges::secret::NamespaceSecret;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use serde::Serialize;
use serde_json::value::RawValue;

impl<S: OperatorStore, C: Clock, E: Entropy, A: PledgeApi> Intake<'_, S, C, E, A> {
    /// Pledges an order, or compares it with the pledge that was made for it before.
    pub(super) async fn order(&self, connection: &Connection, order: &Order) -> Result<Finding> {
        let key = connection.order_key(&order.id);
        let secret = secret::find(self.store).await?;
        let secret = secret.ok_or_else(|| OperatorError::invalid("there is no API key yet"))?;
        let scope = &connection.record.scope;
        let person = order.email.as_ref().map(|email| secret.email(scope, email));
        let finding = self.decide_once(connection, &key, (order, &secret)).await;
        let finding = finding.unwrap_or_else(|error| Finding::waiting(&error));
        // An order that is still to be pledged is not erased before it is read again.
        let is_settled = !finding.outcome.is_over() && finding.outcome != Fate::Waiting;
        let person = person.filter(|_| is_settled);
        let (number, shown) = (Some(order.id.clone()), Some(order.number.clone()));
        Ok(Finding { number, shown, person, ..finding })
    }

    async fn decide_once(
        &self,
        connection: &Connection,
        key: &OrderKey,
        by: (&Order, &NamespaceSecret),
    ) -> Result<Finding> {
        match rows::get(self.ledger, key).await? {
            Some(row) => self.decided(connection, key, row, by).await,
            None => self.decide(connection, key, by).await,
        }
    }

    async fn decide(
        &self,
        connection: &Connection,
        key: &OrderKey,
        (order, secret): (&Order, &NamespaceSecret),
    ) -> Result<Finding> {
        let record = &connection.record;
        let pledge = match pledge(order, &record.settings, record.scope.mode.is_live()) {
            Ok(pledge) => pledge,
            Err(_) if is_taken_back(key, order) => {
                let row = self.hold(connection, key).await?;
                return self.decided(connection, key, row, (order, secret)).await;
            }
            Err(reason) => return Ok(Finding::new(Fate::Skipped).because(reason.to_string())),
        };
        let facts = serde_json::to_string(&freeze(
            order,
            &record.settings,
            person(order, connection, secret),
        ))?;
        let decision = Decision {
            key,
            connection: connection.id.as_str(),
            at: self.clock.now_ms(),
            state: OrderState::Frozen,
            request: Some(&pledge.body),
            facts: Some(&facts),
        };
        let row = rows::decide(self.ledger, &decision).await?;
        let finding = self.decided(connection, key, row, (order, secret)).await?;
        let capped = capped_in_words(&pledge).filter(|_| finding.outcome == Fate::Pledged);
        Ok(Finding { detail: finding.detail.or(capped), ..finding })
    }

    /// Decides that an order pledges nothing, because it was taken back before it could be pledged. Returns the decision that
    /// stands.
    pub(super) async fn hold(&self, connection: &Connection, key: &OrderKey) -> Result<OrderRow> {
        let held = Decision {
            key,
            connection: connection.id.as_str(),
            at: self.clock.now_ms(),
            state: OrderState::Held,
            request: None,
            facts: None,
        };
        Ok(rows::decide(self.ledger, &held).await?)
    }

    /// Goes on with the decision that stands for an order.
    async fn decided(
        &self,
        connection: &Connection,
        key: &OrderKey,
        row: OrderRow,
        (order, secret): (&Order, &NamespaceSecret),
    ) -> Result<Finding> {
        match (row.state, &row.request) {
            (OrderState::Held, _) => Ok(Finding::new(Fate::Held)),
            (OrderState::Frozen, Some(request)) => {
                let api_key = key_of(&connection.id, &connection.record.scope, secret);
                let sent = self.send(connection, key, &api_key, request).await?;
                let is_first = sent.outcome == Fate::Pledged;
                if is_first && order.refunds.is_empty() || sent.id.is_none() {
                    return Ok(sent);
                }
                let Some(row) = rows::get(self.ledger, key).await? else { return Ok(sent) };
                let known = KnownOrder::read(key, row)?;
                if !is_first {
                    let person = person(order, connection, secret);
                    return self.later_event(connection, known, order, &person).await;
                }
                let finding = self.refunds(connection, known, &order.refunds).await?;
                Ok(Finding { outcome: Fate::Pledged, ..finding })
            }
            _ => {
                let known = KnownOrder::read(key, row)?;
                let person = person(order, connection, secret);
                self.later_event(connection, known, order, &person).await
            }
        }
    }

    /// Sends the create request of an order to the service. A repeated request is recorded once: of two deliveries that
    /// send it at the same moment, only one finds that the order was pledged by it.
    async fn send(
        &self,
        connection: &Connection,
        key: &OrderKey,
        api_key: &str,
        request: &str,
    ) -> Result<Finding> {
        let answer = self.api.create(api_key, &key.idempotency_key(), request).await;
        let none = || Recorded::Unknown(NO_ANSWER.to_owned());
        match answer.map_or_else(none, |answer| answer.recorded()) {
            Recorded::Yes(id) => {
                let is_first = rows::pledged(self.ledger, key, &id).await?;
                let outcome = if is_first { Fate::Pledged } else { Fate::Known };
                Ok(Finding { id: Some(id), ..Finding::new(outcome) })
            }
            Recorded::No(why) => {
                rows::forget(self.ledger, key).await?;
                Ok(Finding::new(Fate::Refused).because(why))
            }
            Recorded::Revoked if connection.is_new(self.clock.now_ms()) => {
                Err(OperatorError::invalid(NO_KEY))
            }
            Recorded::Revoked => {
                rows::forget(self.ledger, key).await?;
                Ok(Finding::new(Fate::Ended))
            }
            Recorded::Unknown(why) => Err(OperatorError::invalid(why)),
        }
    }
}

/// Returns whether an order was taken back for good. Its paid state, which comes later, is older then. In other systems than
/// Shopify, a cancelled order can still be paid.
fn is_taken_back(key: &OrderKey, order: &Order) -> bool {
    match order.payment {
        Payment::Refunded => true,
        Payment::Cancelled => key.system == System::Shopify,
        _ => false,
    }
}

const NO_KEY: &str = "Workers KV may not show the connection's API key yet";
const NO_ANSWER: &str = "the service does not answer, and the order is sent to it again";

/// Says which amounts were capped, and which rules were skipped; `None` if there are none.
fn capped_in_words(OrderPledge { capped, skipped, .. }: &OrderPledge) -> Option<String> {
    let capped = capped.iter().map(|it| {
        let (amount, offering) = (it.amount.to_exact(), &it.offering_id);
        format!("{amount} `{offering}` would be more than the cap of {}", it.cap)
    });
    let words: Vec<_> = capped.chain(skipped.iter().map(ToString::to_string)).collect();
    (!words.is_empty()).then(|| words.join(". "))
}

/// Returns a hash by which a later event shows whether the buyer was changed.
fn person(order: &Order, connection: &Connection, secret: &NamespaceSecret) -> String {
    let texts = [&order.email, &order.first_name, &order.last_name, &order.name];
    let whole: Vec<_> = texts.iter().map(|text| text.as_deref().unwrap_or_default()).collect();
    secret.email(&connection.record.scope, &whole.join("\n"))
}

/// What an order would pledge.
#[derive(Clone, Debug, Serialize)]
pub struct Preview {
    /// The create request; `None` if nothing would be pledged.
    pub pledge: Option<Box<RawValue>>,
    /// Why nothing would be pledged.
    pub reason: Option<String>,
}

/// Returns what an order would pledge. `body` is what the shop system sends.
pub fn preview(system: System, body: &[u8], settings: &OrderSettings, mode: Mode) -> Preview {
    let order = match read(system, body) {
        Ok(Event::Order(order)) => order,
        Ok(_) => return Preview { pledge: None, reason: Some("this is not an order".to_owned()) },
        Err(error) => return Preview { pledge: None, reason: Some(error.to_string()) },
    };
    match pledge(&order, settings, mode.is_live()) {
        Ok(pledge) => Preview { pledge: RawValue::from_string(pledge.body).ok(), reason: None },
        Err(reason) => Preview { pledge: None, reason: Some(reason.to_string()) },
    }
}
