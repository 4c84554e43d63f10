//! Exact sums of the pledged quantities, by month and offering.

use super::day_quantities::{large, pledged, sum_of};
use crate::office::payments::rows::sums::{SumsQuery, months};
use crate::office::shared::rows::money::{laid_out, of_halves, of_part, parts};
use crate::office::shared::rows::port::{Ledger, LedgerError, Query, Result, ask};
use crate::office::shops::rows::scopes::wanted;
use crate::pledges::decimal::Decimal;
use crate::pledges::scope::Mode;
use crate::pledges::settlement::Month;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A quantity with at most this many decimal places is stored as a whole number of millionths.
pub(crate) const PLACES: u32 = 6;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OfferingSum {
    pub month: Month,
    /// Test or live.
    pub mode: Mode,
    pub offering: String,
    /// Number of transactions with a pledge for the offering.
    pub transactions: u64,
    /// The exact sum of the quantities, as a decimal. It has an exponent if it would otherwise need more than
    /// 20 zeros.
    pub quantity: String,
}

/// Sums the pledged quantities by month, mode and offering, newest month first. Returns at most `most`
/// sums.
///
/// With `units`, sums only the quantities of these units. Without `units`, sums the quantities of all
/// units, and uses the daily sums that the ledger stores.
///
/// Cost: one query, or three if a quantity is above 9 × 10^9 or has more than six decimal places.
pub async fn quantities(
    ledger: &dyn Ledger,
    mode: Option<Mode>,
    units: Option<&[String]>,
    months: &[Month],
    most: usize,
) -> Result<Vec<OfferingSum>> {
    let limited = Limited { asked: SumsQuery::new(mode, units, months), most };
    of_queries(ledger, &Quantities(&limited), &LargeQuantities(&limited)).await
}

/// Sums the live quantities of a unit as [`quantities`] does, but only those that were created before a day, which begins at
/// `day_ms`. The cost is the same.
pub(crate) async fn live_before(
    ledger: &dyn Ledger,
    unit: &[String; 1],
    (months, day_ms): (&[Month], u64),
    most: usize,
) -> Result<Vec<OfferingSum>> {
    let asked = SumsQuery::new(Some(Mode::Live), Some(unit), months).before(day_ms);
    let limited = Limited { asked, most };
    of_queries(ledger, &Quantities(&limited), &LargeQuantities(&limited)).await
}

/// Returns the sums of a query. Asks for the parts of large quantities, too, if there are any.
pub(super) async fn of_queries<Q: Query<Row = Sum>, L: Query<Row = LargeSum>>(
    ledger: &dyn Ledger,
    sums: &Q,
    large: &L,
) -> Result<Vec<OfferingSum>> {
    let mut rows = ask(ledger, sums).await?;
    let mut parts = Parts::new();
    if rows.iter().any(|row| row.large > 0) {
        // Both in one call, so that no transaction arrives between them.
        let answers = ledger.run(&[sums.statement()?, large.statement()?]).await?;
        let [again, large] = answers.as_slice() else { return Err(LedgerError::Damaged) };
        rows = Q::rows(again)?;
        for LargeSum { month, mode, offering, part, sum } in L::rows(large)? {
            parts.entry((month, mode, offering)).or_default().extend(of_part(part, sum));
        }
    }
    Ok(rows.into_iter().map(|row| row.into_sum(&mut parts)).collect())
}

/// Partial sums by month, mode and offering, of the quantities that are stored as texts. Each such quantity
/// is split into parts of twelve digits, which are summed separately.
type Parts = BTreeMap<(Month, Mode, String), Vec<Decimal>>;

#[derive(Serialize)]
struct Limited<'a> {
    #[serde(flatten)]
    asked: SumsQuery<'a>,
    most: usize,
}

