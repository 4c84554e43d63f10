//! Exports transactions as lines of a table, for accounting.

use super::export_line::{Line, LineKind};
use crate::office::credits::rows::{CreditRow, booked};
use crate::office::orders::rows::entry::offering_in_rows;
use crate::office::orders::rows::order::{Filter, Order, PageCursor};
use crate::office::orders::rows::orders;
use crate::office::orders::rows::orders::Direction;
use crate::office::payments::rule::usage::MonthUsage;
use crate::office::prices::rule::price_versions::ChargedPrices;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::read_values;
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::settlement::Month;
use crate::pledges::store::{
    Key as _, MAX_READS, OperatorStore, ProfileKey, TransactionKey, decode,
};
use crate::pledges::time::date_time;
use crate::pledges::types::{RetrievedPledgeTransaction, TransactionId};
use serde::Deserialize;
use std::collections::{BTreeMap, VecDeque};
use std::mem;

/// Largest number of transactions that one query of the ledger returns. Units with few transactions share a
/// query.
const PAGE: usize = 1_000;

/// An export of a month's transactions, credits and carried amounts, page by page. Reads the record of each
/// transaction, and each unit's profile only once.
pub struct Export<'s, S> {
    store: &'s S,
    ledger: &'s dyn Ledger,
    month: Month,
    /// The scopes that are not exported yet, in groups. One query reads the transactions of a whole group.
    groups: VecDeque<(Mode, Vec<String>)>,
    /// The scopes whose credits are not exported yet, in the same groups, and the last exported credit.
    credited: VecDeque<(Mode, Vec<String>)>,
    last_credit: Option<CreditRow>,
    /// Lines for the amounts that the scopes carry from and to other months.
    carried: Vec<Line>,
    /// Where the next page begins in the first group of scopes; `None` at the beginning of the group.
    after: Option<PageCursor>,
    /// Transactions that were read and not exported yet.
    page: Vec<Order>,
    names: BTreeMap<String, String>,
}

impl<'s, S: OperatorStore> Export<'s, S> {
    pub fn new(store: &'s S, ledger: &'s dyn Ledger, month: Month, due: &[MonthUsage]) -> Self {
        let groups = groups(due);
        Export {
            store,
            ledger,
            month,
            credited: groups.clone(),
            last_credit: None,
            carried: due.iter().flat_map(carried).collect(),
            groups,
            after: None,
            page: Vec::new(),
            names: BTreeMap::new(),
        }
    }

    /// Returns the next lines; `None` at the end of the export. Transactions are first, then credits, then
    /// carried amounts. One call handles at most [`MAX_READS`] transactions or credits. Within a group of scopes,
    /// the newest transaction is first. A transaction whose record cannot be read still has one line, without an
    /// offering but with its charge. KV cost: 1 read, 1 read per 5 price lists, and 1 read per 100 units that occur
    /// for the first time.
    pub async fn next(&mut self) -> Result<Option<Vec<Line>>> {
        if let Some(orders) = self.next_orders().await? {
            return self.of(&orders).await.map(Some);
        }
        if let Some(credits) = self.next_credits().await? {
            return self.of_credits(&credits).await.map(Some);
        }
        let carried = mem::take(&mut self.carried);
        Ok(Some(carried).filter(|lines| !lines.is_empty()))
    }

    async fn next_orders(&mut self) -> Result<Option<Vec<Order>>> {
        while self.page.is_empty() {
            let Some((mode, units)) = self.groups.front() else { return Ok(None) };
            let Some(filter) = self.filter(*mode, units) else { return Ok(None) };
            let from = self.after.take().map_or(Direction::Newest, Direction::Older);
            let page = orders::orders(self.ledger, &filter, &from, PAGE).await?;
            (self.page, self.after) = (page.orders, page.older);
            if self.after.is_none() {
                self.groups.pop_front();
            }
        }
        let rest = self.page.split_off(self.page.len().min(MAX_READS));
        Ok(Some(mem::replace(&mut self.page, rest)))
    }

    async fn next_credits(&mut self) -> Result<Option<Vec<CreditRow>>> {
        while let Some((mode, units)) = self.credited.front() {
            let (of, after) = ((*mode, units.as_slice()), self.last_credit.take());
            let found = booked(self.ledger, of, self.month, after.as_ref(), MAX_READS).await?;
            if found.is_empty() {
                self.credited.pop_front();
                continue;
            }
            self.last_credit = found.last().cloned();
            return Ok(Some(found));
        }
        Ok(None)
    }

    fn filter(&self, mode: Mode, units: &[String]) -> Option<Filter> {
        let (from, until) = self.month.span_ms()?;
        let (mode, units, until) = (Some(mode), Some(units.to_vec()), Some(until));
        Some(Filter { mode, units, from, until, ..Filter::default() })
    }

    async fn of(&mut self, rows: &[Order]) -> Result<Vec<Line>> {
        self.look_up_names(rows.iter().map(|row| &*row.scope.unit)).await?;
        let values = self.records(rows.iter().map(|row| &*row.id)).await?;
        let records: Vec<_> = values.iter().map(|value| record(value.as_deref())).collect();
        let pledges = records.iter().flatten().flat_map(|record| &record.pledges);
        let offerings = pledges.map(|it| offering_in_rows(it.impact.offering_id.to_string()));
        let prices = ChargedPrices::read(self.store, rows, &offerings.collect()).await?;
        let found = rows.iter().zip(records);
        Ok(found.flat_map(|(row, record)| self.lines(row, record, &prices)).collect())
    }

