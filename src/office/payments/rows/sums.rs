//! Exact sums of charges by month, unit and currency.

use super::day_charges::spans;
use crate::office::shared::rows::money::{laid_out, of_halves, of_part, parts};
use crate::office::shared::rows::port::{Ledger, LedgerError, Query, Result, ask};
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

    /// Counts only what was created before a day, which begins at `day_ms`.
    pub fn before(mut self, day_ms: u64) -> Self {
        self.months.retain(|(_, from, _)| *from < day_ms);
        for (_, _, until) in &mut self.months {
            *until = day_ms.min(*until);
        }
        self
    }
}

/// Sums the charges of each month, unit, mode and currency, for the given units or for all. The newest month
/// comes first. Cost: 1 query, or 3 if a charge is above 9 × 10^13.
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
    let mut rows = ask(ledger, &Sums(&asked)).await?;
    let mut parts = Parts::new();
    if rows.iter().any(SumsOfMonth::has_large) {
        // Both in one call, so that no transaction arrives between them.
        let statements = [Sums(&asked).statement()?, LargeSums(&asked).statement()?];
        let answers = ledger.run(&statements).await?;
        let [again, large] = answers.as_slice() else { return Err(LedgerError::Damaged) };
        rows = Sums::rows(again)?;
        for LargeSum { of, currency, part, sum } in LargeSums::rows(large)? {
            parts.entry((of, currency)).or_default().extend(of_part(part, sum));
        }
    }
    Ok(rows
        .chunk_by(|one, other| one.of == other.of)
        .flat_map(|days| month_sums(days, &mut parts))
        .collect())
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

/// SQL: a table expression `asked(month, is_summed, from_day, until_day, scope, unit, mode)` with the requested months of
/// scopes. A month with stored sums for only some of its days has a row for each series of days.
macro_rules! asked {
    () => {
        "asked AS MATERIALIZED (
  SELECT month, is_summed, from_day, until_day, scope, unit, mode FROM spans CROSS JOIN wanted
  WHERE ?1 ->> '$.only' IS NULL
    OR mode || ':' || unit || ':' || month IN (SELECT value FROM json_each(?1, '$.only'))
)"
    };
}

/// SQL: whether a row `c` of stored sums belongs to a row of `asked` with stored sums.
macro_rules! of_stored_days {
    () => {
        "c.scope = asked.scope AND c.day BETWEEN from_day AND until_day"
    };
}

/// SQL: whether a transaction `t` belongs to a row of `asked`.
macro_rules! of_other_days {
    () => {
        "t.scope = asked.scope AND t.created >= from_day * 86400000 AND t.created < (until_day + 1) * 86400000"
    };
}

#[derive(Serialize)]
struct Sums<'a>(&'a SumsQuery<'a>);

impl Query for Sums<'_> {
    type Row = SumsOfMonth;
    // Each scope is grouped by itself: SQLite would have to sort all transactions to group them at once.
    const SQL: &'static str = concat!(
        "WITH RECURSIVE ",
        wanted!(),
        ", ",
        months!(),
        ", ",
        spans!(),
        ", ",
        asked!(),
        ", summed AS MATERIALIZED (
  SELECT month, unit, mode, CASE WHEN is_summed THEN (
    SELECT json_group_array(json_array(currency, number, unpriced, large, millions, rest)) FROM (
      SELECT currency, sum(number) AS number, sum(unpriced) AS unpriced, sum(large) AS large, sum(millions) AS millions,
        sum(rest) AS rest
      FROM day_charges c WHERE ",
        of_stored_days!(),
        " GROUP BY currency
    )) ELSE (
    SELECT json_group_array(json_array(currency, number, unpriced, large, millions, rest)) FROM (
      SELECT currency, count(*) AS number, sum(unpriced) AS unpriced, count(*) - count(cents) AS large,
        ifnull(sum(cents / 1000000), 0) AS millions, ifnull(sum(cents % 1000000), 0) AS rest
      FROM transactions t WHERE ",
        of_other_days!(),
        " GROUP BY currency
    )) END AS sums
  FROM asked
)
SELECT json_object('month', month, 'unit', unit, 'mode', mode, 'sums', json(sums)) FROM summed
WHERE sums <> '[]' ORDER BY month DESC, unit, mode"
    );
}

/// A row of the answer: a month of a scope, or a part of it. `sums` has an entry for each currency, with these values in
/// order:
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

impl SumsOfMonth {
    fn has_large(&self) -> bool {
        self.sums.iter().any(|(_, _, _, large, ..)| *large > 0)
    }
}

/// Adds up the parts of a scope's month. Returns a sum for each currency.
fn month_sums(days: &[SumsOfMonth], large: &mut Parts) -> Vec<MonthSum> {
    let mut sums = BTreeMap::new();
    for SumsOfMonth { of, sums: charges } in days {
        for (currency, number, unpriced, _, millions, rest) in charges {
            let entry = sums.entry((of.clone(), currency.clone()));
            let (transactions, unpriced_pledges, parts) = entry.or_insert((0, 0, Vec::new()));
            *transactions += number;
            *unpriced_pledges += unpriced;
            parts.extend(of_halves(*millions, *rest, 2));
        }
    }
    let month_sum = |(group, (transactions, unpriced, mut parts)): (_, (u64, usize, Vec<_>))| {
        parts.extend(large.remove(&group).unwrap_or_default());
        let amount = Decimal::sum(parts.into_iter()).to_money();
        let (of, currency_code) = group;
        MonthSum { of, currency_code, transactions, unpriced, amount }
    };
    sums.into_iter().map(month_sum).collect()
}

/// Queries the sums of very large charges, which the ledger stores as texts.
#[derive(Serialize)]
struct LargeSums<'a>(&'a SumsQuery<'a>);

impl Query for LargeSums<'_> {
    type Row = LargeSum;
    const SQL: &'static str = concat!(
        "WITH RECURSIVE ",
        wanted!(),
        ", ",
        months!(),
        ", ",
        spans!(),
        ", ",
        asked!(),
        ", ",
        parts!(),
        ", texts AS MATERIALIZED (SELECT month, unit, mode, currency, ",
        laid_out!("amount"),
        " AS digits FROM asked CROSS JOIN transactions t WHERE NOT is_summed AND cents IS NULL AND ",
        of_other_days!(),
        "
), large AS (
  SELECT month, unit, mode, currency, part, CAST(substr(digits, 12 * part + 1, 12) AS INTEGER) AS sum
  FROM texts CROSS JOIN parts
  UNION ALL
  SELECT month, unit, mode, currency, pair.value ->> '$[0]', pair.value ->> '$[1]'
  FROM asked CROSS JOIN day_charges c CROSS JOIN json_each(c.parts) pair WHERE is_summed AND large > 0 AND ",
        of_stored_days!(),
        "
)
SELECT json_object('month', month, 'unit', unit, 'mode', mode, 'currency', currency, 'part', part, 'sum', sum(sum))
FROM large GROUP BY month, unit, mode, currency, part HAVING sum(sum) > 0"
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