/// SQL that defines two tables for a query. `states(month, mode, day, sums)` has each day of the requested
/// months, with the day's stored sums or null. `spans(month, mode, from_ms, until_ms)` has each series of
/// consecutive days without stored sums.
///
/// The stored sums cover all units together. So a query for certain units does not use them.
macro_rules! states_and_spans {
    () => {
        "days AS (
  SELECT month, from_ms / 86400000 AS day, until_ms / 86400000 AS until FROM months
  UNION ALL SELECT month, day + 1, until FROM days WHERE day + 1 < until
), states AS MATERIALIZED (
  SELECT month, modes.mode, days.day, sums
  FROM days CROSS JOIN (SELECT 'live' AS mode UNION ALL SELECT 'test') modes
  LEFT JOIN day_quantities stored ON stored.day = days.day AND stored.mode = modes.mode AND ?1 ->> '$.units' IS NULL
  WHERE ?1 ->> '$.mode' IS NULL OR modes.mode = ?1 ->> '$.mode'
), runs AS (
  SELECT month, mode, day, day - row_number() OVER (PARTITION BY month, mode ORDER BY day) AS run
  FROM states WHERE sums IS NULL
), spans AS MATERIALIZED (
  SELECT month, mode, min(day) * 86400000 AS from_ms, (max(day) + 1) * 86400000 AS until_ms
  FROM runs GROUP BY month, mode, run
)"
    };
}

#[derive(Serialize)]
struct Quantities<'a>(&'a Limited<'a>);

impl Query for Quantities<'_> {
    type Row = Sum;
    const SQL: &'static str = concat!(
        "WITH RECURSIVE ",
        wanted!(),
        ", ",
        months!(),
        ", ",
        states_and_spans!(),
        ", ",
        pledged!(""),
        ", summed AS (
  SELECT month, mode, offering, sum(number) AS transactions, max(typeof(quantity) = 'text') AS large, ",
        sum_of!("/"),
        " AS millions, ",
        sum_of!("%"),
        " AS rest FROM pledged GROUP BY month, mode, offering
  UNION ALL
  SELECT month, mode, value -> '$[0]', value ->> '$[1]', json_array_length(value) > 4, value ->> '$[2]', value ->> '$[3]'
  FROM states CROSS JOIN json_each(sums)
)
SELECT json_object('month', month, 'mode', mode, 'offering', json(offering), 'transactions', sum(transactions),
  'large', max(large), 'millions', sum(millions), 'rest', sum(rest))
FROM summed GROUP BY month, mode, offering ORDER BY month DESC, mode, offering LIMIT ?1 ->> '$.most'"
    );
}

/// A row of the query's result. `millions` × 1,000,000 + `rest` is the sum of the quantities that are stored as
/// numbers, in units of 0.000001.
#[derive(Deserialize)]
pub(super) struct Sum {
    month: Month,
    mode: Mode,
    offering: String,
    transactions: u64,
    /// 1 if any of the quantities is stored as a text.
    large: u8,
    millions: u64,
    rest: u64,
}

impl Sum {
    fn into_sum(self, large: &mut Parts) -> OfferingSum {
        let Sum { month, mode, offering, transactions, .. } = self;
        let group = (month, mode, offering);
        let mut parts = large.remove(&group).unwrap_or_default();
        parts.extend(of_halves(self.millions, self.rest, PLACES));
        let quantity = Decimal::sum(parts.into_iter()).to_exact();
        OfferingSum { month, mode, offering: group.2, transactions, quantity }
    }
}

#[derive(Serialize)]
struct LargeQuantities<'a>(&'a Limited<'a>);

impl Query for LargeQuantities<'_> {
    type Row = LargeSum;
    // A quantity that is stored as a text begins with a digit. Other rows are left out before they are parsed.
    const SQL: &'static str = concat!(
        "WITH RECURSIVE ",
        wanted!(),
        ", ",
        months!(),
        ", ",
        states_and_spans!(),
        ", ",
        pledged!(r#" AND t.quantities GLOB '*"[0-9]*'"#),
        ", ",
        large!(),
        ", all_parts AS (
  SELECT month, mode, offering, part, sum FROM large
  UNION ALL
  SELECT month, mode, entry.value -> '$[0]', pair.value ->> '$[0]', pair.value ->> '$[1]'
  FROM states CROSS JOIN json_each(sums) entry CROSS JOIN json_each(entry.value, '$[4]') pair
)
SELECT json_object('month', month, 'mode', mode, 'offering', json(offering), 'part', part, 'sum', sum(sum))
FROM all_parts GROUP BY month, mode, offering, part HAVING sum(sum) > 0"
    );
}

/// A row of the query's result: the sum of one part. Quantities that are stored as texts are split into parts
/// of twelve digits, and each part is summed separately.
#[derive(Deserialize)]
pub(super) struct LargeSum {
    month: Month,
    mode: Mode,
    offering: String,
    part: i32,
    sum: u64,
}
