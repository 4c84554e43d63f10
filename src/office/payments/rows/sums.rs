//! Exact sums of charges by month, unit and currency.

use crate::office::shared::rows::money::{laid_out, of_halves, of_part, part_sum, parts};
use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use crate::office::shops::rows::scopes::wanted;
use crate::pledges::decimal::Decimal;
use crate::pledges::scope::Mode;
use crate::pledges::settlement::{Month, ScopeMonth};
use crate::pledges::store::{Key as _, SettlementKey};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The sum of a scope's charges in one month and one currency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MonthSum {
    #[serde(flatten)]
    pub of: ScopeMonth,
    pub currency_code: String,
    pub transactions: u64,
    /// In the summed transactions, the number of pledges whose offering had no price.
    pub unpriced: usize,
    /// The exact sum of the charges, as a decimal with two places.
    pub amount: String,
}

/// The scopes and months to sum.
#[derive(Serialize)]
pub(crate) struct SumsQuery<'a> {
    mode: Option<Mode>,
    units: Option<&'a [String]>,
    months: Vec<(Month, u64, u64)>,
    /// The months of scopes to sum, such as January 2026 of one scope. Each entry is the name of the month's
    /// settlement record. `None` sums all months.
    #[serde(skip_serializing_if = "Option::is_none")]
    only: Option<Vec<String>>,
}

impl<'a> SumsQuery<'a> {
    pub fn new(mode: Option<Mode>, units: Option<&'a [String]>, months: &[Month]) -> Self {
        let span = |month: &Month| {
            let (from, until) = month.span_ms()?;
            Some((*month, from, until))
        };
        let months = months.iter().filter_map(span).collect();
        SumsQuery { mode, units, months, only: None }
    }
}

/// Sums the charges of each month, unit, mode and currency, for the given units or for all. The newest month
/// comes first. Cost: 1 query, or 2 if a charge is above 9 × 10^13.
pub async fn sums(
    ledger: &dyn Ledger,
    mode: Option<Mode>,
    units: Option<&[String]>,
    months: &[Month],
) -> Result<Vec<MonthSum>> {
    sums_of(ledger, SumsQuery::new(mode, units, months)).await
}

/// Sums charges as [`sums`] does, but only for the given months of scopes. The cost is the same.
pub async fn listed_sums(ledger: &dyn Ledger, listed: &[ScopeMonth]) -> Result<Vec<MonthSum>> {
    let name = |of: &ScopeMonth| SettlementKey(of).suffix().into_owned();
    let months: BTreeSet<_> = listed.iter().map(|it| it.month).collect();
    let months: Vec<_> = months.into_iter().collect();
    let units: BTreeSet<_> = listed.iter().map(|it| it.scope.unit.clone()).collect();
    let units: Vec<_> = units.into_iter().collect();
    let only = Some(listed.iter().map(name).collect());
    sums_of(ledger, SumsQuery { only, ..SumsQuery::new(None, Some(&units), &months) }).await
}

async fn sums_of(ledger: &dyn Ledger, asked: SumsQuery<'_>) -> Result<Vec<MonthSum>> {
    let rows: Vec<_> = ask(ledger, &Sums(&asked)).await?.into_iter().flat_map(Sum::of).collect();
    // A set, as a scope can have charges of this size in several currencies.
    let large: BTreeSet<_> = rows.iter().filter(|row| row.large > 0).map(|row| &row.of).collect();
    let large: Vec<_> = large.into_iter().filter_map(with_span).collect();
    let large = match large.is_empty() {
        true => Vec::new(),
        false => ask(ledger, &LargeSums { months: large }).await?,
    };
    let mut parts: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for LargeSum { of, currency, part, sum } in large {
        parts.entry((of, currency)).or_default().extend(of_part(part, sum));
    }
    Ok(rows.into_iter().map(|row| row.into_sum(&mut parts)).collect())
}

fn with_span(of: &ScopeMonth) -> Option<Large<'_>> {
    let (from, until) = of.month.span_ms()?;
    Some(Large { of, from, until })
}

/// For each month, unit, mode and currency: the sums of its very large charges. The ledger stores such
/// charges as padded texts, which are summed in parts of twelve digits.
type Parts = BTreeMap<(ScopeMonth, String), Vec<Decimal>>;

/// Returns all months from the first to the last transaction, newest first, for the given units or for all.
/// Cost: 1 query.
pub async fn months_of(
    ledger: &dyn Ledger,
    mode: Option<Mode>,
    units: Option<&[String]>,
) -> Result<Vec<Month>> {
    let span = ask(ledger, &Span(&SumsQuery::new(mode, units, &[]))).await?;
    let Some((Some(first), Some(last))) = span.first().copied() else { return Ok(Vec::new()) };
    let first = Month::at(first);
    let back = std::iter::successors(Month::at(last), |month| month.previous());
    Ok(back.take_while(|month| Some(*month) >= first).collect())
}

#[derive(Serialize)]
struct Span<'a>(&'a SumsQuery<'a>);

