//! Arguments and tables that several operations on transactions share.

use crate::office::orders::rows::order::Order;
use crate::office::shared::operation::covered::Covered;
use crate::office::shared::operation::facts::Fact;
use crate::office::shared::operation::spec::{Argument, mode, month, text, unit};
use crate::office::shared::operation::table::{some, table, time};
use serde::Serialize;

/// Largest number of transactions that a command lists.
pub(super) const MOST: usize = 1_000;
pub(super) const NONE: &str = "no matching transaction";

pub const EMAIL: Argument =
    Argument::option("email", text("address"), "the recipient's complete e-mail address");
pub(super) const MODE: Argument = mode("only test transactions, or only live ones");
pub(super) const UNIT: Argument = unit("only transactions of this unit");
pub const MONTH: Argument =
    month("the month in which the transactions were created, in UTC, such as 2026-11");

/// Returns a transaction as facts: its ID, creation time, unit, mode and charge.
pub(super) fn row_of(order: &Order) -> Vec<Fact> {
    vec![
        Fact::Id(order.id.clone()),
        Fact::Time(order.created_at.clone()),
        Fact::Text(order.scope.unit.clone()),
        Fact::Words(order.scope.mode.name().to_owned()),
        Fact::money(&order.amount, &order.currency_code),
    ]
}

const HEADS: [&str; 8] = ["ID", "CREATED", "UNIT", "MODE", "CHARGE", "UNPRICED", "ERASED", "NOTES"];

pub fn listed(orders: &[Order]) -> String {
    match orders.is_empty() {
        true => NONE.to_owned(),
        false => table(HEADS, &orders.iter().map(cells).collect::<Vec<_>>()),
    }
}

fn cells(order: &Order) -> [String; 8] {
    [
        order.id.clone(),
        time(&order.created_at),
        order.scope.unit.clone(),
        order.scope.mode.name().to_owned(),
        format!("{} {}", order.amount, order.currency_code),
        some(order.unpriced),
        order.erased.as_deref().map(time).unwrap_or_default(),
        notes(order),
    ]
}

/// Returns words such as `cancelled, credited 2.50, paid`; empty if none of these applies.
fn notes(order: &Order) -> String {
    let credited = order.credited.as_ref().map(|sum| ["credited ", sum].concat());
    let cancelled = order.cancelled.then(|| "cancelled".to_owned());
    let paid = order.paid.then(|| "paid".to_owned());
    [cancelled, credited, paid].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[derive(Serialize)]
pub(super) struct Transactions {
    pub transactions: Vec<Order>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<bool>,
    #[serde(flatten)]
    pub covered: Covered,
}
