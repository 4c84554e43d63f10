//! Statements: what a shop owes for a month, with a line for each offering and unit price.
//!
//! The ledger has the quantities of transactions by price list, and a price list never changes. So the amount
//! of a line is its quantity times its unit price. Each charge was rounded to cents, so these lines may
//! differ from the sum of the charges by some cents. A separate line shows this difference.
//!
//! One line `Other` combines all transactions whose charge cannot be derived from their price list. All lines
//! together always add up to the sum of the charges.

use super::due::{Due, MonthUsage, money};
use super::dues::dues;
use super::price_lists::PriceLists;
use crate::buyer::recipient::Profile;
use crate::office::orders::rule::TransactionFilter;
use crate::office::prices::rows as priced;
use crate::office::prices::rows::{PricedCharges, PricedMonth};
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::coverage::{Coverage, coverage_of_dues};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::ids::check_unit;
use crate::office::shops::rule::units;
use crate::pledges::charge::UnitPrice;
use crate::pledges::decimal::Decimal;
use crate::pledges::scope::Scope;
use crate::pledges::service::Clock;
use crate::pledges::settlement::{ScopeMonth, Settlement};
use crate::pledges::store::OperatorStore;
use crate::pledges::time::parse_ms;
use serde::Serialize;
use std::collections::BTreeMap;
use std::slice;

/// Largest number of lines for offerings in one currency. They fit one sheet of paper.
const MAX_LINES: usize = 20;
/// Largest number of quantities that are read. A month with more is not split by offering.
const MAX_QUANTITIES: usize = 5_000;
/// Maximum number of price lists that are read. Transactions that were charged by further price lists are in the line
/// Maximum number of times that the ledger is read for a statement. A statement needs two reads. If the
/// ledger changes between them, both are repeated.
const ATTEMPTS: usize = 3;

/// What a shop owes for a month.
#[derive(Clone, Debug, Serialize)]
pub struct Statement {
    /// The statement's number: the unit, the month and the mode. It is the same whenever the statement is
    /// created.
    pub number: String,
    #[serde(flatten)]
    pub of: ScopeMonth,
    /// The unit's profile, with the shop's name, address and tax text. `None` if the unit has no profile, or
    /// the profile cannot be read.
    #[serde(skip)]
    pub profile: Option<Profile>,
    /// What is owed, one entry for each currency.
    pub sums: Vec<StatementSum>,
    /// The payment; `None` if the month is not marked as paid.
    #[serde(rename = "paid")]
    pub settled: Option<Settlement>,
    /// Whether the month has ended and the ledger has all of its transactions. If not, the sums may still change.
    #[serde(rename = "complete")]
    pub is_complete: bool,
    #[serde(flatten)]
    pub coverage: Coverage,
}

/// What a shop owes for a month in one currency, with the lines that explain the sum of the charges.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StatementSum {
    #[serde(flatten)]
    pub due: Due,
    /// The lines. They add up to the sum of the charges.
    pub lines: Vec<Line>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    #[serde(flatten)]
    pub item: Item,
    /// A decimal with two places. Only the line for rounding can be negative, such as `-0.01`.
    pub amount: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Item {
    /// The pledges for an offering at one unit price.
    Offering {
        offering: String,
        /// The exact quantity, a decimal.
        quantity: String,
        /// The unit price; `None` if the offering had no price.
        unit_price: Option<String>,
    },
    /// All offerings beyond the maximum number of lines, combined.
    Further {
        /// Number of these offerings. An offering with several unit prices counts once for each.
        offerings: usize,
    },
    /// The difference between the lines above and the sum of the charges, because each charge was rounded to cents.
    Rounding,
    /// Transactions whose charge cannot be split by offering.
    Other {
        /// Number of these transactions.
        transactions: u64,
    },
}

/// Returns the statement of a month. Ledger cost: 6 to 8 queries. KV cost: 3 reads, and 2 reads per 5 price lists
/// of the month.
///
/// # Errors
/// - If the unit's ID is not valid, or the ledger does not keep the month.
/// - If the ledger changes between the reads at every attempt.
/// - If a settlement is damaged, or the ledger or the store fails.
pub async fn statement(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    clock: &impl Clock,
    of: &ScopeMonth,
) -> Result<Statement> {
    let Scope { unit, mode } = &of.scope;
    check_unit(unit)?;
    let coverage = coverage_of_dues(store, ledger, Some(slice::from_ref(&of.scope))).await?;
    coverage.check(of.month)?;
    let (usage, priced) = read(ledger, of, &coverage).await?;
    let lists = PriceLists::read(store, &of.scope, &priced).await?;
    let row = units::get(store, unit).await?;
    let sum = |due: Due| StatementSum { lines: lines(&due, &priced, &lists), due };
    Ok(Statement {
        number: format!("{unit}-{}-{}", of.month, mode.name()),
        of: of.clone(),
        profile: row.and_then(|row| row.profile),
        sums: usage.sums.into_iter().map(sum).collect(),
        settled: usage.settled,
        is_complete: is_complete(of, &coverage, clock.now_ms()),
        coverage,
    })
}

fn is_complete(of: &ScopeMonth, coverage: &Coverage, now_ms: u64) -> bool {
    let until = of.month.span_ms().map(|(_, until)| until);
    let complete_up_to = coverage.complete_up_to.as_deref().and_then(parse_ms);
    of.month.has_ended(now_ms) && until.is_some() && complete_up_to >= until
}

