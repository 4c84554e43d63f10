//! Exports transactions as lines of a table, for accounting.

use crate::ledger::{self, Direction, Filter, Ledger, Order, PageCursor};
use crate::operator::Result;
use crate::operator::csv::{self, BYTE_ORDER_MARK};
use crate::operator::usage::MonthUsage;
use crate::pledge::{RetrievedPledgeTransaction, TransactionId};
use crate::scope::Mode;
use crate::settlement::Month;
use crate::store::{Key as _, MAX_READS, OperatorStore, ProfileKey, TransactionKey, decode};
use serde::Deserialize;
use std::collections::{BTreeMap, VecDeque};
use std::mem;

/// A line of an export, for one pledge of a transaction. Only the first line of a transaction has the charge, so that
/// the column of charges can be summed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The transaction's ID.
    pub id: String,
    /// When the transaction was created, an RFC 3339 date-time.
    pub created_at: String,
    /// Test or live.
    pub mode: Mode,
    /// The unit's ID.
    pub unit: String,
    /// The name that the unit's timelines show; empty if the unit has no name.
    pub unit_name: String,
    /// The transaction's reference; empty if the record cannot be read.
    pub reference: String,
    /// The offering's ID; empty if the record cannot be read.
    pub offering: String,
    /// The quantity, formatted as in JSON; empty if the record cannot be read.
    pub quantity: String,
    /// The charge of the transaction, a decimal with two places, on the transaction's first line; `None` on its other
    /// lines.
    pub amount: Option<String>,
    /// The currency of the charge.
    pub currency_code: String,
    /// Number of the transaction's unpriced pledges, on the transaction's first line; `None` on its other lines.
    pub unpriced: Option<usize>,
    /// When the personal data was erased, an RFC 3339 date-time.
    pub erased: Option<String>,
}

const HEADINGS: [&str; 12] = [
    "id",
    "createdAt",
    "mode",
    "unit",
    "unitName",
    "reference",
    "offering",
    "quantity",
    "amount",
    "currencyCode",
    "unpriced",
    "erased",
];

/// Returns the beginning of a CSV file: the byte order mark and the headings.
pub fn spreadsheet_head() -> String {
    [BYTE_ORDER_MARK, &csv::lines([HEADINGS])].concat()
}

/// Formats lines as CSV, with cells that are safe for a spreadsheet.
pub fn for_spreadsheet(lines: &[Line]) -> String {
    csv::lines(lines.iter().map(Line::cells))
}

impl Line {
    fn cells(&self) -> [String; 12] {
        let unpriced = self.unpriced.map(|count| count.to_string()).unwrap_or_default();
        [
            &*self.id,
            &self.created_at,
            self.mode.name(),
            &self.unit,
            &self.unit_name,
            &self.reference,
            &self.offering,
            &self.quantity,
            self.amount.as_deref().unwrap_or_default(),
            &self.currency_code,
            &unpriced,
            self.erased.as_deref().unwrap_or_default(),
        ]
        .map(csv::text)
    }
}

/// Largest number of transactions that one query of the ledger returns. Units with few transactions share a
/// query.
const PAGE: usize = 1_000;

/// An export of a month's transactions, page by page. Reads the record of each transaction, and each unit's
/// profile only once.
pub struct Export<'s, S> {
    store: &'s S,
    ledger: &'s dyn Ledger,
    month: Month,
    /// The shops that are not exported yet, in groups. One query reads the transactions of a whole group.
    groups: VecDeque<(Mode, Vec<String>)>,
    /// Where the next page begins in the first group of shops; `None` at the beginning of the group.
    after: Option<PageCursor>,
    /// Transactions that were read and not exported yet.
    page: Vec<Order>,
    names: BTreeMap<String, String>,
}

impl<'s, S: OperatorStore> Export<'s, S> {
    /// Creates an export of the transactions of these shops in a month.
    pub fn new(store: &'s S, ledger: &'s dyn Ledger, month: Month, shops: &[MonthUsage]) -> Self {
        let groups = groups(shops);
        Export {
            store,
            ledger,
            month,
            groups,
            after: None,
            page: Vec::new(),
            names: BTreeMap::new(),
        }
    }

