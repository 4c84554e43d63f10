//! What later events of an order do: they never change its pledge. Refunds credit it.

use super::api::PledgeApi;
use super::intake::Intake;
use super::record::Connection;
use crate::office::audit::rule::Author;
use crate::office::connections::rows::orders as rows;
use crate::office::connections::rows::orders::{OrderKey, OrderRow, OrderState, RefundedOrder};
use crate::office::connections::rows::received::{Fate, Finding};
use crate::office::credits::rule as credits;
use crate::office::credits::rule::{CreditRequest, Credits, OfferingQuantity, Part};
use crate::office::orders::rule as transactions;
use crate::office::payments::rule::due::money;
use crate::office::shared::rows::port::Statement;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::records::{load, put_record};
use crate::office::shared::rule::refused::RefusalCode;
use crate::pledges::decimal::Decimal;
use crate::pledges::orders::{Frozen, Order, Refund, Refunded, differences};
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{Cancelled, CancelledKey, OperatorStore, StoreError};
use crate::pledges::time::date_time;
use crate::pledges::types::{Amount, Impact, TransactionId};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What refunds of an order have credited so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct CreditedSoFar {
    is_whole: bool,
    /// The quantity of each offering, as a decimal.
    quantities: Vec<(String, Decimal)>,
}

impl CreditedSoFar {
    /// Returns whether all that is due was credited.
    fn covers(&self, due: &Refunded) -> bool {
        match due {
            _ if self.is_whole => true,
            Refunded::Nothing => true,
            Refunded::Whole => false,
            Refunded::Part(quantities) => quantities.iter().all(|(offering, due)| {
                let own = self.quantities.iter().find(|(own, _)| own == offering);
                own.is_some_and(|(_, own)| own.is_at_least(due))
            }),
        }
    }
}

/// An order whose pledge was made.
pub(super) struct KnownOrder<'k> {
    key: &'k OrderKey,
    row: OrderRow,
    frozen: Frozen,
}

impl<'k> KnownOrder<'k> {
    pub(super) fn read(key: &'k OrderKey, row: OrderRow) -> Result<Self> {
        let frozen = serde_json::from_str(row.facts.as_deref().unwrap_or_default())?;
        Ok(KnownOrder { key, row, frozen })
    }
}

