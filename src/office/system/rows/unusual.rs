//! Finds the live transactions with unusual charges.

use super::attention::is_settled;
use crate::office::payments::rows::day_charges::{open_spans, stored_charges, unsummed};
use crate::office::shared::rows::money::money;
use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use crate::pledges::time::{DAY_MS, date_time};
use serde::{Deserialize, Serialize};

/// Minimum number of charges that a scope needs before its median is used to find unusual charges.
pub const LEAST_CHARGES: u64 = 20;
/// A charge above this many times the median is unusual.
pub const UNUSUAL_TIMES: u64 = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusualCharge {
    pub id: String,
    /// The unit's ID.
    pub unit: String,
    /// When the transaction was created, an RFC 3339 date-time.
    pub created_at: String,
    pub currency_code: String,
    /// What is left of the charge after its credits, as a decimal with two places.
    pub amount: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnusualCharges {
    pub count: u64,
    /// The newest of these transactions, newest first.
    pub newest: Vec<UnusualCharge>,
}

/// Finds the live transactions with unusual charges since the beginning of a day, which is given by a time in milliseconds
/// since 1970. A charge is unusual if one of these conditions holds:
///
/// - It is above [`UNUSUAL_TIMES`] times the median of its scope's charges since that day. This applies only if the
///   scope has at least [`LEAST_CHARGES`] charges and the median is not 0.
/// - It is above `limit`, in hundredths of the currency.
/// - It is larger than 2^53 hundredths.
///
/// A charge counts after its credits, the median before all credits. So a transaction that is credited in full is not
/// unusual. Leaves out transactions of months that are marked as paid, and those that a person accepted. Compares amounts of different currencies as plain numbers.
/// Lists at most `most` transactions, but counts all.
///
/// One query. It reads the transactions of a day only if the day has no stored sums, or a charge that may be unusual. It
/// reads and sorts all charges of a scope only if the stored sums do not decide.
pub async fn unusual(
    ledger: &dyn Ledger,
    since: u64,
    limit: Option<u64>,
    most: usize,
) -> Result<UnusualCharges> {
    let rows = ask(ledger, &Unusual { first: since / DAY_MS, limit, most }).await?;
    let count = rows.first().map_or(0, |row| row.count);
    let newest = rows.into_iter().map(Row::into_charge).collect();
    Ok(UnusualCharges { count, newest })
}

#[derive(Serialize)]
struct Unusual {
    /// The first day, counted from 1970.
    first: u64,
    limit: Option<u64>,
    most: usize,
}

/// A row of the query's result. `count` is the number of all unusual charges, although the result has only
/// the newest.
#[derive(Deserialize)]
struct Row {
    count: u64,
    id: String,
    unit: String,
    created: u64,
    currency: String,
    cents: Option<u64>,
    amount: Option<String>,
}

impl Row {
    fn into_charge(self) -> UnusualCharge {
        UnusualCharge {
            id: self.id,
            unit: self.unit,
            created_at: date_time(self.created),
            currency_code: self.currency,
            amount: money(self.cents, self.amount.as_deref()),
        }
    }
}

/// SQL: the median of some charges. `$charges` selects their transactions, without those that have no `cents`.
macro_rules! median {
    ($charges:expr) => {
        concat!(
            "(SELECT cents FROM (
    SELECT cents, row_number() OVER (ORDER BY cents) AS place, count(*) OVER () AS charges FROM ",
            $charges,
            " AND cents IS NOT NULL
  ) WHERE place = (charges + 1) / 2)"
        )
    };
}

/// SQL that selects all transactions of the scope `s` since the first day.
macro_rules! since_first {
    () => {
        "transactions t WHERE t.scope = s.scope AND t.created >= ?1 ->> '$.first' * 86400000"
    };
}

