//! What is kept of an order once its pledge was computed, and what its refunds credit.

use super::order::{Order, Refund};
use super::pledge::{apply, by_offering};
use super::remaining::{Remaining, is_nothing};
use super::settings::{Basis, OrderSettings};
use crate::pledges::decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Maximum number of refunds that are kept of one order.
const MAX_REFUNDS: usize = 1_000;

/// What is kept of an order and of the rules that pledged for it. It has no address, no name, and no attributes but
/// those that rules read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Frozen {
    pub order: Order,
    /// The hash of the buyer's address, which the caller computes.
    pub person: String,
    pub settings: OrderSettings,
    /// What was pledged, by offering ID.
    pub pledged: Vec<(String, Decimal)>,
    /// The refunds so far, by ID.
    #[serde(default)]
    pub refunds: BTreeMap<String, Refund>,
}

/// What the refunds of an order credit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "refunded", content = "amounts", rename_all = "camelCase")]
pub enum Refunded {
    Nothing,
    /// The amounts to credit in all, by offering ID.
    Part(Vec<(String, Decimal)>),
    /// Everything was refunded: the whole pledge is credited.
    Whole,
}

/// Keeps what later events need of an order: to see what changed, and to credit refunds.
pub fn freeze(order: &Order, settings: &OrderSettings, person: String) -> Frozen {
    let pledged = by_offering(&apply(order, settings, &Remaining::of(order, &[])).pledged);
    let mut frozen = Frozen {
        order: without_person(order, settings),
        person,
        settings: settings.clone(),
        pledged,
        refunds: BTreeMap::new(),
    };
    frozen.merge(&order.refunds);
    frozen
}

impl Frozen {
    /// Adds refunds. A refund with the ID of one before is a later state of it: of each quantity and sum, the larger
    /// counts. Returns whether something changed.
    pub fn merge(&mut self, refunds: &[Refund]) -> bool {
        let before = self.refunds.clone();
        for refund in refunds {
            let is_known = self.refunds.contains_key(&refund.id);
            if is_known || self.refunds.len() < MAX_REFUNDS {
                let own = self.refunds.entry(refund.id.clone()).or_default();
                *own = larger(own, refund);
            }
        }
        self.refunds != before
    }

    /// Returns what the refunds credit: what was pledged minus what the rules pledge without the refunded lines and
    /// sums. A rule per order, or a choice, is credited only when everything was refunded.
    ///
    /// The caller decides by [`OrderSettings::credits_refunds`] whether it credits anything.
    pub fn refunded(&self) -> Refunded {
        let refunds: Vec<_> = self.refunds.values().cloned().collect();
        if is_nothing(&self.order, &refunds) {
            return Refunded::Whole;
        }
        let remaining = Remaining::of(&self.order, &refunds);
        let kept: BTreeMap<_, _> =
            by_offering(&apply(&self.order, &self.settings, &remaining).pledged)
                .into_iter()
                .collect();
        let credits = self.pledged.iter().filter_map(|(offering, pledged)| {
            let kept = kept.get(offering).cloned().unwrap_or_default();
            let credit = pledged.minus(&kept)?.trimmed();
            (!credit.is_zero()).then(|| (offering.clone(), credit))
        });
        let credits: Vec<_> = credits.collect();
        if credits.is_empty() { Refunded::Nothing } else { Refunded::Part(credits) }
    }
}

fn larger(own: &Refund, other: &Refund) -> Refund {
    let mut lines: BTreeMap<&str, &Decimal> = BTreeMap::new();
    for (line, quantity) in own.lines.iter().chain(&other.lines) {
        let most = lines.entry(line).or_insert(quantity);
        if quantity.is_at_least(most) {
            *most = quantity;
        }
    }
    let sums = [&own.sum, &other.sum].into_iter().flatten();
    let sum = sums.reduce(|most, sum| if sum.is_at_least(most) { sum } else { most });
    Refund {
        id: other.id.clone(),
        lines: lines
            .into_iter()
            .map(|(line, quantity)| (line.to_owned(), quantity.clone()))
            .collect(),
        sum: sum.cloned(),
        currency: own.currency.clone().or_else(|| other.currency.clone()),
        is_whole: own.is_whole || other.is_whole,
    }
}

fn without_person(order: &Order, settings: &OrderSettings) -> Order {
    let names = settings.rules.iter().filter_map(|rule| match &rule.basis {
        Basis::Choice { attribute } => Some(attribute),
        _ => None,
    });
    let names: Vec<_> = names.collect();
    let is_read = |attribute: &(String, String)| names.contains(&&attribute.0);
    let mut kept = Order {
        email: None,
        first_name: None,
        last_name: None,
        name: None,
        refunds: Vec::new(),
        ..order.clone()
    };
    kept.attributes.retain(is_read);
    kept.lines.iter_mut().for_each(|line| line.attributes.retain(is_read));
    kept
}
