//! Applies rules to an order: how much each rule pledges.

use super::order::{Line, Order, TaxedSum};
use super::reason::{SumPart, Unpledged};
use super::remaining::{Remaining, Share};
use super::settings::{Basis, Rule, SumRule};
use crate::pledges::decimal::Decimal;

/// What one rule pledges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RuleAmount {
    /// The amount, at most the rule's cap.
    pub(super) amount: Decimal,
    /// The amount before the cap.
    pub(super) uncapped: Decimal,
}

/// Returns what a rule pledges for what remains of an order. The amount may be 0.
///
/// A rule per order, and a choice, pledge the same however much remains. So does the `from` of a rule per item.
///
/// # Errors
/// The order has another currency than the rule, or lacks a sum that the rule reads.
pub(super) fn apply(
    rule: &Rule,
    order: &Order,
    remaining: &Remaining<'_>,
) -> Result<RuleAmount, Unpledged> {
    let sum = rule.sum.as_ref().map(|sum| rule_sum(sum, order)).transpose()?;
    let from = rule.sum.as_ref().and_then(|sum| sum.from.as_ref());
    let reads_rest = matches!(rule.basis, Basis::Sum { .. } | Basis::Percent { .. });
    let full = Share::all();
    let share = if reads_rest { &remaining.share } else { &full };
    let is_due = reaches(sum.as_ref(), from, share);
    let sum = sum.unwrap_or_default();
    let exact = if is_due { exact(rule, order, remaining, &sum) } else { Decimal::default() };
    Ok(capped(rule, &exact))
}

/// Returns the amount of a rule before it is rounded down and capped.
fn exact(rule: &Rule, order: &Order, remaining: &Remaining<'_>, sum: &Decimal) -> Decimal {
    match &rule.basis {
        Basis::Order { amount } => amount.clone(),
        Basis::Item { amount, skus, products } => {
            let lines = order.lines.iter().filter(|line| is_listed(line, skus, products));
            amount.times(&whole(lines.map(|line| remaining.items(line))))
        }
        Basis::Choice { attribute } => whole(choices(order, attribute)),
        Basis::Sum { every, amount } => {
            amount.times(&Decimal::from_units(divide(sum, &remaining.share, every), 0))
        }
        Basis::Percent { percent, price } => {
            let places = i32::from(rule.fractions);
            // 100 for the percentage, and a unit of 10^-places instead of a whole one
            let divisor = price.times(&Decimal::from_units(100, places));
            let units = divide(&sum.times(percent), &remaining.share, &divisor);
            Decimal::from_units(units, places)
        }
    }
}

fn capped(rule: &Rule, exact: &Decimal) -> RuleAmount {
    let places = i32::from(rule.fractions);
    let units = exact.quotient(&Decimal::from_units(1, places));
    let uncapped = Decimal::from_units(units, places).trimmed();
    let cap = Decimal::from_units(u64::from(rule.cap), 0);
    let amount = if uncapped.is_at_least(&cap) { cap.trimmed() } else { uncapped.clone() };
    RuleAmount { amount, uncapped }
}

/// Returns how often a divisor fits into a share of a sum.
fn divide(sum: &Decimal, share: &Share, divisor: &Decimal) -> u64 {
    sum.times(&share.numerator).quotient(&divisor.times(&share.denominator))
}

fn reaches(sum: Option<&Decimal>, from: Option<&Decimal>, share: &Share) -> bool {
    let Some((sum, from)) = sum.zip(from) else { return true };
    sum.times(&share.numerator).is_at_least(&from.times(&share.denominator))
}

fn whole(counts: impl Iterator<Item = u64>) -> Decimal {
    Decimal::sum(counts.map(|count| Decimal::from_units(count, 0)))
}

fn is_listed(line: &Line, skus: &[String], products: &[String]) -> bool {
    let has_sku = line.sku.as_ref().is_some_and(|sku| skus.contains(sku));
    let has_product = line.products.iter().any(|product| products.contains(product));
    (skus.is_empty() && products.is_empty()) || has_sku || has_product
}

/// Returns the whole numbers in attributes with this name: the first of the order, and the first of each line. A line's
/// number is not multiplied by its quantity.
fn choices(order: &Order, name: &str) -> impl Iterator<Item = u64> {
    let lists =
        std::iter::once(&order.attributes).chain(order.lines.iter().map(|line| &line.attributes));
    lists.filter_map(move |attributes| {
        let (_, text) = attributes.iter().find(|(own, _)| own == name)?;
        let is_whole = text.len() <= 15 && text.bytes().all(|byte| byte.is_ascii_digit());
        is_whole.then(|| text.parse().ok()).flatten()
    })
}

// ---- Sums ----------------------------------------------------------------------------------------

/// Returns the sum that a rule reads.
fn rule_sum(rule: &SumRule, order: &Order) -> Result<Decimal, Unpledged> {
    if rule.currency != order.currency {
        let (rule, order) = (rule.currency.clone(), order.currency.clone());
        return Err(Unpledged::Currency { rule, order });
    }
    let sums = &order.sums;
    let goods = if rule.discounts { &sums.discounted } else { &sums.goods };
    let mut sum = part(of_tax(goods, rule), SumPart::Goods)?;
    if rule.shipping {
        sum = sum.plus(&part(of_tax(&sums.shipping, rule), SumPart::Shipping)?);
    }
    if !rule.gift_cards {
        let gift_cards = part(sums.gift_cards.as_ref(), SumPart::GiftCards)?;
        sum = sum.minus(&gift_cards).unwrap_or_default();
    }
    Ok(sum)
}

fn of_tax<'s>(sum: &'s TaxedSum, rule: &SumRule) -> Option<&'s Decimal> {
    if rule.tax { sum.with_tax.as_ref() } else { sum.without_tax.as_ref() }
}

fn part(sum: Option<&Decimal>, part: SumPart) -> Result<Decimal, Unpledged> {
    sum.cloned().ok_or(Unpledged::SumUnknown { part })
}
