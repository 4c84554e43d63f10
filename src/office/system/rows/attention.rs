//! Queries for what operators have to look at: unpriced pledges, months that are not marked as paid, unusual charges.
//! They concern live mode, because test mode is not charged.

use crate::office::payments::rows::sums::{SumsQuery, months};
use crate::office::shared::rows::money::money;
use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use crate::office::shops::rows::scopes::wanted;
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::settlement::{Month, ScopeMonth};
use crate::pledges::time::date_time;
use serde::{Deserialize, Serialize};

/// An SQL condition: whether a live scope's month is marked as paid. `$month` is the SQL expression of the month. The
/// query must have a column `unit`.
macro_rules! is_settled {
    ($month:literal) => {
        concat!(
            "EXISTS (SELECT 1 FROM published p WHERE p.name = 'settlement:live:' || unit || ':' || ",
            $month,
            " AND p.content IS NOT NULL)"
        )
    };
}

// ---- By month ------------------------------------------------------------------------------------

/// Counts the unpriced pledges of each of these months. Leaves out scopes whose month is marked as paid, and months
/// whose count is 0. One query, which reads the rows of these months.
pub async fn unpriced(ledger: &dyn Ledger, months: &[Month]) -> Result<Vec<(Month, u64)>> {
    ask(ledger, &Unpriced(&SumsQuery::new(Some(Mode::Live), None, months))).await
}

#[derive(Serialize)]
struct Unpriced<'a>(&'a SumsQuery<'a>);

impl Query for Unpriced<'_> {
    type Row = (Month, u64);
    const SQL: &'static str = concat!(
        "WITH ",
        wanted!(),
        ", ",
        months!(),
        ", of_scope AS MATERIALIZED (
  SELECT month, unit, (SELECT ifnull(sum(unpriced), 0) FROM transactions t
    WHERE t.scope = wanted.scope AND t.created >= from_ms AND t.created < until_ms AND unpriced > 0) AS number
  FROM months CROSS JOIN wanted
)
SELECT json_array(month, sum(number)) FROM of_scope WHERE number > 0 AND NOT ",
        is_settled!("month"),
        " GROUP BY month ORDER BY month DESC"
    );
}

/// Months in which something may be due, because they are not marked as paid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unsettled {
    /// The number of scopes for which something is certainly due, by month. The newest month is first. Months
    /// without such scopes are left out.
    pub owed: Vec<(Month, u64)>,
    /// Months for which nothing may be due, because the credits may cover all charges.
    pub covered: Vec<ScopeMonth>,
}

/// For each of these months, finds the scopes that have a charge above 0.00 and whose month is not marked as
/// paid. One query.
///
/// For each scope and month, the query reads rows only up to the first charge above 0.00. If the scope has
/// credits that may count in the month, it reads until the charges exceed these credits.
pub async fn unsettled(ledger: &dyn Ledger, months: &[Month]) -> Result<Unsettled> {
    let rows =
        ask(ledger, &UnsettledMonths(&SumsQuery::new(Some(Mode::Live), None, months))).await?;
    let mut found = Unsettled::default();
    for (month, unit, count) in rows {
        match unit {
            None => found.owed.push((month, count)),
            Some(unit) => {
                let scope = Scope { mode: Mode::Live, unit };
                found.covered.push(ScopeMonth { scope, month });
            }
        }
    }
    Ok(found)
}

#[derive(Serialize)]
struct UnsettledMonths<'a>(&'a SumsQuery<'a>);

/// SQL that selects a scope's transactions in a month. In the query around this SQL, the row with the scope and
/// the month must be called `open`.
macro_rules! of_month {
    () => {
        "FROM transactions t WHERE t.scope = open.scope AND t.created >= from_ms AND t.created < until_ms"
    };
}

// A month has at most the credits that are booked in it, and those of earlier orders that an earlier month could not take.
// A charge or a credit without `cents` is larger than any sum of others. Sums are numbers with a fraction, which do not
// overflow.
impl Query for UnsettledMonths<'_> {
    type Row = (Month, Option<String>, u64);
    const SQL: &'static str = concat!(
        "WITH ",
        wanted!(),
        ", ",
        months!(),
        ", open AS MATERIALIZED (
  SELECT month, from_ms, until_ms, scope, unit FROM months CROSS JOIN wanted
  WHERE NOT ",
        is_settled!("month"),
        " AND EXISTS (SELECT 1 FROM transactions t
    WHERE t.scope = wanted.scope AND t.created >= from_ms AND t.created < until_ms AND t.cents IS NOT 0)
), available AS MATERIALIZED (
  SELECT month, scope, currency, iif(count(*) > count(cents), 9e99, total(cents)) AS most
  FROM open JOIN credits c ON c.unit = open.unit AND c.mode = 'live' AND c.booked_month <= month
    AND (c.booked_month = month OR c.order_month < c.booked_month OR EXISTS (SELECT 1 FROM transactions t
      WHERE t.id = c.id AND strftime('%Y-%m', t.created / 1000, 'unixepoch') <> c.booked_month))
  GROUP BY month, scope, currency
), found AS MATERIALIZED (
  SELECT month, unit,
    EXISTS (SELECT 1 ",
        of_month!(),
        " AND t.cents IS NOT 0 AND t.currency NOT IN (
      SELECT currency FROM available own WHERE own.month = open.month AND own.scope = open.scope))
    OR EXISTS (SELECT 1 FROM available own WHERE own.month = open.month AND own.scope = open.scope AND EXISTS (
      SELECT 1 FROM (SELECT total(ifnull(cents, 9e98)) OVER (ORDER BY created, id) AS charged ",
        of_month!(),
        " AND t.currency = own.currency) WHERE charged > own.most)) AS is_owed
  FROM open
)
SELECT json_array(month, iif(is_owed, NULL, unit), count(*)) FROM found
GROUP BY month, iif(is_owed, NULL, unit) ORDER BY month DESC, unit"
    );
}

