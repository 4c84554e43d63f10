//! Requests of shops for credits. A transaction has one open request at most. Whether a person of a shop may still make or
//! decide a request is checked in the transaction that writes it.

use super::limits::{LimitedSums, WithinLimit};
use crate::office::credits::rows::Credited;
use crate::office::people::rows::changes::sender_may;
use crate::office::shared::rows::money::money;
use crate::office::shared::rows::port::{Ledger, Query, Result, Statement, ask};
use crate::pledges::scope::Scope;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::IntoStaticStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum RequestState {
    /// Waits for a decision.
    Open,
    Credited,
    Refused,
}

impl RequestState {
    /// Returns `open`, `credited` or `refused`.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestRow {
    pub request: String,
    /// The transaction.
    pub id: String,
    #[serde(flatten)]
    pub scope: Scope,
    /// The requested credit, as JSON.
    pub content: Value,
    pub currency: String,
    #[serde(flatten)]
    pub amount: Credited,
    /// The number of credits that the transaction had.
    pub credits: u32,
    pub author: String,
    /// Whether a person of a shop made the request.
    pub by_shop: u8,
    /// When the request was made, in milliseconds since 1970.
    pub at: u64,
    pub state: RequestState,
    #[serde(flatten)]
    pub decision: Option<Decision>,
    /// Why the request was refused.
    pub answer: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub decider: String,
    pub decider_of_shop: u8,
    /// When it was decided, in milliseconds since 1970.
    pub decided: u64,
}

impl RequestRow {
    /// Returns the requested amount, a decimal with two places.
    pub fn amount(&self) -> String {
        money(self.amount.cents, self.amount.amount.as_deref())
    }

    /// Returns why the credit was requested.
    pub fn reason(&self) -> &str {
        self.content.get("reason").and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns whether all that is left was requested.
    pub fn is_whole(&self) -> bool {
        self.content.get("part").is_none_or(Value::is_null)
    }

    pub fn is_open(&self) -> bool {
        self.state == RequestState::Open
    }

    /// Returns whether the credit was made at once, without a confirmation.
    pub fn is_at_once(&self) -> bool {
        let by_shop = self.decision.as_ref().is_some_and(|it| it.decider_of_shop == 1);
        self.state == RequestState::Credited && by_shop
    }
}

// ---- Write ---------------------------------------------------------------------------------------

/// Returns the statements that write a request. They fail if the transaction has an open request or another number of credits,
/// or if `sender`, a person of a shop, is no longer a manager.
pub(crate) fn adding(row: &RequestRow, sender: Option<&str>) -> Result<[Statement; 3]> {
    let may = sender_may(&row.scope.unit, sender)?;
    Ok([may, IsSeen { row }.statement()?, Write { row }.statement()?])
}

/// Returns the statements that decide a request. They fail if it is not open, or if the decider, a person of a shop, is no
/// longer a manager. `sums` limits a credit at once.
pub(crate) fn deciding(
    row: &RequestRow,
    sender: Option<&str>,
    sums: Option<LimitedSums<'_>>,
) -> Result<Vec<Statement>> {
    let mut all = vec![sender_may(&row.scope.unit, sender)?, IsOpen { row }.statement()?];
    if let Some(sums) = sums {
        all.push(WithinLimit(sums).statement()?);
    }
    all.push(Decide { row }.statement()?);
    Ok(all)
}

#[derive(Serialize)]
struct IsSeen<'a> {
    row: &'a RequestRow,
}

impl Query for IsSeen<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO preconditions (holds)
SELECT (SELECT count(*) FROM credits WHERE id = ?1 ->> '$.row.id') = ?1 ->> '$.row.credits'";
}

#[derive(Serialize)]
struct Write<'a> {
    row: &'a RequestRow,
}

impl Query for Write<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO credit_requests (request, id, mode, unit, content, currency, cents, amount, credits, author, by_shop, at,
  state, decider, decider_of_shop, decided, answer)