impl<S: OperatorStore, C: Clock, E: Entropy, A: PledgeApi> Intake<'_, S, C, E, A> {
    /// Reads a refund that came without its order. If the order is not known yet, it will pledge nothing.
    pub(super) async fn refund(
        &self,
        connection: &Connection,
        number: &str,
        refund: Refund,
    ) -> Result<Finding> {
        let key = connection.order_key(number);
        let row = self.hold(connection, &key).await?;
        let finding = match row.state {
            OrderState::Held => Finding::new(Fate::Held),
            OrderState::Frozen => return Err(StoreError::Unavailable.into()), // it is being recorded
            OrderState::Pledged => {
                self.refunds(connection, KnownOrder::read(&key, row)?, &[refund]).await?
            }
        };
        Ok(Finding { number: Some(number.to_owned()), ..finding })
    }

    /// Compares an order with its pledge, and credits its refunds.
    pub(super) async fn later_event(
        &self,
        connection: &Connection,
        known: KnownOrder<'_>,
        order: &Order,
        person: &str,
    ) -> Result<Finding> {
        let differences = differences(&known.frozen, order, person);
        let finding = self.refunds(connection, known, &order.refunds).await?;
        let words = differences.iter().map(ToString::to_string).chain(finding.detail.clone());
        let words = words.collect::<Vec<_>>().join(". ");
        Ok(Finding { detail: Some(words).filter(|words| !words.is_empty()), ..finding })
    }

    /// Credits what the refunds of an order take back, unless that was done before.
    pub(super) async fn refunds(
        &self,
        connection: &Connection,
        KnownOrder { key, row, mut frozen }: KnownOrder<'_>,
        refunds: &[Refund],
    ) -> Result<Finding> {
        let known = Finding { id: row.id.clone(), ..Finding::new(Fate::Known) };
        let so_far = row.credited.as_deref().map(serde_json::from_str).transpose()?;
        let so_far: CreditedSoFar = so_far.unwrap_or_default();
        if so_far.is_whole {
            self.mark_cancelled(row.id.as_deref()).await?;
        }
        let is_new = frozen.merge(refunds);
        let due = if connection.record.settings.credits_refunds {
            frozen.refunded()
        } else {
            Refunded::Nothing
        };
        if !is_new && so_far.covers(&due) {
            return Ok(known);
        }
        let facts = serde_json::to_string(&frozen)?;
        let keeping = |credited: &CreditedSoFar| {
            let credited = serde_json::to_string(credited)?;
            let (version, facts, credited) = (row.version, &*facts, &*credited);
            Ok(rows::refunding(&RefundedOrder { key, version, facts, credited })?)
        };
        let id = row.id.as_deref().unwrap_or_default();
        match self.credit(id, &due, &so_far, keeping).await {
            Ok(Some(words)) => Ok(Finding { outcome: Fate::Credited, ..known }.because(words)),
            Ok(None) => Ok(known),
            Err(error) if error.is_at("id") => Err(error), // Workers KV does not show the transaction yet
            Err(OperatorError::Invalid(refused)) if refused.code != RefusalCode::TryAgain => {
                let now = rows::get(self.ledger, key).await?;
                if now.is_none_or(|now| now.version != row.version) {
                    return Err(StoreError::Unavailable.into()); // another event of the order was first: compare again
                }
                Ok(known.because(format!("The refund was not credited: {}", refused.text)))
            }
            Err(error) => Err(error),
        }
    }

    /// Marks a transaction as cancelled, unless it is: the attempt that credited it in full may have ended before.
    async fn mark_cancelled(&self, id: Option<&str>) -> Result<()> {
        let Some(id) = id.and_then(TransactionId::parse) else { return Ok(()) };
        let key = CancelledKey(&id);
        if load::<_, Cancelled>(self.store, key).await?.is_some() {
            return Ok(());
        }
        let cancelled = Cancelled { at: date_time(self.clock.now_ms()) };
        put_record(self.store, &key, &cancelled).await
    }

    /// Credits a transaction, and notes this at its order in the same database transaction: `keeping` returns the statements.
    /// Returns the credit in words; `None` if there was nothing to credit.
    async fn credit(
        &self,
        id: &str,
        due: &Refunded,
        so_far: &CreditedSoFar,
        keeping: impl Fn(&CreditedSoFar) -> Result<[Statement; 2]>,
    ) -> Result<Option<String>> {
        let part = match due {
            Refunded::Nothing => None,
            Refunded::Whole => (!so_far.is_whole).then_some(None),
            Refunded::Part(quantities) => self.part(id, quantities, so_far).await?.map(Some),
        };
        let Some(part) = part else {
            self.ledger.run(&keeping(so_far)?).await?;
            return Ok(None);
        };
        let now = match due {
            Refunded::Part(quantities) => {
                CreditedSoFar { is_whole: false, quantities: quantities.clone() }
            }
            _ => CreditedSoFar { is_whole: true, ..so_far.clone() },
        };
        let request = CreditRequest {
            transaction: id.to_owned(),
            tell_buyer: part.is_none(),
            part,
            reason: "refunded in the shop".to_owned(),
            was_charged: None,
            seen: None,
        };
        let author = Author::new(BY, self.clock, self.entropy)?;
        let together = keeping(&now)?;
        let done = credits::add_with(self.store, self.ledger, &author, &request, &together).await;
        if let (Err(OperatorError::Invalid(_)), Refunded::Part(quantities)) = (&done, due)
            && self.part(id, quantities, so_far).await? != request.part
        {
            return Err(StoreError::Unavailable.into()); // somebody credited the order meanwhile: compare again
        }
        let done = done?;
        Ok(Some(format!("Credited {}.", done.outcome.in_words())))
    }

    /// Returns the part of a transaction that is to be credited: what the refunds take back, without what was credited
    /// before, and never more than is left.
    async fn part(
        &self,
        id: &str,
        quantities: &[(String, Decimal)],
        so_far: &CreditedSoFar,
    ) -> Result<Option<Part>> {
        let record = transactions::get(self.store, id).await?;
        let Credits { left, .. } = credits::of(self.store, self.ledger, &record).await?;
        let mut due = Vec::new();
        for (offering, all) in quantities {
            let before = so_far.quantities.iter().find(|(own, _)| own == offering);
            let before = before.map_or_else(Decimal::default, |(_, quantity)| quantity.clone());
            let own = left.quantities.iter().find(|own| own.offering == *offering);
            let own = own.and_then(|own| Decimal::parse_bounded(&own.quantity)).unwrap_or_default();
            let new = all.minus(&before).unwrap_or_default();
            let new = if own.minus(&new).is_some() { new } else { own };
            if !new.is_zero() {
                let quantity = new.to_exact();
                due.push(OfferingQuantity { offering: offering.clone(), quantity });
            }
        }
        if due.is_empty() {
            return Ok(None);
        }
        let impacts: Vec<_> = due.iter().filter_map(impact).collect();
        let price = match record.prices(self.store).await? {
            Some(list) => list.price_list.amount(impacts.iter()),
            None if money(&left.amount).is_zero() => left.amount.clone(),
            None => return Err(OperatorError::invalid(NO_PRICES)),
        };
        let is_left = money(&left.amount).minus(&money(&price)).is_some();
        let amount = if is_left { price } else { left.amount };
        Ok(Some(Part { amount, quantities: due }))
    }
}

const NO_PRICES: &str =
    "the price list by which the order was charged is not known. Credit the transaction by hand";

/// The author of credits that refunds make, as the audit log shows it.
const BY: &str = "shop system";

fn impact(quantity: &OfferingQuantity) -> Option<Impact<'_>> {
    let offering_id = Cow::Borrowed(&*quantity.offering);
    Some(Impact { amount: Amount::parse(&quantity.quantity)?, offering_id })
}