// ---- Unusual charges -----------------------------------------------------------------------------

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

/// Finds the live transactions with unusual charges since a time, in milliseconds since 1970. A charge is unusual if
/// one of these conditions holds:
///
/// - It is above [`UNUSUAL_TIMES`] times the median of its scope's charges since that time. This applies only if the
///   scope has at least [`LEAST_CHARGES`] charges and the median is not 0.
/// - It is above `limit`, in hundredths of the currency.
/// - It is larger than 2^53 hundredths.
///
/// A charge counts after its credits, the median before all credits. So a transaction that is credited in full is not
/// unusual. Leaves out transactions of months that are marked as paid. Compares amounts of different currencies as plain numbers.
/// Lists at most `most` transactions, but counts all.
///
/// One query. It reads each scope's rows since that time once, and again only if a charge could be unusual: the scope's
/// largest is above `limit`, or far above its smallest. It sorts the charges only of scopes that have an unusual charge.
pub async fn unusual(
    ledger: &dyn Ledger,
    since: u64,
    limit: Option<u64>,
    most: usize,
) -> Result<UnusualCharges> {
    let rows = ask(ledger, &Unusual { since, limit, most }).await?;
    let count = rows.first().map_or(0, |row| row.count);
    let newest = rows.into_iter().map(Row::into_charge).collect();
    Ok(UnusualCharges { count, newest })
}

#[derive(Serialize)]
struct Unusual {
    since: u64,
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

/// SQL that selects a scope's transactions since the given time. In the query around this SQL, the row of the
/// scope must be called `s`.
macro_rules! recent {
    () => {
        "FROM transactions t WHERE t.scope = s.scope AND t.created >= ?1 ->> '$.since'"
    };
}

// A charge is above 100 times the median if more than half of the charges are below a hundredth of this charge.
// Counting them needs no sorting. A charge without `cents` can only be credited in full.
impl Query for Unusual {
    type Row = Row;
    const SQL: &'static str = concat!(
        "WITH charged AS MATERIALIZED (
  SELECT scope, unit, (SELECT json_array(count(cents), min(cents), max(cents), count(*) - count(cents)) ",
        recent!(),
        ") AS charges FROM scopes s WHERE mode = 'live'
), s AS MATERIALIZED (
  SELECT scope, unit, charges ->> '$[0]' AS number, charges ->> '$[1]' AS least, charges ->> '$[2]' AS most,
    charges ->> '$[3]' AS large
  FROM charged
), usual AS MATERIALIZED (
  SELECT scope, unit, iif(number >= 20 AND most > 100 * least
      AND (SELECT count(*) ",
        recent!(),
        " AND t.cents * 100 < s.most) > (number - 1) / 2,
    (SELECT cents FROM (SELECT cents, row_number() OVER (ORDER BY cents) AS place ",
        recent!(),
        " AND cents IS NOT NULL) WHERE place = (s.number + 1) / 2), NULL) AS median,
    most > ifnull(?1 ->> '$.limit', most) OR large > 0 AS has_limit
  FROM s
), charged_much AS MATERIALIZED (
  SELECT t.id, s.unit, t.created, t.currency, t.cents, t.amount, s.median
  FROM usual s CROSS JOIN transactions t ON t.scope = s.scope AND t.created >= ?1 ->> '$.since'
  WHERE (s.median > 0 OR s.has_limit)
    AND (t.cents IS NULL OR t.cents > ?1 ->> '$.limit' OR (s.median > 0 AND t.cents > 100 * s.median))
    AND NOT ",
        is_settled!("strftime('%Y-%m', t.created / 1000, 'unixepoch')"),
        "
), left_over AS MATERIALIZED (
  SELECT m.id, m.unit, m.created, m.currency, m.cents - ifnull(sum(c.cents), 0) AS cents, m.amount, median
  FROM charged_much m LEFT JOIN credits c ON c.id = m.id
  GROUP BY m.id HAVING m.cents IS NOT NULL OR count(c.id) = 0
), found AS MATERIALIZED (
  SELECT id, unit, created, currency, cents, amount FROM left_over
  WHERE cents IS NULL OR cents > ?1 ->> '$.limit' OR (median > 0 AND cents > 100 * median)
)
SELECT json_object('count', count(*) OVER (), 'id', id, 'unit', unit, 'created', created, 'currency', currency,
  'cents', cents, 'amount', amount)
FROM found ORDER BY created DESC, id DESC LIMIT ?1 ->> '$.most'"
    );
}
