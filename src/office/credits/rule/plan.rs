//! Checks a request for a credit, and creates the row to write.

use super::credit::{CreditRequest, OfferingQuantity, Part};
use super::creditable::Creditable;
use super::reason::check_reason;
use super::refusal::{invalid, invalid_at};
use crate::office::audit::rule::Author;
use crate::office::credits::rows::{Charge, CreditRow, Credited, MAX_CREDITS, SeenMonth};
use crate::office::orders::rows::order::Order;
use crate::office::orders::rule as transactions;
use crate::office::payments::rule as payments;
use crate::office::payments::rule::due::money;
use crate::office::payments::rule::stated_money;
use crate::office::payments::rule::usage;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::refused::RefusalCode;
use crate::pledges::decimal::Decimal;
use crate::pledges::quantities::Quantities;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::{Month, ScopeMonth};
use crate::pledges::store::{Key as _, OperatorStore, SettlementKey};
use std::fmt::Arguments;

/// Largest number of quantities that one credit names.
const MAX_STATED: usize = 200;

/// Checks that a credit can be made. Returns the row to write to the ledger, and its month as it was seen. Writes nothing.
pub(super) async fn plan(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    request: &CreditRequest,
) -> Result<(CreditRow, SeenMonth)> {
    let record = transactions::get(store, &request.transaction).await?;
    let order = Creditable::read(store, ledger, &record).await?;
    let number = u32::try_from(order.credits.len()).unwrap_or(u32::MAX).saturating_add(1);
    if request.seen.is_some_and(|seen| seen.saturating_add(1) != number) {
        return Err(invalid(
            "the transaction was credited again after you began. Check what can still be credited, and \
             try again",
        ));
    }
    check_reason(&record, &order.row, &request.reason)?;
    if request.tell_buyer && request.part.is_some() {
        return Err(invalid_at(
            "cancelled",
            RefusalCode::NotAllowed,
            "only a full credit can show on the timeline that the transaction was cancelled. For a \
             full credit, leave out the amount and the quantities",
        ));
    }
    let (amount, quantities) = match &request.part {
        None => whole(&order)?,
        Some(part) => part_of(&order, part)?,
    };
    if number > MAX_CREDITS {
        return Err(invalid(format!("a transaction can have {MAX_CREDITS} credits at most")));
    }
    let month = Month::of(&order.row.created_at)
        .ok_or_else(|| invalid("the transaction's creation time is not a valid date-time"))?;
    let of = ScopeMonth { scope: order.row.scope.clone(), month };
    let (is_open, seen) = look(ledger, &of).await?;
    let is_own = is_open || !was_charged(store, ledger, request, &of, &order.row).await?;
    let running = Month::at(author.clock.now_ms()).filter(|_| !is_own);
    let booked_month = running.map_or(month, |running| running.max(month));
    let seen = match booked_month == month {
        true => seen,
        false => look(ledger, &ScopeMonth { month: booked_month, ..of }).await?.1,
    };
    let Order { id, scope, currency_code, .. } = order.row;
    let row = CreditRow {
        operation: author.operation_hash().unwrap_or_default(),
        id,
        number,
        scope,
        order_month: month,
        booked_month,
        currency: currency_code,
        charge: Charge::new(&order.charge),
        amount: Credited::new(&amount),
        quantities,
        reason: request.reason.clone(),
        change: String::new(),
        author: author.by.to_owned(),
        at: author.clock.now_ms(),
    };
    Ok((row, seen))
}

fn whole(order: &Creditable) -> Result<(Decimal, Quantities)> {
    let (amount, quantities) = (order.left(), order.left_quantities());
    if amount.is_zero() && quantities.is_empty() {
        return Err(invalid("the transaction is already credited in full"));
    }
    Ok((amount, quantities))
}