    /// Returns the lines of the next transactions; `None` at the end of the export. One call handles at
    /// most [`MAX_READS`] transactions. Within a group of shops, the newest transaction is first. A
    /// transaction whose record cannot be read still has one line, without an offering but with its charge.
    /// KV cost: 1 read, and 1 read per 100 units that occur for the first time.
    ///
    /// # Errors
    /// If the store or the ledger fails.
    pub async fn next(&mut self) -> Result<Option<Vec<Line>>> {
        while self.page.is_empty() {
            let Some((mode, units)) = self.groups.front() else { return Ok(None) };
            let Some(filter) = self.filter(*mode, units) else { return Ok(None) };
            let from = self.after.take().map_or(Direction::Newest, Direction::Older);
            let page = ledger::orders(self.ledger, &filter, &from, PAGE).await?;
            (self.page, self.after) = (page.orders, page.older);
            if self.after.is_none() {
                self.groups.pop_front();
            }
        }
        let rest = self.page.split_off(self.page.len().min(MAX_READS));
        let orders = mem::replace(&mut self.page, rest);
        self.of(&orders).await.map(Some)
    }

    fn filter(&self, mode: Mode, units: &[String]) -> Option<Filter> {
        let (from, until) = self.month.span_ms()?;
        let (mode, units, until) = (Some(mode), Some(units.to_vec()), Some(until));
        Some(Filter { mode, units, from, until, ..Filter::default() })
    }

    async fn of(&mut self, rows: &[Order]) -> Result<Vec<Line>> {
        self.look_up_names(rows).await?;
        let ids: Vec<_> = rows.iter().filter_map(|row| TransactionId::parse(&row.id)).collect();
        let keys: Vec<_> = ids.iter().map(TransactionKey).collect();
        let values = self.store.get_values(&keys).await?;
        let found = rows.iter().zip(values);
        Ok(found.flat_map(|(row, value)| self.lines(row, value.as_deref())).collect())
    }

    async fn look_up_names(&mut self, rows: &[Order]) -> Result<()> {
        let mut units: Vec<_> = rows.iter().map(|row| row.unit.as_str()).collect();
        units.sort_unstable();
        units.dedup();
        units.retain(|unit| !self.names.contains_key(*unit));
        for units in units.chunks(MAX_READS) {
            let keys: Vec<_> = units.iter().copied().map(ProfileKey).collect();
            let names = self.store.get_values(&keys).await?.into_iter().map(name_in);
            self.names.extend(units.iter().map(|unit| (*unit).to_owned()).zip(names));
        }
        Ok(())
    }

    fn lines(&self, row: &Order, value: Option<&[u8]>) -> Vec<Line> {
        let transaction: Option<RetrievedPledgeTransaction<'_>> =
            value.and_then(|value| serde_json::from_slice(value).ok());
        let line = Line {
            id: row.id.clone(),
            created_at: row.created_at.clone(),
            mode: row.mode,
            unit: row.unit.clone(),
            unit_name: self.names.get(&row.unit).cloned().unwrap_or_default(),
            reference: transaction.as_ref().map(|it| it.reference.to_string()).unwrap_or_default(),
            currency_code: row.currency_code.clone(),
            erased: row.erased.clone(),
            offering: String::new(),
            quantity: String::new(),
            amount: None,
            unpriced: None,
        };
        let pledges = transaction.map(|it| it.pledges).unwrap_or_default();
        let of_pledges = pledges.iter().map(|pledge| Line {
            offering: pledge.impact.offering_id.to_string(),
            quantity: serde_json::to_string(&pledge.impact.amount).unwrap_or_default(),
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

/// Groups the shops of each mode, so that a group has about one page of transactions. A large number of small
/// shops then needs only a few queries.
fn groups(shops: &[MonthUsage]) -> VecDeque<(Mode, Vec<String>)> {
    let mut groups: VecDeque<(Mode, Vec<String>)> = VecDeque::new();
    for mode in [Mode::Test, Mode::Live] {
        let mut room = 0;
        for shop in shops.iter().filter(|shop| shop.mode == mode) {
            let own = shop.sums.iter().map(|sum| sum.transactions).sum();
            match groups.back_mut().filter(|_| room >= own) {
                Some((_, units)) => units.push(shop.unit.clone()),
                None => {
                    groups.push_back((mode, vec![shop.unit.clone()]));
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
