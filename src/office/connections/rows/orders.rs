//! What was decided about the orders of shop systems. The first decision about an order stands, whichever of its events
//! arrives first, and however often.

use crate::office::shared::rows::port::{Ledger, LedgerError, Query, Result, Statement, ask};
use crate::pledges::orders::System;
use crate::pledges::scope::Scope;
use serde::{Deserialize, Serialize};

/// Identifies an order. The order's ID alone does not: each WooCommerce shop counts from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderKey {
    #[serde(flatten)]
    pub scope: Scope,
    pub system: System,
    /// The shop's address in the system, such as `acme.myshopify.com`.
    pub store: String,
    /// The order's ID in the system.
    pub number: String,
}

impl OrderKey {
    /// Returns the idempotency key with which the order is pledged.
    pub fn idempotency_key(&self) -> String {
        let OrderKey { system, store, number, .. } = self;
        [system.name(), store, number].join(":")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OrderState {
    /// The pledge is computed, but the service has not confirmed that it is recorded.
    Frozen,
    Pledged,
    /// A refund came before the order, so that nothing is pledged.
    Held,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderRow {
    pub state: OrderState,
    /// The body of the create request; `None` once the pledge is recorded.
    pub request: Option<String>,
    /// What the pledge was computed from, as JSON; `None` for a held order.
    pub facts: Option<String>,
    pub version: u64,
    /// The ID of the transaction.
    pub id: Option<String>,
    /// What refunds have credited so far, as JSON.
    pub credited: Option<String>,
}

/// A decision about an order.
#[derive(Clone, Debug, Serialize)]
pub struct Decision<'a> {
    #[serde(flatten)]
    pub key: &'a OrderKey,
    pub connection: &'a str,
    /// The time, in milliseconds since 1970.
    pub at: u64,
    pub state: OrderState,
    pub request: Option<&'a str>,
    pub facts: Option<&'a str>,
}

/// Decides about an order, unless that was done before. Returns the decision that stands. One call.
pub(crate) async fn decide(ledger: &dyn Ledger, decision: &Decision<'_>) -> Result<OrderRow> {
    let answers =
        ledger.run(&[Decide(decision).statement()?, Get(decision.key).statement()?]).await?;
    let mut found = Get::rows(answers.get(1).ok_or(LedgerError::Damaged)?)?;
    found.pop().ok_or(LedgerError::Damaged)
}

/// Returns the decision about an order; `None` if there is none. One query.
pub(crate) async fn get(ledger: &dyn Ledger, key: &OrderKey) -> Result<Option<OrderRow>> {
    Ok(ask(ledger, &Get(key)).await?.pop())
}

/// Records that an order's pledge is recorded, and deletes the request with its personal data. Returns whether this was
/// not recorded before. One query.
pub(crate) async fn pledged(ledger: &dyn Ledger, key: &OrderKey, id: &str) -> Result<bool> {
    Ok(!ask(ledger, &Pledged { key, id }).await?.is_empty())
}

/// Forgets a decision that the service refused to record, so that the order can be tried again. One query.
pub(crate) async fn forget(ledger: &dyn Ledger, key: &OrderKey) -> Result<()> {
    ask(ledger, &Forget(key)).await.map(drop)
}

/// Forgets decisions before a time (milliseconds since 1970) that the service has neither recorded nor refused, and those of
/// connections that were ended: nobody sends their requests again. One query.
pub(crate) async fn forget_frozen(ledger: &dyn Ledger, before: u64) -> Result<()> {
    ask(ledger, &ForgetFrozen { before }).await.map(drop)
}

/// Returns the statements that record refunds of an order, and what they have credited. They fail if the order was changed
/// since `version`.
pub(crate) fn refunding(refunded: &RefundedOrder<'_>) -> Result<[Statement; 2]> {
    Ok([IsVersion(refunded).statement()?, Refund(refunded).statement()?])
}

#[derive(Debug, Serialize)]
pub(crate) struct RefundedOrder<'a> {
    #[serde(flatten)]
    pub key: &'a OrderKey,
    pub version: u64,
    pub facts: &'a str,
    pub credited: &'a str,
}

/// SQL for the condition that a row is of an order.
macro_rules! is_order {
    ($at:literal) => {
        concat!(
            "unit = ?1 ->> '$",
            $at,
            ".unit' AND mode = ?1 ->> '$",
            $at,
            ".mode' AND system = ?1 ->> '$",
            $at,
            ".system' AND store = ?1 ->> '$",
            $at,
            ".store' AND number = ?1 ->> '$",
            $at,
            ".number'"
        )
    };
}

#[derive(Serialize)]
#[serde(transparent)]
struct Decide<'a>(&'a Decision<'a>);

impl Query for Decide<'_> {
    type Row = ();
    const SQL: &'static str =
        "INSERT INTO shop_orders (unit, mode, system, store, number, connection, at, state, request, facts)
VALUES (?1 ->> '$.unit', ?1 ->> '$.mode', ?1 ->> '$.system', ?1 ->> '$.store', ?1 ->> '$.number',
  ?1 ->> '$.connection', ?1 ->> '$.at', ?1 ->> '$.state', ?1 ->> '$.request', ?1 ->> '$.facts')
ON CONFLICT DO NOTHING";
}

#[derive(Serialize)]
#[serde(transparent)]
struct Get<'a>(&'a OrderKey);

impl Query for Get<'_> {
    type Row = OrderRow;
    const SQL: &'static str = concat!(
        "SELECT json_object('state', state, 'request', request, 'facts', facts, 'version', version, 'id', id,
  'credited', credited) FROM shop_orders WHERE ",
        is_order!("")
    );
}

#[derive(Serialize)]
struct Pledged<'a> {
    key: &'a OrderKey,
    id: &'a str,
}

impl Query for Pledged<'_> {
    type Row = u64;
    const SQL: &'static str = concat!(
        "UPDATE shop_orders SET state = 'pledged', id = ?1 ->> '$.id', request = NULL WHERE state = 'frozen' AND ",
        is_order!(".key"),
        " RETURNING '1'"
    );
}

#[derive(Serialize)]
#[serde(transparent)]
struct Forget<'a>(&'a OrderKey);

impl Query for Forget<'_> {
    type Row = ();
    const SQL: &'static str =
        concat!("DELETE FROM shop_orders WHERE state = 'frozen' AND ", is_order!(""));
}

#[derive(Serialize)]
struct ForgetFrozen {
    before: u64,
}

impl Query for ForgetFrozen {
    type Row = ();
    const SQL: &'static str = "DELETE FROM shop_orders WHERE state = 'frozen' AND (at < ?1 ->> '$.before'
  OR EXISTS (SELECT 1 FROM published WHERE name = 'connection:' || connection AND content IS NULL))";
}

#[derive(Serialize)]
#[serde(transparent)]
struct IsVersion<'a>(&'a RefundedOrder<'a>);

impl Query for IsVersion<'_> {
    type Row = ();
    const SQL: &'static str = concat!(
        "INSERT INTO preconditions (holds) SELECT EXISTS (SELECT 1 FROM shop_orders
  WHERE version = ?1 ->> '$.version' AND ",
        is_order!(""),
        ")"
    );
}

#[derive(Serialize)]
#[serde(transparent)]
struct Refund<'a>(&'a RefundedOrder<'a>);

impl Query for Refund<'_> {
    type Row = ();
    const SQL: &'static str = concat!(
        "UPDATE shop_orders SET facts = ?1 ->> '$.facts', credited = ?1 ->> '$.credited', version = version + 1 WHERE ",
        is_order!("")
    );
}