fn part_of(order: &Creditable, part: &Part) -> Result<(Decimal, Quantities)> {
    if order.charge.units(2).is_none() {
        return Err(invalid_at(
            "amount",
            RefusalCode::NotAllowed,
            "a charge above 2^53 - 1 cents can only be credited in full: leave out the amount and the quantities",
        ));
    }
    let Part { amount: stated, quantities } = part;
    let amount = stated_money(stated).ok_or_else(|| {
        let problem = format_args!("write the amount as `1234.50`, not `{stated}`");
        invalid_at("amount", RefusalCode::Invalid, problem)
    })?;
    let (amount, left) = (money(&amount), order.left());
    if left.minus(&amount).is_none() {
        let (left, code) = (left.to_money(), &order.row.currency_code);
        let problem = format_args!("only {left} {code} of the charge can still be credited");
        return Err(invalid_at("amount", RefusalCode::NotAllowed, problem));
    }
    let quantities = quantities_of(order, quantities)?;
    if amount.is_zero() && quantities.is_empty() {
        return Err(invalid_at("amount", RefusalCode::Required, "enter an amount or a quantity"));
    }
    Ok((amount, quantities))
}

fn quantities_of(order: &Creditable, stated: &[OfferingQuantity]) -> Result<Quantities> {
    if stated.len() > MAX_STATED {
        let problem = format_args!("a credit can name {MAX_STATED} quantities at most");
        return Err(invalid_at("quantity", RefusalCode::NotAllowed, problem));
    }
    let left = order.left_quantities();
    let mut sums: Vec<(String, Decimal)> = Vec::with_capacity(stated.len());
    for OfferingQuantity { offering, quantity } in stated {
        let wrong =
            |code, problem: Arguments<'_>| invalid_at(("quantity", &**offering), code, problem);
        if sums.iter().any(|(other, _)| other == offering) {
            return Err(wrong(
                RefusalCode::Invalid,
                format_args!("`{offering}` is named twice: give one quantity for each offering"),
            ));
        }
        let asked = Decimal::parse_bounded(quantity).ok_or_else(|| {
            wrong(
                RefusalCode::Invalid,
                format_args!("write the quantity of `{offering}` as `2.5`, not `{quantity}`"),
            )
        })?;
        let own = left.get(offering).map(|own| own.decimal());
        let own = own.unwrap_or_else(|| Decimal::from_units(0, 0));
        if own.minus(&asked).is_none() {
            let own = own.to_exact();
            return Err(wrong(
                RefusalCode::NotAllowed,
                format_args!("only {own} of `{offering}` can still be credited"),
            ));
        }
        sums.push((offering.clone(), asked));
    }
    Ok(Quantities::of_sums(sums.into_iter()))
}

/// Returns whether a month is not marked as paid, and its last change. A credit is booked in its order's month while
/// that month is open, and in the current month afterwards. Ledger cost: 1 query.
async fn look(ledger: &dyn Ledger, of: &ScopeMonth) -> Result<(bool, SeenMonth)> {
    let last = payments::last_change(ledger, of).await?;
    let is_open = last.as_ref().is_none_or(|last| last.settlement.is_none());
    let change = last.map(|last| last.row.change);
    Ok((is_open, SeenMonth { name: SettlementKey(of).name(), change }))
}

/// Returns whether an order was charged with its month, which is marked as paid. If the order may
/// have been written after the payment, the request must state the answer. The ledger does not have
/// it, because a rebuild writes all rows again.
///
/// The credit of an order that was never charged is booked in the order's own month. There it takes
/// back a charge that nobody paid, and reduces nothing that is due.
async fn was_charged(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    request: &CreditRequest,
    of: &ScopeMonth,
    order: &Order,
) -> Result<bool> {
    let month = of.month;
    match (usage::is_late(store, ledger, of, order).await?, request.was_charged) {
        (true, None) => Err(invalid_at(
            "charged",
            RefusalCode::Required,
            format_args!(
                "the transaction may never have been charged: it was added or changed after {month} was marked as \
                 paid, and the sum of {month} differs from its payment. Check the payment, and state whether the \
                 transaction was charged (`charged`: yes or no). If it was not, the credit is booked in {month}, and \
                 reduces nothing that is due"
            ),
        )),
        (false, Some(false)) => Err(invalid_at(
            "charged",
            RefusalCode::NotAllowed,
            format_args!("the transaction is not one that came after {month} was marked as paid"),
        )),
        (_, was_charged) => Ok(was_charged.unwrap_or(true)),
    }
}
