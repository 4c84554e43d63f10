//! Formulas of sums, by which the [tables](super::table) compute the parts of an order's sum.
//!
//! A formula is a list of words: conditions, and terms that are added (`+path`) or subtracted (`-path`). A path through
//! a list is the sum over its items. In the last name of a path, `price*quantity` is the product of two members. A term
//! that ends in `?` counts as 0 if its value is absent or null. A formula without terms is 0.

use super::json::Json;
use super::path::{holds, number, select};
use crate::pledges::decimal::Decimal;

/// Computes the first of several formulas whose conditions hold and whose values are all there. Returns `None` if no
/// formula fits, or if the result is negative.
///
/// `places` is the number of decimal places of amounts that are whole numbers of the smallest unit; `None` for amounts
/// in the main unit.
pub(super) fn first(root: &Json<'_>, formulas: &[&str], places: Option<i32>) -> Option<Decimal> {
    formulas.iter().find_map(|formula| evaluate(root, formula, places))
}

#[derive(Default)]
struct SignedTerms {
    added: Vec<Decimal>,
    subtracted: Vec<Decimal>,
}

fn evaluate(root: &Json<'_>, formula: &str, places: Option<i32>) -> Option<Decimal> {
    let mut sum = SignedTerms::default();
    for word in formula.split_whitespace() {
        let is_right = match (word.strip_prefix('+'), word.strip_prefix('-')) {
            (Some(term), _) => sum.add_term(root, term, true, places),
            (_, Some(term)) => sum.add_term(root, term, false, places),
            _ => holds(root, word),
        };
        if !is_right {
            return None;
        }
    }
    let (added, subtracted) = (sum.added.into_iter(), sum.subtracted.into_iter());
    Some(Decimal::sum(added).minus(&Decimal::sum(subtracted))?.trimmed())
}

impl SignedTerms {
    fn add_term(
        &mut self,
        root: &Json<'_>,
        term: &str,
        is_added: bool,
        places: Option<i32>,
    ) -> bool {
        let Some(path) = term.strip_suffix('?') else {
            return self.add(root, term, is_added, places).is_some();
        };
        let is_absent = select(root, path).iter().all(|value| **value == Json::Null);
        is_absent || self.add(root, path, is_added, places).is_some()
    }

    /// Adds the amounts at a path. Returns `None` if one is missing.
    fn add(
        &mut self,
        node: &Json<'_>,
        path: &str,
        is_added: bool,
        places: Option<i32>,
    ) -> Option<()> {
        let Some((step, rest)) = path.split_once('.') else {
            return self.add_product(node, path, is_added, places);
        };
        let name = step.split_once('[').map(|(name, _)| name);
        match name.map(|name| node.get(name)) {
            Some(Some(Json::List(_))) => select(node, step)
                .into_iter()
                .try_for_each(|item| self.add(item, rest, is_added, places)),
            Some(_) => None,
            None => self.add(node.get(step)?, rest, is_added, places),
        }
    }

    fn add_product(
        &mut self,
        node: &Json<'_>,
        names: &str,
        is_added: bool,
        places: Option<i32>,
    ) -> Option<()> {
        let (mut product, mut is_added) = (Decimal::from_units(1, 0), is_added);
        for name in names.split('*') {
            let factor = number(node.get(name)?)?;
            product = product.times(&factor.size);
            is_added ^= factor.is_negative;
        }
        let amount = match places {
            Some(places) => product.times(&Decimal::from_units(1, places)),
            None => product,
        };
        if is_added {
            self.added.push(amount)
        } else {
            self.subtracted.push(amount)
        }
        Some(())
    }
}
