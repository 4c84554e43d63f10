//! How much of an offering each unit pledged in a month. The ledger keeps no sums of this: the query reads the transactions of
//! the month, and only if a person asks for one offering.

use super::day_quantities::{large, pledged, sum_of};
use super::quantities::{LargeSum, OfferingSum, Sum, of_queries};
use crate::office::payments::rows::sums::{SumsQuery, months};
use crate::office::shared::rows::money::{laid_out, parts};
use crate::office::shared::rows::port::{Ledger, Query, Result};
use crate::office::shops::rows::scopes::wanted;
use crate::pledges::scope::Mode;
use crate::pledges::settlement::Month;
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnitSum {
    pub unit: String,
    /// Number of transactions with a pledge for the offering.
    pub transactions: u64,
    /// The exact sum of the quantities, as a decimal.
    pub quantity: String,
}

/// Sums the pledged quantities of an offering by unit, for one mode and month. Returns at most `most` units, the largest
/// first. Cost: one query, or three if a quantity is above 9 × 10^9 or has more than six decimal places.
pub async fn by_unit(
    ledger: &dyn Ledger,
    mode: Mode,
    month: Month,
    offering: &str,
    most: usize,
) -> Result<Vec<UnitSum>> {
    let asked = Asked { asked: SumsQuery::new(Some(mode), None, &[month]), of: offering, most };
    let sums = of_queries(ledger, &ByUnit(&asked), &LargeByUnit(&asked)).await?;
    let sum = |OfferingSum { offering: unit, transactions, quantity, .. }| UnitSum {
        unit,
        transactions,
        quantity,
    };
    Ok(sums.into_iter().map(sum).collect())
}

#[derive(Serialize)]
struct Asked<'a> {
    #[serde(flatten)]
    asked: SumsQuery<'a>,
    /// The offering.
    of: &'a str,
    most: usize,
}

/// SQL: the table expression `pledged`, in which each row has a unit in the place of the offering.
macro_rules! pledged_by_unit {
    ($which:literal) => {
        concat!(
            "WITH RECURSIVE ",
            wanted!(),
            ", ",
            months!(),
            ", spans AS (SELECT month, ?1 ->> '$.mode' AS mode, from_ms, until_ms FROM months), ",
            pledged!(
                $which,
                "json_quote(own)",
                "wanted.unit",
                "WHERE pair.value -> '$[0]' = ?1 -> '$.of'"
            )
        )
    };
}

#[derive(Serialize)]
struct ByUnit<'a>(&'a Asked<'a>);

impl Query for ByUnit<'_> {
    type Row = Sum;
    // Transactions without the offering are left out before they are parsed.
    const SQL: &'static str = concat!(
        pledged_by_unit!(" AND instr(t.quantities, ?1 -> '$.of') > 0"),
        ", summed AS (
  SELECT month, mode, offering, sum(number) AS transactions, max(typeof(quantity) = 'text') AS large, ",
        sum_of!("/"),
        " AS millions, ",
        sum_of!("%"),
        " AS rest FROM pledged GROUP BY month, mode, offering
)
SELECT json_object('month', month, 'mode', mode, 'offering', json(offering), 'transactions', transactions,
  'large', large, 'millions', millions, 'rest', rest)
FROM summed ORDER BY large DESC, millions + rest / 1000000 DESC, offering LIMIT ?1 ->> '$.most'"
    );
}

#[derive(Serialize)]
struct LargeByUnit<'a>(&'a Asked<'a>);

impl Query for LargeByUnit<'_> {
    type Row = LargeSum;
    const SQL: &'static str = concat!(
        pledged_by_unit!(
            r#" AND instr(t.quantities, ?1 -> '$.of') > 0 AND t.quantities GLOB '*"[0-9]*'"#
        ),
        ", ",
        large!(),
        "
SELECT json_object('month', month, 'mode', mode, 'offering', json(offering), 'part', part, 'sum', sum)
FROM large WHERE sum > 0"
    );
}
