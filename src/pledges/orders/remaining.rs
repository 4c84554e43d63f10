//! What remains of an order after its refunds.

use super::order::{Line, LineKind, Order, Refund};
use crate::pledges::decimal::Decimal;
use std::collections::BTreeMap;

/// What remains of an order after its refunds.
pub(super) struct Remaining<'r> {
    /// The refunded quantities, by the line's ID.
    lines: BTreeMap<&'r str, Decimal>,
    /// The part of every sum that remains.
    pub(super) share: Share,
}

/// A fraction of 0 to 1, exact.
pub(super) struct Share {
    pub(super) numerator: Decimal,
    pub(super) denominator: Decimal,
}

impl Share {
    pub(super) fn all() -> Self {
        Share { numerator: Decimal::from_units(1, 0), denominator: Decimal::from_units(1, 0) }
    }
}

impl<'r> Remaining<'r> {
    pub(super) fn of(order: &Order, refunds: &'r [Refund]) -> Self {
        let mut lines: BTreeMap<&str, Decimal> = BTreeMap::new();
        for (line, quantity) in refunds.iter().flat_map(|refund| &refund.lines) {
            let sum = lines.entry(line).or_default();
            *sum = sum.plus(quantity);
        }
        Remaining { lines, share: share(order, refunds) }
    }

    /// Returns how many whole items of a line remain. Lines that are no goods have none.
    pub(super) fn items(&self, line: &Line) -> u64 {
        let refunded = self.lines.get(&*line.id).cloned().unwrap_or_default();
        let remaining = line.quantity.minus(&refunded).unwrap_or_default();
        if line.kind == LineKind::Goods { remaining.floor() } else { 0 }
    }

    /// Returns whether no item of any goods remains. An order without goods always has something that remains.
    fn has_no_items(&self, order: &Order) -> bool {
        let has_goods = |line: &&Line| line.kind == LineKind::Goods && !line.quantity.is_zero();
        let mut lines = order.lines.iter().filter(has_goods).peekable();
        let is_gone = |line: &Line| {
            let refunded = self.lines.get(&*line.id);
            refunded.is_some_and(|refunded| refunded.is_at_least(&line.quantity))
        };
        lines.peek().is_some() && lines.all(is_gone)
    }
}

/// Returns whether everything was refunded: by a whole refund, the sum of all refunds, or the quantities of all goods.
pub(super) fn is_nothing(order: &Order, refunds: &[Refund]) -> bool {
    let remaining = Remaining::of(order, refunds);
    refunds.iter().any(|refund| refund.is_whole)
        || remaining.share.numerator.is_zero()
        || remaining.has_no_items(order)
}

/// Returns the share of the total that was not paid back. If the total or what was paid back is unknown, this is all.
fn share(order: &Order, refunds: &[Refund]) -> Share {
    let is_own =
        |refund: &&Refund| refund.currency.as_ref().is_none_or(|own| *own == order.currency);
    let paid_back = refunds.iter().filter(is_own).filter_map(|refund| refund.sum.clone());
    let paid_back = Decimal::sum(paid_back);
    match order.sums.total.as_ref().filter(|total| !total.is_zero()) {
        Some(total) => Share {
            numerator: total.minus(&paid_back).unwrap_or_default(),
            denominator: total.clone(),
        },
        None => Share::all(),
    }
}
