//! Turns an order into the body of a create request (§4.1).

use super::order::{Order, Payment};
use super::reason::Unpledged;
use super::remaining::Remaining;
use super::request;
use super::rules;
use super::settings::{OrderSettings, Rule};
use crate::pledges::decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The pledge that an order makes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderPledge {
    /// The JSON of the create request (§4.1).
    pub body: String,
    /// The amounts by offering ID, sorted.
    pub quantities: Vec<(String, Decimal)>,
    /// The rules whose cap the order exceeds.
    pub capped: Vec<Capped>,
    /// Why rules were skipped, although others pledge.
    pub skipped: Vec<Unpledged>,
}

/// An amount that a rule's cap made smaller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Capped {
    pub offering_id: String,
    /// The amount before the cap.
    pub amount: Decimal,
    pub cap: u32,
}

/// What the rules make of an order.
#[derive(Default)]
pub(super) struct Applied<'s> {
    /// The rules that pledge, with their amounts.
    pub(super) pledged: Vec<(&'s Rule, Decimal)>,
    pub(super) capped: Vec<Capped>,
    pub(super) skipped: Vec<Unpledged>,
}

/// Applies the rules of a connection to an order. Earlier refunds do not count: they are
/// [credited](super::Frozen::refunded) later.
///
/// The body has the reference, the buyer's address and names, the date of the order, and what the settings name.
///
/// # Errors
/// The reason why the order pledges nothing.
pub fn pledge(
    order: &Order,
    settings: &OrderSettings,
    is_live: bool,
) -> Result<OrderPledge, Unpledged> {
    check(order, settings, is_live)?;
    let outcome = apply(order, settings, &Remaining::of(order, &[]));
    if outcome.pledged.is_empty() {
        return Err(outcome.skipped.into_iter().next().unwrap_or(Unpledged::NothingMatches));
    }
    let body = request::body(order, settings, &outcome.pledged)?;
    let quantities = by_offering(&outcome.pledged);
    Ok(OrderPledge { body, quantities, capped: outcome.capped, skipped: outcome.skipped })
}

/// Checks everything about an order except its rules.
fn check(order: &Order, settings: &OrderSettings, is_live: bool) -> Result<(), Unpledged> {
    let is_paid = match &settings.paid {
        Some(paid) => paid.contains(&order.status),
        None => order.payment == Payment::Paid,
    };
    match order.payment {
        Payment::Draft => Err(Unpledged::Draft),
        Payment::Cancelled => Err(Unpledged::Cancelled),
        Payment::Refunded => Err(Unpledged::Refunded),
        _ if !is_paid => Err(Unpledged::Unpaid { status: order.status.clone() }),
        _ if is_live && order.is_test => Err(Unpledged::Test),
        _ if order.email.is_none() => Err(Unpledged::NoAddress),
        _ if settings.rules.is_empty() => Err(Unpledged::NoRules),
        _ => Ok(()),
    }
}

pub(super) fn apply<'s>(
    order: &Order,
    settings: &'s OrderSettings,
    remaining: &Remaining<'_>,
) -> Applied<'s> {
    let mut outcome = Applied::default();
    for rule in &settings.rules {
        match rules::apply(rule, order, remaining) {
            Ok(quantity) => {
                if quantity.uncapped != quantity.amount {
                    let (offering_id, amount) = (rule.offering_id.clone(), quantity.uncapped);
                    outcome.capped.push(Capped { offering_id, amount, cap: rule.cap });
                }
                if !quantity.amount.is_zero() {
                    outcome.pledged.push((rule, quantity.amount));
                }
            }
            Err(reason) => outcome.skipped.push(reason),
        }
    }
    outcome
}

/// Returns the sums of amounts by offering ID, sorted.
pub(super) fn by_offering(pledged: &[(&Rule, Decimal)]) -> Vec<(String, Decimal)> {
    let mut sums: BTreeMap<&str, Decimal> = BTreeMap::new();
    for (rule, amount) in pledged {
        let sum = sums.entry(&rule.offering_id).or_default();
        *sum = sum.plus(amount).trimmed();
    }
    sums.into_iter().map(|(id, sum)| (id.to_owned(), sum)).collect()
}