impl Query for Span<'_> {
    type Row = (Option<u64>, Option<u64>);
    const SQL: &'static str = concat!(
        "WITH ",
        wanted!(),
        " SELECT json_array(
  min((SELECT min(created) FROM transactions t WHERE t.scope = wanted.scope)),
  max((SELECT max(created) FROM transactions t WHERE t.scope = wanted.scope))) FROM wanted"
    );
}

/// SQL: a table expression `months(month, from_ms, until_ms)` with the requested months.
macro_rules! months {
    () => {
        "months AS (
  SELECT value ->> '$[0]' AS month, value ->> '$[1]' AS from_ms, value ->> '$[2]' AS until_ms
  FROM json_each(?1, '$.months')
)"
    };
}
pub(crate) use months;

#[derive(Serialize)]
struct Sums<'a>(&'a SumsQuery<'a>);

impl Query for Sums<'_> {
    type Row = SumsOfMonth;
    // Each scope is grouped by itself: SQLite would have to sort all transactions to group them at once.
    const SQL: &'static str = concat!(
        "WITH ",
        wanted!(),
        ", ",
        months!(),
        ", summed AS MATERIALIZED (
  SELECT month, unit, mode, (SELECT json_group_array(json_array(currency, number, unpriced, large, millions, rest)) FROM (
    SELECT currency, count(*) AS number, sum(unpriced) AS unpriced, count(*) - count(cents) AS large,
      ifnull(sum(cents / 1000000), 0) AS millions, ifnull(sum(cents % 1000000), 0) AS rest
    FROM transactions t WHERE t.scope = wanted.scope AND t.created >= from_ms AND t.created < until_ms
    GROUP BY currency ORDER BY currency)) AS sums
  FROM months CROSS JOIN wanted
  WHERE ?1 ->> '$.only' IS NULL
    OR mode || ':' || unit || ':' || month IN (SELECT value FROM json_each(?1, '$.only'))
)
SELECT json_object('month', month, 'unit', unit, 'mode', mode, 'sums', json(sums)) FROM summed
WHERE sums <> '[]' ORDER BY month DESC, unit, mode"
    );
}

/// A row of the answer. `sums` has an entry for each currency, with these values in order:
///
/// - The code of the currency.
/// - The number of transactions, and the number of unpriced pledges.
/// - The number of very large charges, which are stored as texts.
/// - The sum of all other charges in cents, as two values: whole millions, and the rest.
#[derive(Deserialize)]
struct SumsOfMonth {
    #[serde(flatten)]
    of: ScopeMonth,
    sums: Vec<(String, u64, usize, u64, u64, u64)>,
}

struct Sum {
    of: ScopeMonth,
    currency: String,
    transactions: u64,
    unpriced: usize,
    large: u64,
    millions: u64,
    rest: u64,
}

impl Sum {
    fn of(SumsOfMonth { of, sums }: SumsOfMonth) -> impl Iterator<Item = Sum> {
        sums.into_iter().map(move |(currency, transactions, unpriced, large, millions, rest)| {
            let of = of.clone();
            Sum { of, currency, transactions, unpriced, large, millions, rest }
        })
    }

    fn into_sum(self, large: &mut Parts) -> MonthSum {
        let Sum { of, currency, transactions, unpriced, .. } = self;
        let group = (of, currency);
        let mut parts = large.remove(&group).unwrap_or_default();
        parts.extend(of_halves(self.millions, self.rest, 2));
        let amount = Decimal::sum(parts.into_iter()).to_money();
        let (of, currency_code) = group;
        MonthSum { of, currency_code, transactions, unpriced, amount }
    }
}

/// Queries the sums of very large charges, which the ledger stores as texts. Each entry of `months` is a
/// month in which a scope has such charges.
#[derive(Serialize)]
struct LargeSums<'a> {
    months: Vec<Large<'a>>,
}

#[derive(Serialize)]
struct Large<'a> {
    #[serde(flatten)]
    of: &'a ScopeMonth,
    from: u64,
    until: u64,
}

impl Query for LargeSums<'_> {
    type Row = LargeSum;
    const SQL: &'static str = concat!(
        "WITH RECURSIVE ",
        parts!(),
        ", large AS MATERIALIZED (SELECT asked.value ->> '$.month' AS month, unit, mode, currency, ",
        laid_out!("amount"),
        " AS digits
  FROM json_each(?1, '$.months') asked
  CROSS JOIN scopes s ON s.mode = asked.value ->> '$.mode' AND s.unit = asked.value ->> '$.unit'
  CROSS JOIN transactions t ON t.scope = s.scope AND t.created >= asked.value ->> '$.from'
    AND t.created < asked.value ->> '$.until'
  WHERE cents IS NULL)
SELECT json_object('month', month, 'unit', unit, 'mode', mode, 'currency', currency, 'part', part, 'sum', ",
        part_sum!(),
        ") FROM large CROSS JOIN parts GROUP BY month, unit, mode, currency, part HAVING ",
        part_sum!(),
        " > 0"
    );
}

/// A row of the answer: the sum of one twelve-digit part of the charges that are stored as texts.
#[derive(Deserialize)]
struct LargeSum {
    #[serde(flatten)]
    of: ScopeMonth,
    currency: String,
    part: i32,
    sum: u64,
}
