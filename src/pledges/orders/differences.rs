//! What changed in an order after its pledge was made.

use super::frozen::Frozen;
use super::order::{Line, Order};
use crate::pledges::decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

/// Maximum number of differences that are listed.
const MAX_DIFFERENCES: usize = 100;

/// A change of an order, such as `quantity of MUG: 2 → 1`. It never has personal data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// What changed, such as `quantity of MUG`.
    pub what: String,
    /// The value before; `None` if there was none, or if it is personal.
    pub before: Option<String>,
    /// The value now; `None` if there is none, or if it is personal.
    pub after: Option<String>,
}

impl Display for Difference {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let of = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
        match (&self.before, &self.after) {
            (None, None) => write!(out, "{} changed", self.what),
            (before, after) => write!(out, "{}: {} → {}", self.what, of(before), of(after)),
        }
    }
}

/// Returns what changed since the order was frozen, at most 100 differences. `person` is the hash of the later order's
/// address.
pub fn differences(frozen: &Frozen, later: &Order, person: &str) -> Vec<Difference> {
    let before = &frozen.order;
    let text = |what, before: &str, after: &str| difference(what, Some(before), Some(after));
    let address = (frozen.person != person).then(|| Difference {
        what: "the address".to_owned(),
        before: None,
        after: None,
    });
    let order = [
        address,
        text("status", &before.status, &later.status),
        text("number", &before.number, &later.number),
        text("currency", &before.currency, &later.currency),
        sum("total", before.sums.total.as_ref(), later.sums.total.as_ref()),
    ];
    let lines = lines(&before.lines, &later.lines);
    order.into_iter().flatten().chain(lines).take(MAX_DIFFERENCES).collect()
}

fn lines(before: &[Line], after: &[Line]) -> Vec<Difference> {
    let by_id = |lines: &[Line]| -> BTreeMap<String, Decimal> {
        lines.iter().map(|line| (line.id.clone(), line.quantity.clone())).collect()
    };
    let (old, new) = (by_id(before), by_id(after));
    let added = after.iter().filter(|line| !old.contains_key(&line.id));
    let lines = before.iter().chain(added);
    let changed = lines.filter_map(|line| {
        let what = ["quantity of ", label(line)].concat();
        sum(&what, old.get(&line.id), new.get(&line.id))
    });
    changed.collect()
}

/// Returns the SKU of a line, or else its title or ID.
fn label(line: &Line) -> &str {
    line.sku.as_ref().or(line.title.as_ref()).unwrap_or(&line.id)
}

fn sum(what: &str, before: Option<&Decimal>, after: Option<&Decimal>) -> Option<Difference> {
    let text = |sum: Option<&Decimal>| sum.map(Decimal::to_exact);
    difference(what, text(before).as_deref(), text(after).as_deref())
}

fn difference(what: &str, before: Option<&str>, after: Option<&str>) -> Option<Difference> {
    let owned = |value: Option<&str>| value.map(str::to_owned);
    let difference =
        || Difference { what: what.to_owned(), before: owned(before), after: owned(after) };
    (before != after).then(difference)
}
