//! Sums of transactions, for the accounts.

use super::{Damaged, Listing, Row, Wanted, charge};
use crate::decimal::Decimal;
use crate::operator::{OperatorError, Result};
use crate::pledge::CurrencyCode;
use crate::scope::Mode;
use crate::settlement::{Month, PaidAt, SettledSum, Settlement};
use crate::store::{Key as _, MAX_READS, OperatorStore, SettlementKey, decode};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    /// Only those whose month is not marked as paid; needs a month.
    #[serde(default)]
    pub unpaid: bool,
}

impl UsageQuery {
    fn has(&self, row: &Row) -> bool {
        self.month.is_none_or(|month| Month::of(&row.created_at) == Some(month))
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
    /// What was paid of it; `None` unless the sum is of a month that is marked as paid.
    pub settled: Option<Settled>,
}

/// What was paid of a sum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Settled {
    /// The sum at the time when it was marked; `None` if it had none in this currency.
    pub amount: Option<String>,
    /// When it was paid.
    pub paid_at: PaidAt,
    /// The number of the invoice.
    pub invoice: String,
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
    /// The settlements of the shops that were met.
    settlements: BTreeMap<Shop, Option<Settlement>>,
}

/// A unit in a mode.
type Shop = (String, Mode);

/// The transactions that one [`Sum`] adds up.
type Group = (String, Mode, CurrencyCode);

/// A sum that is not finished.
#[derive(Default)]
pub(in crate::operator) struct Total {
    transactions: u64,
    unpriced: usize,
    amounts: Vec<Decimal>,
}

impl<'s, S: OperatorStore> Report<'s, S> {
    /// Starts a report.
    pub fn new(store: &'s S, query: UsageQuery) -> Self {
        let listing = Listing::new(store, query.wanted.prefixes(), query.wanted.clone(), None);
        Report { listing, query, totals: BTreeMap::new(), settlements: BTreeMap::new() }
    }

    /// The transactions of the next page; `None` after the last one.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn next(&mut self) -> Result<Option<Vec<Row>>> {
        let Some(mut rows) = self.listing.next_rows().await? else { return Ok(None) };
        rows.retain(|(_, row)| self.query.has(row));
        self.look_up_settlements(&rows).await?;
        if self.query.unpaid {
            rows.retain(|(_, row)| self.settlement(&row.unit, row.mode).is_none());
        }
        Ok(Some(self.add(rows)))
    }

    fn add(&mut self, rows: Vec<(Decimal, Row)>) -> Vec<Row> {
        let added = rows.into_iter().map(|(amount, row)| {
            let group = (row.unit.clone(), row.mode, row.currency_code);
            self.totals.entry(group).or_default().add(&row, amount);
            row
        });
        let rows = added.collect();
        self.totals.values_mut().for_each(Total::add_up);
        rows
    }

    /// Reads the settlements of the shops that are met first, if a month is meant.
    async fn look_up_settlements(&mut self, rows: &[(Decimal, Row)]) -> Result<()> {
        let Some(month) = self.query.month else {
            let problem = "what is unpaid is known by month: say which";
            return match self.query.unpaid {
                true => Err(OperatorError::Invalid(problem.to_owned())),
                false => Ok(()),
            };
        };
        let mut shops: Vec<Shop> = rows
            .iter()
            .map(|(_, row)| (row.unit.clone(), row.mode))
            .filter(|shop| !self.settlements.contains_key(shop))
            .collect();
        shops.sort_unstable();
        shops.dedup();
        for shops in shops.chunks(MAX_READS) {
            let keys: Vec<_> = shops
                .iter()
                .map(|(unit, mode)| SettlementKey { mode: *mode, unit, month })
                .collect();
            for (shop, value) in shops.iter().zip(self.listing.store.get_values(&keys).await?) {
                let read = |value: Vec<u8>| decode(SettlementKey::KIND, &value);
                self.settlements.insert(shop.clone(), value.map(read).transpose()?);
            }
        }
        Ok(())
    }

    fn settlement(&self, unit: &str, mode: Mode) -> Option<&Settlement> {
        self.settlements.get(&(unit.to_owned(), mode))?.as_ref()
    }

    /// The sums of the rows so far.
    pub fn finish(self) -> Usage {
        let Report { listing, totals, settlements, .. } = self;
        let transactions = totals.values().map(|total| total.transactions).sum();
        let sums = totals.into_iter().map(|((unit, mode, currency_code), total)| {
            let shop = (unit, mode);
            let settlement = settlements.get(&shop).and_then(Option::as_ref);
            let settled = settlement.map(|it| Settled::of(it, currency_code));
            let (unit, mode) = shop;
            total.into_sum((unit, mode, currency_code), settled)
        });
        Usage { sums: sums.collect(), transactions, damaged: listing.damaged }
    }
}

impl Settled {
    fn of(settlement: &Settlement, currency_code: CurrencyCode) -> Self {
        let is_of = |sum: &&SettledSum| sum.currency_code == currency_code.code();
        Settled {
            amount: settlement.sums.iter().find(is_of).map(|sum| sum.amount.clone()),
            paid_at: settlement.paid_at.clone(),
            invoice: settlement.invoice.clone(),
        }
    }
}

impl Total {
    /// Goes on with a sum; `None` if its amount is none.
    pub fn of(sum: &SettledSum) -> Option<Self> {
        let amounts = vec![charge(&sum.amount)?];
        Some(Total { transactions: sum.transactions, unpriced: sum.unpriced, amounts })
    }

    pub fn add(&mut self, row: &Row, amount: Decimal) {
        self.transactions += 1;
        self.unpriced += row.unpriced;
        self.amounts.push(amount);
    }

    /// Replaces the amounts by their sum.
    pub fn add_up(&mut self) {
        if self.amounts.len() > 1 {
            self.amounts = vec![sum(&self.amounts)];
        }
    }

    pub fn into_settled(self, currency_code: CurrencyCode) -> SettledSum {
        let Total { transactions, unpriced, amounts } = self;
        let (currency_code, amount) = (currency_code.code().to_owned(), sum(&amounts).to_money());
        SettledSum { currency_code, amount, transactions, unpriced }
    }

    fn into_sum(self, (unit, mode, currency_code): Group, settled: Option<Settled>) -> Sum {
        let SettledSum { transactions, unpriced, amount, .. } = self.into_settled(currency_code);
        Sum { unit, mode, currency_code, transactions, unpriced, amount, settled }
    }
}

fn sum(amounts: &[Decimal]) -> Decimal {
    let one = Decimal::parse("1");
    Decimal::sum_of_products(amounts.iter().cloned().zip(one.iter().cycle()))
}
