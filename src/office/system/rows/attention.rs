//! Queries for what operators have to look at: unpriced pledges, and months that are not marked as paid. They concern
//! live mode, because test mode is not charged.

use crate::office::payments::rows::day_charges::{spans, stored_charges, unsummed};
use crate::office::payments::rows::sums::{SumsQuery, months};
use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use crate::office::shops::rows::scopes::wanted;
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::settlement::{Month, ScopeMonth};
use serde::Serialize;

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
pub(crate) use is_settled;

/// Counts the unpriced pledges of each of these months. Leaves out scopes whose month is marked as paid, and months
/// whose count is 0. One query.
pub async fn unpriced(ledger: &dyn Ledger, months: &[Month]) -> Result<Vec<(Month, u64)>> {
    ask(ledger, &Unpriced(&SumsQuery::new(Some(Mode::Live), None, months))).await
}

#[derive(Serialize)]
struct Unpriced<'a>(&'a SumsQuery<'a>);

impl Query for Unpriced<'_> {
    type Row = (Month, u64);
    const SQL: &'static str = concat!(
        "WITH RECURSIVE ",
        wanted!(),
        ", ",
        months!(),
        ", ",
        spans!(),
        ", of_scope AS MATERIALIZED (
  SELECT month, unit,
    (SELECT ifnull(sum(unpriced), 0) FROM ",
        stored_charges!("wanted.scope"),
        " WHERE +spans.month = months.month)
    + (SELECT ifnull(sum(unpriced), 0) FROM ",
        unsummed!("wanted.scope"),
        " WHERE +spans.month = months.month AND unpriced > 0) AS number
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

/// SQL: whether a scope has a charge above 0.00 in a month that satisfies a condition on its currency. `$of` is the table
/// expression with the scope and the month.
macro_rules! has_charge {
    ($of:literal, $scope:literal, $currency:literal) => {
        concat!(
            "(EXISTS (SELECT 1 FROM ",
            stored_charges!($scope),
            " WHERE +spans.month = ",
            $of,
            ".month AND (c.most IS NOT 0 OR c.large > 0)",
            $currency,
            ") OR EXISTS (SELECT 1 FROM ",
            unsummed!($scope),
            " WHERE +spans.month = ",
            $of,
            ".month AND t.cents IS NOT 0",
            $currency,
            "))"
        )
    };
}

// A month has at most the credits that are booked in it, and those of earlier orders that an earlier month could not take.
// A charge or a credit without `cents` is larger than any sum of others. Sums are numbers with a fraction, which do not
// overflow.
impl Query for UnsettledMonths<'_> {
    type Row = (Month, Option<String>, u64);
    const SQL: &'static str = concat!(
        "WITH RECURSIVE ",
        wanted!(),
        ", ",
        months!(),
        ", ",
        spans!(),
        ", open AS MATERIALIZED (
  SELECT month, scope, unit FROM months CROSS JOIN wanted
  WHERE NOT ",
        is_settled!("month"),
        " AND ",
        has_charge!("months", "wanted.scope", ""),
        "
), available AS MATERIALIZED (
  SELECT month, scope, currency, iif(count(*) > count(cents), 9e99, total(cents)) AS most
  FROM open JOIN credits c ON c.unit = open.unit AND c.mode = 'live' AND c.booked_month <= month
    AND (c.booked_month = month OR c.order_month < c.booked_month OR EXISTS (SELECT 1 FROM transactions t
      WHERE t.id = c.id AND strftime('%Y-%m', t.created / 1000, 'unixepoch') <> c.booked_month))
  GROUP BY month, scope, currency
), charged AS MATERIALIZED (
  SELECT month, scope, own.most,
    (SELECT total(c.millions * 1e6 + c.rest + c.large * 9e98) FROM ",
        stored_charges!("own.scope"),
        " WHERE +spans.month = own.month AND c.currency = own.currency)
    + (SELECT total(ifnull(t.cents, 9e98)) FROM ",
        unsummed!("own.scope"),
        " WHERE +spans.month = own.month AND t.currency = own.currency) AS charged
  FROM available own
), found AS MATERIALIZED (
  SELECT month, unit, ",
        has_charge!(
            "open",
            "open.scope",
            " AND currency NOT IN (SELECT currency FROM available own WHERE own.month = open.month AND own.scope = open.scope)"
        ),
        " OR EXISTS (SELECT 1 FROM charged own
      WHERE own.month = open.month AND own.scope = open.scope AND own.charged > own.most) AS is_owed
  FROM open
)
SELECT json_array(month, iif(is_owed, NULL, unit), count(*)) FROM found
GROUP BY month, iif(is_owed, NULL, unit) ORDER BY month DESC, unit"
    );
}
