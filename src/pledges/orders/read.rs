//! Reads the body of a shop system by its [table](super::table).

use super::event::{Event, ReadError, RefundOfOrder};
use super::json::Json;
use super::order::{Line, LineKind, Order, Payment, Refund, Sums, TaxedSum};
use super::path::{any, first, holds, number, select};
use super::system::System;
use super::table::{BodyKind, LineTable, MAX_LINES, RefundTable, SumTable, Table};
use super::{amount, formula, text};
use crate::pledges::decimal::Decimal;
use std::collections::BTreeSet;

/// Reads the body of a webhook, or an order that was fetched.
///
/// The kind of body follows from the body alone, because systems do not sign their topic headers. Optional members that
/// cannot be used are left out, such as an e-mail address that is a number.
///
/// # Errors
/// The body is not JSON, too large, not of this system, or without an ID or a currency.
pub fn read(system: System, body: &[u8]) -> Result<Event, ReadError> {
    let (table, json) = (system.table(), Json::parse(body)?);
    let fits = |when: &[&str]| when.iter().all(|condition| holds(&json, condition));
    let bodies = table.bodies.iter().filter(|body| fits(body.when));
    let found = bodies.map(|body| (body.kind, select(&json, body.at)));
    let found = found.filter_map(|(kind, nodes)| Some((kind, nodes.into_iter().next()?)));
    let (kind, node) = found.into_iter().next().ok_or(ReadError::Unknown)?;
    match kind {
        BodyKind::Order => order(table, node).map(|order| Event::Order(Box::new(order))),
        BodyKind::Refund => refund_of_order(table, node).map(Event::Refund),
        BodyKind::OrderId => text::id(node).map(Event::OrderId).ok_or(ReadError::NoId),
        BodyKind::Ignored(reason) => Ok(Event::Ignored(reason)),
    }
}

fn order(table: &Table, node: &Json<'_>) -> Result<Order, ReadError> {
    let fields = &table.order;
    let id = first(node, fields.id, text::id).ok_or(ReadError::NoId)?;
    let currency = first(node, fields.currency, text::currency).ok_or(ReadError::NoCurrency)?;
    let places = table.is_minor.then(|| amount::minor_places(&currency));
    let mut order = Order {
        number: first(node, fields.number, text::plain).unwrap_or_else(|| id.clone()),
        created: first(node, fields.created, text::date_time),
        email: first(node, fields.email, text::plain),
        first_name: first(node, fields.first_name, text::plain),
        last_name: first(node, fields.last_name, text::plain),
        name: first(node, fields.name, text::plain),
        language: first(node, fields.language, text::plain),
        status: first(node, fields.status, text::plain).unwrap_or_default(),
        payment: payment(table, node),
        is_test: any(node, fields.test),
        sums: sums(&table.sums, node, places),
        lines: lines(&table.lines, node)?,
        attributes: text::attributes(node, fields.attributes),
        refunds: Vec::new(),
        id,
        currency,
    };
    order.refunds = refunds(table, node, places, order.payment);
    Ok(order)
}

fn payment(table: &Table, node: &Json<'_>) -> Payment {
    let payments = table.order.payments.iter();
    let found = payments.clone().find(|(_, conditions)| any(node, conditions));
    found.map_or(Payment::Unpaid, |(payment, _)| *payment)
}

fn sums(table: &SumTable, node: &Json<'_>, places: Option<i32>) -> Sums {
    let of = |formulas| formula::first(node, formulas, places);
    let sum =
        |with_tax, without_tax| TaxedSum { with_tax: of(with_tax), without_tax: of(without_tax) };
    Sums {
        total: of(table.total),
        goods: sum(table.goods_with_tax, table.goods_without_tax),
        discounted: sum(table.discounted_with_tax, table.discounted_without_tax),
        shipping: sum(table.shipping_with_tax, table.shipping_without_tax),
        gift_cards: of(table.gift_cards),
    }
}

/// Reads the lines. A line without an ID is left out, and so is one with the ID of a line before it.
fn lines(table: &LineTable, node: &Json<'_>) -> Result<Vec<Line>, ReadError> {
    let nodes = select(node, table.at);
    if nodes.len() > MAX_LINES {
        return Err(ReadError::TooManyLines);
    }
    let mut seen = BTreeSet::new();
    let lines = nodes.into_iter().filter_map(|node| line(table, node));
    Ok(lines.filter(|line| seen.insert(line.id.clone())).collect())
}

fn line(table: &LineTable, node: &Json<'_>) -> Option<Line> {
    let products = table.products.iter().filter_map(|path| first(node, &[path], text::id));
    Some(Line {
        id: first(node, table.id, text::id)?,
        sku: first(node, table.sku, text::plain),
        products: products.collect(),
        title: first(node, table.title, text::plain),
        quantity: first(node, table.quantity, quantity).unwrap_or_default(),
        kind: kind(table, node),
        attributes: text::attributes(node, table.attributes),
    })
}

fn kind(table: &LineTable, node: &Json<'_>) -> LineKind {
    match () {
        () if any(node, table.gift_card) => LineKind::GiftCard,
        () if any(node, table.tip) => LineKind::Tip,
        () if any(node, table.deduction) => LineKind::Deduction,
        () => LineKind::Goods,
    }
}

/// Returns a quantity; `None` for a negative one.
fn quantity(node: &Json<'_>) -> Option<Decimal> {
    number(node).filter(|quantity| !quantity.is_negative).map(|quantity| quantity.size)
}

/// Reads the refunds in an order, except those of nothing. A cancelled or refunded order has one that is whole.
fn refunds(table: &Table, node: &Json<'_>, places: Option<i32>, payment: Payment) -> Vec<Refund> {
    let nodes = table.refunds.at.map(|at| select(node, at)).unwrap_or_default();
    let refunds = nodes.into_iter().take(MAX_LINES);
    let refunds = refunds.filter_map(|node| refund(&table.refunds, node, places));
    let refunds = refunds.filter(|refund| {
        !refund.lines.is_empty() || refund.sum.as_ref().is_some_and(|sum| !sum.is_zero())
    });
    let is_whole = matches!(payment, Payment::Cancelled | Payment::Refunded);
    let name: &'static str = payment.into();
    let whole = is_whole.then(|| Refund { id: name.to_owned(), is_whole, ..Refund::default() });
    refunds.chain(whole).collect()
}

/// Reads a refund. Returns `None` if it has no ID.
fn refund(table: &RefundTable, node: &Json<'_>, places: Option<i32>) -> Option<Refund> {
    let lines = select(node, table.lines).into_iter().take(MAX_LINES);
    let lines = lines.filter_map(|line| {
        let quantity = first(line, table.quantity, quantity).filter(|quantity| !quantity.is_zero());
        first(line, table.line, text::id).zip(quantity)
    });
    Some(Refund {
        id: first(node, table.id, text::id)?,
        lines: lines.collect(),
        sum: formula::first(node, table.sum, places),
        currency: first(node, table.currency, text::currency),
        is_whole: any(node, table.whole),
    })
}

fn refund_of_order(table: &Table, node: &Json<'_>) -> Result<RefundOfOrder, ReadError> {
    let order_id = first(node, table.refunds.order, text::id);
    let currency = first(node, table.order.currency, text::currency).unwrap_or_default();
    let places = table.is_minor.then(|| amount::minor_places(&currency));
    let refund = refund(&table.refunds, node, places);
    let (order_id, refund) = order_id.zip(refund).ok_or(ReadError::NoId)?;
    Ok(RefundOfOrder { order_id, refund })
}