SELECT it ->> '$.request', it ->> '$.id', it ->> '$.mode', it ->> '$.unit', it -> '$.content', it ->> '$.currency',
  it ->> '$.cents', it ->> '$.amount', it ->> '$.credits', it ->> '$.author', it ->> '$.by_shop', it ->> '$.at',
  it ->> '$.state', it ->> '$.decider', it ->> '$.decider_of_shop', it ->> '$.decided', it ->> '$.answer'
FROM (SELECT ?1 -> '$.row' AS it)";
}

#[derive(Serialize)]
struct IsOpen<'a> {
    row: &'a RequestRow,
}

impl Query for IsOpen<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO preconditions (holds)
SELECT EXISTS (SELECT 1 FROM credit_requests WHERE request = ?1 ->> '$.row.request' AND state = 'open')";
}

#[derive(Serialize)]
struct Decide<'a> {
    row: &'a RequestRow,
}

impl Query for Decide<'_> {
    type Row = ();
    const SQL: &'static str = "UPDATE credit_requests SET state = ?1 ->> '$.row.state', decider = ?1 ->> '$.row.decider',
  decider_of_shop = ?1 ->> '$.row.decider_of_shop', decided = ?1 ->> '$.row.decided', answer = ?1 ->> '$.row.answer'
WHERE request = ?1 ->> '$.row.request'";
}

// ---- Read ----------------------------------------------------------------------------------------

/// SQL for a row of the table, as JSON.
macro_rules! row {
    () => {
        "json_object('request', request, 'id', id, 'mode', mode, 'unit', unit, 'content', json(content),
  'currency', currency, 'cents', cents, 'amount', amount, 'credits', credits, 'author', author, 'by_shop', by_shop, 'at', at,
  'state', state, 'decider', decider, 'decider_of_shop', decider_of_shop, 'decided', decided, 'answer', answer)"
    };
}

/// Returns the requests of a transaction, the oldest first: at most the last 100. One query.
pub async fn of(ledger: &dyn Ledger, id: &str) -> Result<Vec<RequestRow>> {
    let mut rows = ask(ledger, &Of { id }).await?;
    rows.reverse();
    Ok(rows)
}

#[derive(Serialize)]
struct Of<'a> {
    id: &'a str,
}

impl Query for Of<'_> {
    type Row = RequestRow;
    const SQL: &'static str = concat!(
        "SELECT ",
        row!(),
        " FROM credit_requests WHERE id = ?1 ->> '$.id' ORDER BY at DESC, state <> 'open' LIMIT 100"
    );
}

/// Selects requests.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RequestFilter<'a> {
    pub unit: Option<&'a str>,
    pub only_open: bool,
    pub most: usize,
}

/// Returns requests: open ones first, then the newest first. One query, which reads the whole table unless `only_open` is set.
pub async fn list(ledger: &dyn Ledger, filter: &RequestFilter<'_>) -> Result<Vec<RequestRow>> {
    match filter.only_open {
        true => ask(ledger, &OpenOnes(filter)).await,
        false => ask(ledger, &All(filter)).await,
    }
}

/// SQL that selects the requests of a [`RequestFilter`]. `$where` restricts them further.
macro_rules! filtered {
    ($where:literal) => {
        concat!(
            "SELECT ",
            row!(),
            " FROM credit_requests WHERE ",
            $where,
            " AND (?1 ->> '$.unit' IS NULL OR unit = ?1 ->> '$.unit')
ORDER BY state <> 'open', at DESC, request LIMIT ?1 ->> '$.most'"
        )
    };
}

#[derive(Serialize)]
struct OpenOnes<'a>(&'a RequestFilter<'a>);

impl Query for OpenOnes<'_> {
    type Row = RequestRow;
    const SQL: &'static str = filtered!("state = 'open'");
}

#[derive(Serialize)]
struct All<'a>(&'a RequestFilter<'a>);

impl Query for All<'_> {
    type Row = RequestRow;
    const SQL: &'static str = filtered!("true");
}
