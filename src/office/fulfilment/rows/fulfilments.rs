//! Fulfilments: what was done for the pledges of a month, such as trees that were planted. They are recorded for an
//! offering, a month and a mode, for the pledges of all units together.

use super::quantities::OfferingSum;
use crate::office::shared::rows::port::{Ledger, Query, Result, Statement, ask};
use crate::pledges::decimal::Decimal;
use crate::pledges::scope::Mode;
use crate::pledges::settlement::Month;
use crate::pledges::time::date_time;
use serde::{Deserialize, Serialize};

/// Largest number of fulfilments of one offering in one month and mode.
pub const MAX_FULFILMENTS: u32 = 200;

/// What was done for the pledges of a month, as a person records it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewFulfilment {
    /// Whether the fulfilment is for live or for test pledges.
    pub mode: Mode,
    /// The month of the pledges.
    pub month: Month,
    pub offering: String,
    /// How much was done, as an exact decimal.
    pub quantity: String,
    /// The day on which the work was done, such as `2026-11-20`.
    pub done_on: String,
    /// The organisation that did the work.
    pub partner: Option<String>,
    pub place: Option<String>,
    /// The URL of a report about the work.
    pub report: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fulfilment {
    pub id: String,
    #[serde(flatten)]
    pub done: NewFulfilment,
    pub by: String,
    /// When the fulfilment was recorded, an RFC 3339 date-time.
    pub at: String,
    /// When and by whom the fulfilment was removed; `None` if it was not removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<Removal>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removal {
    /// When the fulfilment was removed, an RFC 3339 date-time.
    pub at: String,
    pub by: String,
}

// ---- Write ---------------------------------------------------------------------------------------

/// Returns the statements that record a fulfilment. The first one fails if the offering already has [`MAX_FULFILMENTS`] in
/// the month.
pub(crate) fn adding(row: &FulfilmentRow) -> Result<[Statement; 2]> {
    Ok([HasRoom { done: &row.done, most: MAX_FULFILMENTS }.statement()?, row.statement()?])
}

/// Returns the statements that remove a fulfilment. The first one fails if it is removed already.
pub(crate) fn removing(id: &str, by: &str, at: u64) -> Result<[Statement; 2]> {
    Ok([IsThere { id }.statement()?, Remove { id, by, at }.statement()?])
}

#[derive(Serialize)]
struct HasRoom<'a> {
    done: &'a NewFulfilment,
    most: u32,
}

impl Query for HasRoom<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO preconditions (holds) SELECT count(*) < ?1 ->> '$.most' FROM fulfilments
WHERE month = ?1 ->> '$.done.month' AND mode = ?1 ->> '$.done.mode' AND offering = ?1 ->> '$.done.offering'
  AND removed IS NULL";
}

#[derive(Serialize)]
struct IsThere<'a> {
    id: &'a str,
}

impl Query for IsThere<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO preconditions (holds)
SELECT EXISTS (SELECT 1 FROM fulfilments WHERE id = ?1 ->> '$.id' AND removed IS NULL)";
}

#[derive(Serialize)]
struct Remove<'a> {
    id: &'a str,
    by: &'a str,
    at: u64,
}

impl Query for Remove<'_> {
    type Row = ();
    const SQL: &'static str =
        "UPDATE fulfilments SET removed = ?1 ->> '$.at', remover = ?1 ->> '$.by'
WHERE id = ?1 ->> '$.id'";
}

impl Query for FulfilmentRow {
    type Row = ();
    const SQL: &'static str = "INSERT INTO fulfilments
  (id, mode, month, offering, quantity, done_on, partner, place, report, author, at, removed, remover)
VALUES (?1 ->> '$.id', ?1 ->> '$.mode', ?1 ->> '$.month', ?1 ->> '$.offering', ?1 ->> '$.quantity', ?1 ->> '$.doneOn',
  ?1 ->> '$.partner', ?1 ->> '$.place', ?1 ->> '$.report', ?1 ->> '$.by', ?1 ->> '$.at', ?1 ->> '$.removed',
  ?1 ->> '$.remover')";
}

// ---- Read ----------------------------------------------------------------------------------------

/// Returns a fulfilment, even a removed one. Returns `None` if no fulfilment has this ID. One query.
pub async fn get(ledger: &dyn Ledger, id: &str) -> Result<Option<Fulfilment>> {
    Ok(ask(ledger, &Get { id }).await?.pop().map(FulfilmentRow::into_fulfilment))
}