/// Reads the amounts due and the quantities of a month. If the ledger changes between these two reads, reads
/// both again.
async fn read(
    ledger: &dyn Ledger,
    of: &ScopeMonth,
    coverage: &Coverage,
) -> Result<(MonthUsage, PricedMonth)> {
    let filter = TransactionFilter::of(&of.scope);
    for _ in 0..ATTEMPTS {
        let found = dues(ledger, &filter, &[of.month], coverage).await?.pop();
        let usage = found.unwrap_or_else(|| MonthUsage::new(of.clone()));
        let priced = priced::priced(ledger, of, MAX_QUANTITIES).await?;
        if is_of(&usage, &priced) {
            return Ok((usage, priced));
        }
    }
    Err(OperatorError::invalid(format!(
        "the transactions of {} are changing now: try again in a moment",
        of.month
    )))
}

/// Returns whether the amounts due and the quantities cover the same number of transactions in each currency.
fn is_of(usage: &MonthUsage, priced: &PricedMonth) -> bool {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for charges in &priced.charges {
        *counts.entry(&charges.by.currency_code).or_default() += charges.transactions;
    }
    let own = usage.sums.iter().filter(|due| due.transactions > 0);
    own.map(|due| (&*due.currency_code, due.transactions)).eq(counts)
}

// ---- Lines ---------------------------------------------------------------------------------------

/// An offering's quantity at one unit price. `price` is `None` if the offering had no price.
struct PricedItem<'p> {
    offering: &'p str,
    price: Option<&'p UnitPrice>,
    quantity: Decimal,
}

impl PricedItem<'_> {
    fn amount(&self) -> Decimal {
        let price = self.price.map(|price| price.times(self.quantity.clone()));
        price.unwrap_or_else(|| Decimal::from_units(0, 2))
    }
}

/// Returns the lines that explain the sum of the charges in one currency.
fn lines(due: &Due, priced: &PricedMonth, lists: &PriceLists) -> Vec<Line> {
    let (mut items, mut split, mut others) = (Vec::new(), Vec::new(), 0);
    let own = priced.charges.iter().filter(|it| it.by.currency_code == due.currency_code);
    for charges in own {
        match items_of(charges, priced, lists) {
            Some(own) => {
                items.extend(own);
                split.push(charges.amount.clone());
            }
            None => others += charges.transactions,
        }
    }
    let split = Decimal::sum(split.into_iter());
    let mut lines = offering_lines(items);
    let shown = Decimal::sum(lines.iter().map(|line| money(&line.amount)));
    add(&mut lines, Item::Rounding, &difference(&split, &shown));
    let rest = difference(&money(&due.amount), &split);
    if others > 0 {
        lines.push(Line { item: Item::Other { transactions: others }, amount: rest });
    }
    lines
}

fn add(lines: &mut Vec<Line>, item: Item, amount: &str) {
    if amount != "0.00" {
        lines.push(Line { item, amount: amount.to_owned() });
    }
}

/// Returns `a` − `b` with two places, such as `-0.01`.
fn difference(a: &Decimal, b: &Decimal) -> String {
    match (a.minus(b), b.minus(a)) {
        (Some(more), _) => more.to_money(),
        (None, Some(less)) => ["-", &less.to_money()].concat(),
        (None, None) => "0.00".to_owned(), // one of them is not negative
    }
}

/// Returns the quantities and prices of the transactions that were charged by one price list. Returns
/// `None` if quantities times prices do not match the charges.
fn items_of<'p>(
    charges: &PricedCharges,
    priced: &'p PricedMonth,
    lists: &'p PriceLists,
) -> Option<Vec<PricedItem<'p>>> {
    if priced.more || !charges.is_split {
        return None;
    }
    let list = lists.of(charges);
    let own = priced.quantities.iter().filter(|it| it.by == charges.by);
    let item = |it: &'p priced::PricedQuantity| PricedItem {
        offering: &it.offering,
        price: list.and_then(|list| list.unit_prices.get(&it.offering)),
        quantity: it.quantity.clone(),
    };
    let items: Vec<_> = own.map(item).collect();
    let exact = Decimal::sum(items.iter().map(PricedItem::amount));
    // Rounding changes each charge by half a cent at most.
    let tolerance = Decimal::from_units(charges.transactions.saturating_mul(5), 3);
    let apart = exact.minus(&charges.amount).or_else(|| charges.amount.minus(&exact))?;
    tolerance.minus(&apart).map(|_| items)
}

/// Returns a line for each offering and unit price, sorted by offering. If there are more than [`MAX_LINES`],
/// the last line combines the rest.
fn offering_lines(items: Vec<PricedItem<'_>>) -> Vec<Line> {
    let mut groups: BTreeMap<(&str, Option<String>), Vec<PricedItem<'_>>> = BTreeMap::new();
    for item in items {
        let price = item.price.map(|price| price.times(Decimal::from_units(1, 0)).to_exact());
        groups.entry((item.offering, price)).or_default().push(item);
    }
    let mut lines: Vec<_> = groups.into_values().filter_map(offering_line).collect();
    if lines.len() > MAX_LINES {
        let rest = lines.split_off(MAX_LINES - 1);
        let amount = Decimal::sum(rest.iter().map(|line| money(&line.amount))).to_money();
        lines.push(Line { item: Item::Further { offerings: rest.len() }, amount });
    }
    lines
}

/// Combines items with the same offering and unit price into one line.
fn offering_line(items: Vec<PricedItem<'_>>) -> Option<Line> {
    let first = items.first()?;
    let (offering, price) = (first.offering, first.price);
    let quantity = Decimal::sum(items.into_iter().map(|item| item.quantity));
    let item = Item::Offering {
        offering: offering.to_owned(),
        quantity: quantity.to_exact(),
        unit_price: price.map(|price| price.as_str().to_owned()),
    };
    Some(Line { item, amount: PricedItem { offering, price, quantity }.amount().to_money() })
}