// If charges are divided into groups, their median lies between the smallest and the largest median of the groups. Here
// the stored days are groups, and the transactions without stored sums are one more. So most scopes turn out to have no
// unusual charge without their median being known:
//
// - `bounds`: `low` and `high` are of stored days. `least` is the least median, or the least charge without stored sums.
// - `refined`: with the median of the charges without stored sums.
// - `usual`: if the two bounds are far apart, the median is computed. `low` is NULL if no charge can be above 100 times
//   the median.
// - `hot`: the days with a charge that may be unusual.
// - `exact`: the medians of scopes with a charge that the bounds do not decide.
//
// A charge without `cents` can only be credited in full.
impl Query for Unusual {
    type Row = Row;
    const SQL: &'static str = concat!(
        "WITH ",
        open_spans!("?1 ->> '$.first'"),
        ", charged AS MATERIALIZED (
  SELECT scope, unit, (
    SELECT json_array(sum(number), min(low), max(low), min(least), max(most), sum(large)) FROM (
      SELECT number - large AS number, middle AS low, middle AS least, most, large FROM ",
        stored_charges!("s.scope"),
        "
      UNION ALL
      SELECT count(cents), NULL, min(cents), max(cents), count(*) - count(cents) FROM ",
        unsummed!("s.scope"),
        "
    )) AS charges
  FROM scopes s WHERE mode = 'live'
), bounds AS MATERIALIZED (
  SELECT scope, unit, charges ->> '$[0]' AS number, charges ->> '$[1]' AS low, charges ->> '$[2]' AS high,
    charges ->> '$[3]' AS least, charges ->> '$[4]' AS most, charges ->> '$[5]' AS large
  FROM charged
), refined AS MATERIALIZED (
  SELECT *, iif(number >= 20 AND most > 100 * least, ",
        median!(concat!(unsummed!("s.scope"), " WHERE true")),
        ", NULL) AS own
  FROM bounds s
), bounded AS MATERIALIZED (
  SELECT scope, unit, most, large, iif(number >= 20, min(ifnull(low, own), ifnull(own, low)), NULL) AS low,
    max(ifnull(high, own), ifnull(own, high)) AS high
  FROM refined
), medians AS MATERIALIZED (
  SELECT *, iif(most > 100 * low AND high > 2 * low, ",
        median!(since_first!()),
        ", NULL) AS median
  FROM bounded s
), usual AS MATERIALIZED (
  SELECT scope, unit, iif(most > 100 * ifnull(median, low) AND ifnull(median, low) > 0, ifnull(median, low), NULL) AS low,
    ifnull(median, high) AS high, most > ifnull(?1 ->> '$.limit', most) OR large > 0 AS has_limit
  FROM medians
), hot AS MATERIALIZED (
  SELECT s.scope, c.day AS from_day, c.day AS until_day FROM usual s CROSS JOIN ",
        stored_charges!("s.scope"),
        " WHERE c.large > 0 OR c.most > ?1 ->> '$.limit' OR c.most > 100 * s.low
  UNION
  SELECT s.scope, from_day, until_day FROM usual s CROSS JOIN spans WHERE NOT is_summed AND (s.low IS NOT NULL OR has_limit)
), charged_much AS MATERIALIZED (
  SELECT t.id, t.scope, s.unit, t.created, t.currency, t.cents, t.amount, s.low, s.high
  FROM hot CROSS JOIN usual s ON s.scope = hot.scope CROSS JOIN transactions t ON t.scope = hot.scope
    AND t.created >= from_day * 86400000 AND t.created < (until_day + 1) * 86400000
  WHERE (t.cents IS NULL OR t.cents > ?1 ->> '$.limit' OR t.cents > 100 * s.low)
    AND NOT ",
        is_settled!("strftime('%Y-%m', t.created / 1000, 'unixepoch')"),
        "
), left_over AS MATERIALIZED (
  SELECT m.id, m.scope, m.unit, m.created, m.currency, m.cents - ifnull(sum(c.cents), 0) AS cents, m.amount, low, high
  FROM charged_much m LEFT JOIN credits c ON c.id = m.id
  GROUP BY m.id HAVING m.cents IS NOT NULL OR count(c.id) = 0
), exact AS MATERIALIZED (
  SELECT scope, ",
        median!(since_first!()),
        " AS median
  FROM (SELECT DISTINCT scope FROM left_over WHERE cents > 100 * low AND cents <= 100 * high) s
), found AS MATERIALIZED (
  SELECT id, unit, created, currency, cents, amount FROM left_over LEFT JOIN exact USING (scope)
  WHERE cents IS NULL OR cents > ?1 ->> '$.limit' OR (low IS NOT NULL AND cents > 100 * ifnull(median, high))
)
SELECT json_object('count', count(*) OVER (), 'id', id, 'unit', unit, 'created', created, 'currency', currency,
  'cents', cents, 'amount', amount)
FROM found f
WHERE NOT EXISTS (SELECT 1 FROM accepted_tasks a WHERE a.task = 'unusual' AND a.subject = f.id)
ORDER BY created DESC, id DESC LIMIT ?1 ->> '$.most'"
    );
}