/// Returns at most `most` fulfilments of these months, without removed ones. They are sorted by month (newest first),
/// mode, offering, and the day on which they were done (newest first). One query.
pub async fn list(
    ledger: &dyn Ledger,
    mode: Option<Mode>,
    months: &[Month],
    most: usize,
) -> Result<Vec<Fulfilment>> {
    let rows = ask(ledger, &List(OfMonths { mode, months, most })).await?;
    Ok(rows.into_iter().map(FulfilmentRow::into_fulfilment).collect())
}

/// Sums the quantities that were done, by month, mode and offering, newest month first. In each sum, `transactions` is
/// the number of fulfilments. Returns at most `most` sums. One query.
pub async fn sums(
    ledger: &dyn Ledger,
    mode: Option<Mode>,
    months: &[Month],
    most: usize,
) -> Result<Vec<OfferingSum>> {
    let rows = ask(ledger, &Sums(OfMonths { mode, months, most })).await?;
    let sum = |SumRow { month, mode, offering, quantities }: SumRow| {
        let transactions = quantities.len() as u64;
        let parts = quantities.iter().filter_map(|text| Decimal::parse_bounded(text));
        let quantity = Decimal::sum(parts).to_exact();
        OfferingSum { month, mode, offering, transactions, quantity }
    };
    Ok(rows.into_iter().map(sum).collect())
}

/// SQL for a row of the table `fulfilments`, as JSON.
macro_rules! fulfilment {
    () => {
        "json_object('id', id, 'mode', mode, 'month', month, 'offering', offering, 'quantity', quantity,
  'doneOn', done_on, 'partner', partner, 'place', place, 'report', report, 'by', author, 'at', at, 'removed', removed,
  'remover', remover)"
    };
}

/// A row of the table. Times are milliseconds since 1970.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct FulfilmentRow {
    pub id: String,
    #[serde(flatten)]
    done: NewFulfilment,
    by: String,
    at: u64,
    removed: Option<u64>,
    remover: Option<String>,
}

impl FulfilmentRow {
    pub fn new(id: String, done: NewFulfilment, by: String, at: u64) -> Self {
        FulfilmentRow { id, done, by, at, removed: None, remover: None }
    }

    pub fn into_fulfilment(self) -> Fulfilment {
        let FulfilmentRow { id, done, by, at, removed, remover } = self;
        let removal = |(ms, by)| Removal { at: date_time(ms), by };
        Fulfilment { id, done, by, at: date_time(at), removed: removed.zip(remover).map(removal) }
    }
}

#[derive(Serialize)]
struct Get<'a> {
    id: &'a str,
}

impl Query for Get<'_> {
    type Row = FulfilmentRow;
    const SQL: &'static str =
        concat!("SELECT ", fulfilment!(), " FROM fulfilments WHERE id = ?1 ->> '$.id'");
}

#[derive(Serialize)]
struct OfMonths<'a> {
    mode: Option<Mode>,
    months: &'a [Month],
    most: usize,
}

/// SQL that selects the fulfilments for the pledges of the months, without removed ones.
macro_rules! counting {
    () => {
        " FROM fulfilments WHERE month IN (SELECT value FROM json_each(?1, '$.months')) AND removed IS NULL
  AND (?1 ->> '$.mode' IS NULL OR mode = ?1 ->> '$.mode') "
    };
}

#[derive(Serialize)]
struct List<'a>(OfMonths<'a>);

impl Query for List<'_> {
    type Row = FulfilmentRow;
    const SQL: &'static str = concat!(
        "SELECT ",
        fulfilment!(),
        counting!(),
        "ORDER BY month DESC, mode, offering, done_on DESC, at DESC, id LIMIT ?1 ->> '$.most'"
    );
}

#[derive(Serialize)]
struct Sums<'a>(OfMonths<'a>);

impl Query for Sums<'_> {
    type Row = SumRow;
    const SQL: &'static str = concat!(
        "SELECT json_object('month', month, 'mode', mode, 'offering', offering,
  'quantities', json_group_array(quantity))",
        counting!(),
        "GROUP BY month, mode, offering ORDER BY month DESC, mode, offering LIMIT ?1 ->> '$.most'"
    );
}

#[derive(Deserialize)]
struct SumRow {
    month: Month,
    mode: Mode,
    offering: String,
    quantities: Vec<String>,
}
