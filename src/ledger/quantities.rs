//! Exact sums of the pledged quantities, by month and offering.

use super::money::{laid_out, of_halves, of_part, part_sum, parts};
use super::shops::wanted;
use super::sums::{SumsQuery, months, of_months};
use super::{Ledger, Query, Result, ask};
use crate::decimal::Decimal;
use crate::scope::Mode;
use crate::settlement::Month;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Number of decimal places up to which a column holds a quantity as a whole number.
pub(super) const PLACES: u32 = 6;

/// The quantity pledged for an offering in a month.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OfferingSum {
    /// The month.
    pub month: Month,
    /// Test or live.
    pub mode: Mode,
    /// The offering's ID.
    pub offering: String,
    /// Number of transactions with a pledge for the offering.
    pub transactions: u64,
    /// The exact sum of the quantities, as a decimal. It has an exponent if that saves 20 zeros.
    pub quantity: String,
}

/// Sums the pledged quantities for each month, mode and offering, newest month first, for the given units or for all
/// units. Returns at most `most` sums.
///
/// One query; two if a quantity is above 9 × 10^9 or has more than six places.
///
/// # Errors
/// If the ledger does not answer.
pub async fn quantities(
    ledger: &dyn Ledger,
    mode: Option<Mode>,
    units: Option<&[String]>,
    months: &[Month],
    most: usize,
) -> Result<Vec<OfferingSum>> {
    let asked = Limited { asked: SumsQuery::new(mode, units, months), most, shops: &[] };
    let rows = ask(ledger, &Quantities(&asked)).await?;
    let mut shops: Vec<_> = rows.iter().flat_map(|row| row.large.iter().copied()).collect();
    shops.sort_unstable();
    shops.dedup();
    let large = match shops.is_empty() {
        true => Vec::new(),
        false => ask(ledger, &LargeQuantities(&Limited { shops: &shops, ..asked })).await?,
    };
    let mut parts: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for LargeSum { month, mode, offering, part, sum } in large {
        parts.entry((month, mode, offering)).or_default().extend(of_part(part, sum));
    }
    Ok(rows.into_iter().map(|row| row.into_sum(&mut parts)).collect())
}

/// The parts of quantities that are stored as texts, by month, mode and offering.
type Parts = BTreeMap<(Month, Mode, String), Vec<Decimal>>;

#[derive(Serialize)]
struct Limited<'a> {
    #[serde(flatten)]
    asked: SumsQuery<'a>,
    most: usize,
    /// The shops that have quantities stored as texts.
    shops: &'a [i64],
}

#[derive(Serialize)]
struct Quantities<'a>(&'a Limited<'a>);

impl Query for Quantities<'_> {
    type Row = Sum;
    // Many transactions have the same quantities: equal pairs are counted first, and only then parsed. An offering is
    // its JSON text, so that an ID with a NUL is not cut.
    const SQL: &'static str = concat!(
        "WITH ",
        wanted!(),
        ", ",
        months!(),
        ", pairs AS (
  SELECT month, mode, t.shop, pair.value, count(*) AS number ",
        of_months!(),
        " CROSS JOIN json_each(t.quantities) pair GROUP BY month, t.shop, pair.value
), pledged AS (
  SELECT month, mode, shop, number, value -> '$[0]' AS offering, value ->> '$[1]' AS quantity FROM pairs
)
SELECT json_object('month', month, 'mode', mode, 'offering', json(offering), 'transactions', sum(number),
  'large', json_group_array(DISTINCT shop) FILTER (WHERE typeof(quantity) = 'text'),
  'millions', sum(iif(typeof(quantity) = 'text', 0, number * (quantity / 1000000))),
  'rest', sum(iif(typeof(quantity) = 'text', 0, number * (quantity % 1000000))))
FROM pledged GROUP BY month, mode, offering ORDER BY month DESC, mode, offering LIMIT ?1 ->> '$.most'"
    );
}

/// A row of the answer; `millions` and `rest` are in millionths.
#[derive(Deserialize)]
struct Sum {
    month: Month,
    mode: Mode,
    offering: String,
    transactions: u64,
    /// The shops that have quantities stored as texts.
    large: Vec<i64>,
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
    const SQL: &'static str = concat!(
        "WITH RECURSIVE ",
        wanted!(),
        ", ",
        months!(),
        ", pledged AS (
  SELECT month, mode, pair.value -> '$[0]' AS offering, pair.value ->> '$[1]' AS quantity ",
        of_months!(),
        " CROSS JOIN json_each(t.quantities) pair
  WHERE t.shop IN (SELECT value FROM json_each(?1, '$.shops'))
), ",
        parts!(),
        ", large AS MATERIALIZED (SELECT month, mode, offering, ",
        laid_out!("quantity"),
        " AS digits FROM pledged WHERE typeof(quantity) = 'text')
SELECT json_object('month', month, 'mode', mode, 'offering', json(offering), 'part', part, 'sum', ",
        part_sum!(),
        ") FROM large CROSS JOIN parts GROUP BY month, mode, offering, part HAVING ",
        part_sum!(),
        " > 0"
    );
}

/// A row of the answer: the sum of one part of the quantities that are stored as texts.
#[derive(Deserialize)]
struct LargeSum {
    month: Month,
    mode: Mode,
    offering: String,
    part: i32,
    sum: u64,
}
