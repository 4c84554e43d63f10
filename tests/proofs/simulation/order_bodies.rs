//! What two shops send about their orders, and what their rules make of it: a tree for each item. The orders of both shops
//! have the same IDs.

use impact_pledge::pledges::scope::{Mode, Scope};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The unit of both shops.
pub const UNIT: &str = "unit_orders";
pub const SHOPS: &[&str] = &["one.myshopify.example", "other.myshopify.example"];
pub const NUMBERS: usize = 4;
/// How often an order can be edited. Each version has another address and other items.
pub const VERSIONS: usize = 3;
/// The line and the number of items of each refund. All together take back all items of version 0, and no other version.
pub const REFUNDS: &[(usize, u64)] = &[(0, 1), (0, 2), (1, 1), (1, 1)];

/// Returns the mode and the unit of both shops.
pub fn scope() -> Scope {
    Scope { unit: UNIT.to_owned(), mode: Mode::Live }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OrderId {
    /// The index in `SHOPS`.
    pub shop: usize,
    pub number: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Paid,
    Pending,
    Cancelled,
}

/// What a shop system sends.
#[derive(Clone, Debug)]
pub enum Sent {
    /// The order, with its refunds so far.
    Order { version: usize, status: Status, refunds: Vec<usize> },
    /// A refund alone.
    Refund(usize),
}

impl Sent {
    pub fn is_paid(&self) -> bool {
        matches!(self, Sent::Order { status: Status::Paid, .. })
    }

    pub fn is_cancelled(&self) -> bool {
        matches!(self, Sent::Order { status: Status::Cancelled, .. })
    }

    pub fn refunds(&self) -> &[usize] {
        match self {
            Sent::Order { refunds, .. } => refunds,
            Sent::Refund(refund) => std::slice::from_ref(refund),
        }
    }

    pub fn body(&self, order: OrderId) -> Vec<u8> {
        let refund = |number: &usize| refund(order, *number);
        let body = match self {
            Sent::Refund(number) => refund(number),
            Sent::Order { version, status, refunds } => json!({
                "id": order.number,
                "name": format!("#{}", order.number),
                "email": email(order, *version),
                "test": false,
                "cancelled_at": (*status == Status::Cancelled).then_some("2026-01-31T12:00:00Z"),
                "financial_status": if *status == Status::Pending { "pending" } else { "paid" },
                "currency": "EUR",
                "total_price": "100.00",
                "total_tax": "0.00",
                "taxes_included": true,
                "line_items": (0..2).map(|line| json!({
                    "id": line, "product_id": 10 + line, "title": "Mug", "quantity": items(*version, line), "price": "1.00",
                })).collect::<Vec<_>>(),
                "refunds": refunds.iter().map(refund).collect::<Vec<_>>(),
            }),
        };
        body.to_string().into_bytes()
    }
}

fn refund(order: OrderId, number: usize) -> Value {
    let (line, quantity) = REFUNDS[number];
    let lines = json!([{ "line_item_id": line, "quantity": quantity }]);
    json!({ "id": number, "order_id": order.number, "refund_line_items": lines, "transactions": [] })
}

fn items(version: usize, line: usize) -> u64 {
    [3 + version as u64, 2][line]
}

/// Returns the trees that an order pledges.
pub fn trees(version: usize) -> u64 {
    (0..2).map(|line| items(version, line)).sum()
}

/// Returns the trees that refunds take back.
pub fn refunded(version: usize, refunds: &BTreeSet<usize>) -> u64 {
    let mut lines = BTreeMap::<usize, u64>::new();
    for (line, quantity) in refunds.iter().map(|refund| REFUNDS[*refund]) {
        *lines.entry(line).or_default() += quantity;
    }
    lines.into_iter().map(|(line, quantity)| quantity.min(items(version, line))).sum()
}

pub fn email(order: OrderId, version: usize) -> String {
    format!("{}-{}-{version}@buyer.example", order.shop, order.number)
}

/// Returns the order and the version that an address belongs to.
pub fn owner(email: &str) -> Option<(OrderId, usize)> {
    let (name, _) = email.split_once('@')?;
    let mut parts = name.split('-').map(str::parse);
    let mut part = || parts.next()?.ok();
    Some((OrderId { shop: part()?, number: part()? }, part()?))
}
