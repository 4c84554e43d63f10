//! The limits up to which requests of a unit are credited at once. A limit bounds the sum of each transaction and the sum
//! of each month, in one currency and mode.

use crate::office::shared::rows::port::{Ledger, Query, Result, Statement, ask};
use crate::pledges::scope::Scope;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    pub unit: String,
    pub currency: String,
    /// The sum for one transaction, in hundredths of the currency.
    pub per_order: u64,
    /// The sum for one month, in hundredths of the currency.
    pub per_month: u64,
}

/// Returns the limit of a unit; `None` if it has none. One query.
pub async fn limit(ledger: &dyn Ledger, unit: &str) -> Result<Option<Limit>> {
    Ok(ask(ledger, &Of { unit }).await?.pop())
}

/// Returns the statement that sets the limit of a unit, or removes it.
pub(crate) fn setting(
    unit: &str,
    limit: Option<&Limit>,
    (by, at): (&str, u64),
) -> Result<Statement> {
    match limit {
        Some(limit) => Set { limit, by, at }.statement(),
        None => Remove { unit }.statement(),
    }
}

#[derive(Serialize)]
struct Of<'a> {
    unit: &'a str,
}

impl Query for Of<'_> {
    type Row = Limit;
    const SQL: &'static str =
        "SELECT json_object('unit', unit, 'currency', currency, 'per_order', per_order,
  'per_month', per_month) FROM credit_limits WHERE unit = ?1 ->> '$.unit'";
}

#[derive(Serialize)]
struct Set<'a> {
    limit: &'a Limit,
    by: &'a str,
    at: u64,
}

impl Query for Set<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO credit_limits (unit, currency, per_order, per_month, author, at)
VALUES (?1 ->> '$.limit.unit', ?1 ->> '$.limit.currency', ?1 ->> '$.limit.per_order', ?1 ->> '$.limit.per_month',
  ?1 ->> '$.by', ?1 ->> '$.at')
ON CONFLICT DO UPDATE SET currency = excluded.currency, per_order = excluded.per_order, per_month = excluded.per_month,
  author = excluded.author, at = excluded.at";
}

#[derive(Serialize)]
struct Remove<'a> {
    unit: &'a str,
}

impl Query for Remove<'_> {
    type Row = ();
    const SQL: &'static str = "DELETE FROM credit_limits WHERE unit = ?1 ->> '$.unit'";
}

// ---- Within the limit ----------------------------------------------------------------------------

/// An amount to credit at once, and the beginning of the month whose sum counts.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct LimitedSums<'a> {
    /// The transaction.
    pub id: &'a str,
    pub scope: &'a Scope,
    pub currency: &'a str,
    /// The amount in cents; `None` if it is above 2^53 - 1.
    pub cents: Option<u64>,
    /// The beginning of the month, in milliseconds since 1970.
    pub since: u64,
}

/// An SQL condition: whether the sums of the transaction and of the month stay within the limit of the unit.
macro_rules! within {
    () => {
        "EXISTS (SELECT 1 FROM credit_limits WHERE unit = ?1 ->> '$.scope.unit' AND currency = ?1 ->> '$.currency'
  AND ?1 ->> '$.cents' + (SELECT ifnull(sum(cents), 0) FROM credit_requests
    WHERE id = ?1 ->> '$.id' AND state = 'credited' AND decider_of_shop = 1) <= per_order
  AND ?1 ->> '$.cents' + (SELECT ifnull(sum(r.cents), 0) FROM credit_requests r
    WHERE r.unit = ?1 ->> '$.scope.unit' AND r.mode = ?1 ->> '$.scope.mode' AND r.decided >= ?1 ->> '$.since'
      AND r.state = 'credited' AND r.decider_of_shop = 1) <= per_month)"
    };
}

/// Returns whether an amount is within the limit of the unit. One query.
pub(crate) async fn is_within(ledger: &dyn Ledger, sums: LimitedSums<'_>) -> Result<bool> {
    Ok(!ask(ledger, &IsWithin(sums)).await?.is_empty())
}

#[derive(Serialize)]
struct IsWithin<'a>(LimitedSums<'a>);

impl Query for IsWithin<'_> {
    type Row = u8;
    const SQL: &'static str = concat!("SELECT '1' WHERE ", within!());
}

/// Fails if the amount is not within the limit of the unit.
#[derive(Serialize)]
pub(super) struct WithinLimit<'a>(pub LimitedSums<'a>);

impl Query for WithinLimit<'_> {
    type Row = ();
    const SQL: &'static str = concat!("INSERT INTO preconditions (holds) SELECT ", within!());
}