    async fn of_credits(&mut self, credits: &[CreditRow]) -> Result<Vec<Line>> {
        self.look_up_names(credits.iter().map(|credit| &*credit.scope.unit)).await?;
        let values = self.records(credits.iter().map(|credit| &*credit.id)).await?;
        let line = |(credit, value): (&CreditRow, Option<Vec<u8>>)| {
            let reference = record(value.as_deref()).map(|it| it.reference.to_string());
            let of = (&credit.scope, &*credit.currency);
            Line {
                id: credit.id.clone(),
                created_at: date_time(credit.at),
                unit_name: self.names.get(&credit.scope.unit).cloned().unwrap_or_default(),
                reference: reference.unwrap_or_default(),
                ..deduction(LineKind::Credit, of, negative(&credit.amount()))
            }
        };
        Ok(credits.iter().zip(values).map(line).collect())
    }

    async fn records(&self, ids: impl Iterator<Item = &str>) -> Result<Vec<Option<Vec<u8>>>> {
        let ids: Vec<_> = ids.filter_map(TransactionId::parse).collect();
        let keys: Vec<_> = ids.iter().map(TransactionKey).collect();
        Ok(self.store.get_values(&keys).await?)
    }

    async fn look_up_names(&mut self, units: impl Iterator<Item = &str>) -> Result<()> {
        let mut units: Vec<_> = units.collect();
        units.sort_unstable();
        units.dedup();
        units.retain(|unit| !self.names.contains_key(*unit));
        for units in units.chunks(MAX_READS) {
            let keys: Vec<_> = units.iter().copied().map(ProfileKey).collect();
            let names = read_values(self.store, &keys).await?.into_iter().map(name_in);
            self.names.extend(units.iter().map(|unit| (*unit).to_owned()).zip(names));
        }
        Ok(())
    }

    fn lines(
        &self,
        row: &Order,
        transaction: Option<RetrievedPledgeTransaction<'_>>,
        prices: &ChargedPrices,
    ) -> Vec<Line> {
        let line = Line {
            kind: LineKind::Transaction,
            id: row.id.clone(),
            created_at: row.created_at.clone(),
            scope: row.scope.clone(),
            unit_name: self.names.get(&row.scope.unit).cloned().unwrap_or_default(),
            reference: transaction.as_ref().map(|it| it.reference.to_string()).unwrap_or_default(),
            currency_code: row.currency_code.clone(),
            erased: row.erased.clone(),
            offering: String::new(),
            quantity: String::new(),
            unit_price: None,
            amount: None,
            unpriced: None,
        };
        let pledges = transaction.map(|it| it.pledges).unwrap_or_default();
        let of_pledges = pledges.iter().map(|pledge| Line {
            offering: pledge.impact.offering_id.to_string(),
            quantity: serde_json::to_string(&pledge.impact.amount).unwrap_or_default(),
            unit_price: prices.price(row, &pledge.impact.offering_id).map(str::to_owned),
            ..line.clone()
        });
        let mut lines: Vec<_> = of_pledges.collect();
        if lines.is_empty() {
            lines.push(line);
        }
        if let Some(first) = lines.first_mut() {
            first.amount = Some(row.amount.clone());
            first.unpriced = Some(row.unpriced);
        }
        lines
    }
}

fn record(value: Option<&[u8]>) -> Option<RetrievedPledgeTransaction<'_>> {
    value.and_then(|value| serde_json::from_slice(value).ok())
}

/// Returns lines for what a month carries from earlier months and to later ones.
fn carried(usage: &MonthUsage) -> Vec<Line> {
    let lines = usage.sums.iter().flat_map(|sum| {
        let of = (&usage.of.scope, &*sum.currency_code);
        let taken = (sum.carried != "0.00").then(|| negative(&sum.carried));
        let taken = taken.map(|amount| deduction(LineKind::Carried, of, amount));
        let rest = sum.excess();
        let rest = rest.map(|amount| deduction(LineKind::CarriedForward, of, amount));
        taken.into_iter().chain(rest)
    });
    lines.collect()
}

fn negative(amount: &str) -> String {
    if amount == "0.00" { amount.to_owned() } else { ["-", amount].concat() }
}

/// Returns a line without a transaction.
fn deduction(kind: LineKind, (scope, currency_code): (&Scope, &str), amount: String) -> Line {
    Line {
        kind,
        id: String::new(),
        created_at: String::new(),
        scope: scope.clone(),
        unit_name: String::new(),
        reference: String::new(),
        offering: String::new(),
        quantity: String::new(),
        unit_price: None,
        amount: Some(amount),
        currency_code: currency_code.to_owned(),
        unpriced: None,
        erased: None,
    }
}

/// Groups the scopes of each mode, so that a group has about one page of transactions. A large number of small
/// scopes then needs only a few queries.
fn groups(months: &[MonthUsage]) -> VecDeque<(Mode, Vec<String>)> {
    let mut groups: VecDeque<(Mode, Vec<String>)> = VecDeque::new();
    for mode in [Mode::Test, Mode::Live] {
        let mut room = 0;
        for MonthUsage { of, sums, .. } in months.iter().filter(|it| it.of.scope.mode == mode) {
            let own = sums.iter().map(|sum| sum.transactions).sum();
            match groups.back_mut().filter(|_| room >= own) {
                Some((_, units)) => units.push(of.scope.unit.clone()),
                None => {
                    groups.push_back((mode, vec![of.scope.unit.clone()]));
                    room = PAGE as u64;
                }
            }
            room = room.saturating_sub(own);
        }
    }
    groups
}

/// Returns the name in a profile's record; empty if there is none.
fn name_in(record: Option<Vec<u8>>) -> String {
    #[derive(Default, Deserialize)]
    struct Named {
        name: String,
    }
    let named = record.and_then(|record| decode::<Named>(ProfileKey::KIND, &record).ok());
    named.unwrap_or_default().name
}
