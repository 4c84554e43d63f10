//! Sums of transactions, for the accounts.

use super::{Damaged, Listing, Row, Wanted};
use crate::decimal::{Decimal, text_as_money};
use crate::operator::{OperatorError, Result};
use crate::pledge::CurrencyCode;
use crate::scope::Mode;
use crate::store::{Key as _, OperatorStore, TransactionKey};
use serde::{Deserialize, Deserializer, Serialize, de};
use std::collections::BTreeMap;

/// A month of a year, in UTC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Month(String);

impl Month {
    /// Reads a month such as `2026-11`.
    ///
    /// # Errors
    /// For any other text.
    pub fn parse(text: &str) -> Result<Self> {
        let is_number = |part: &str, length| {
            part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit())
        };
        let is_month = text.split_once('-').is_some_and(|(year, month)| {
            is_number(year, 4) && is_number(month, 2) && ("01"..="12").contains(&month)
        });
        if is_month {
            return Ok(Month(text.to_owned()));
        }
        Err(OperatorError::Invalid(format!("`{text}` is not a month: write it as `2026-11`")))
    }

    fn has(&self, date_time: &str) -> bool {
        date_time.starts_with(&self.0)
    }
}

impl<'de> Deserialize<'de> for Month {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Month::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

/// Selects the transactions to sum.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct UsageQuery {
    /// Only those of this unit and mode.
    pub wanted: Wanted,
    /// Only those of this month.
    pub month: Option<Month>,
    /// Only those with an offering that had no price, and so cost nothing.
    #[serde(default)]
    pub unpriced: bool,
}

impl UsageQuery {
    fn has(&self, row: &Row) -> bool {
        self.month.as_ref().is_none_or(|month| month.has(&row.created_at))
            && (!self.unpriced || row.unpriced > 0)
    }
}

/// The sum of a unit's transactions in one mode and currency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sum {
    /// The unit's ID.
    pub unit: String,
    /// Test or live.
    pub mode: Mode,
    /// The currency of `amount`.
    pub currency_code: CurrencyCode,
    /// Number of transactions.
    pub transactions: u64,
    /// Number of their pledges whose offering had no price.
    pub unpriced: usize,
    /// The exact sum of the charges, a decimal with two places.
    pub amount: String,
}

/// Sums of transactions.
#[derive(Clone, Debug, Serialize)]
pub struct Usage {
    /// Sorted by unit, mode and currency.
    pub sums: Vec<Sum>,
    /// Number of transactions that were summed.
    pub transactions: u64,
    /// Records that are left out.
    pub damaged: Damaged,
}

/// Sums transactions page by page: call `next` until it returns `None`, then `finish`.
pub struct Report<'s, S> {
    listing: Listing<'s, S>,
    query: UsageQuery,
    totals: BTreeMap<Group, Total>,
}

/// The transactions that one [`Sum`] adds up.
type Group = (String, Mode, CurrencyCode);

/// A sum that is not finished.
#[derive(Default)]
struct Total {
    transactions: u64,
    unpriced: usize,
    amounts: Vec<Decimal>,
}

impl<'s, S: OperatorStore> Report<'s, S> {
    /// Starts a report.
    pub fn new(store: &'s S, query: UsageQuery) -> Self {
        let listing = Listing::new(store, query.wanted.prefixes(), query.wanted.clone());
        Report { listing, query, totals: BTreeMap::new() }
    }

    /// The transactions of the next page; `None` after the last one.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn next(&mut self) -> Result<Option<Vec<Row>>> {
        let Some(page) = self.listing.next().await? else { return Ok(None) };
        let mut rows = Vec::new();
        for (id, metadata) in page {
            match Row::new(&id, metadata).and_then(|row| Some((charge(&row.amount)?, row))) {
                Some((amount, row)) if self.query.has(&row) => {
                    let group = (row.unit.clone(), row.mode, row.currency_code);
                    self.totals.entry(group).or_default().add(&row, amount);
                    rows.push(row);
                }
                Some(_) => {}
                None => self.listing.damaged.add(TransactionKey(&id).name()),
            }
        }
        self.totals.values_mut().for_each(Total::add_up);
        Ok(Some(rows))
    }

    /// The sums of the rows so far.
    pub fn finish(self) -> Usage {
        let transactions = self.totals.values().map(|total| total.transactions).sum();
        let sums = self.totals.into_iter().map(|(group, total)| total.into_sum(group));
        Usage { sums: sums.collect(), transactions, damaged: self.listing.damaged }
    }
}

impl Total {
    fn add(&mut self, row: &Row, amount: Decimal) {
        self.transactions += 1;
        self.unpriced += row.unpriced;
        self.amounts.push(amount);
    }

    /// Replaces the amounts by their sum.
    fn add_up(&mut self) {
        if self.amounts.len() > 1 {
            self.amounts = vec![sum(&self.amounts)];
        }
    }

    fn into_sum(self, (unit, mode, currency_code): Group) -> Sum {
        let Total { transactions, unpriced, amounts } = self;
        let amount = sum(&amounts).to_money();
        Sum { unit, mode, currency_code, transactions, unpriced, amount }
    }
}

/// Parses a charge. It must be a plain decimal: an exponent could need gigabytes.
fn charge(text: &str) -> Option<Decimal> {
    text_as_money(text).and_then(|money| Decimal::parse(&money))
}

fn sum(amounts: &[Decimal]) -> Decimal {
    let one = Decimal::parse("1");
    Decimal::sum_of_products(amounts.iter().cloned().zip(one.iter().cycle()))
}
