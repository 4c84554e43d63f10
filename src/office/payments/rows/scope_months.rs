//! Lists, page by page, the months in which a scope has transactions, credits or a payment.

use super::sums::months;
use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use crate::office::shops::rows::scopes::wanted;
use crate::pledges::scope::Mode;
use crate::pledges::settlement::{Month, ScopeMonth};
use serde::Serialize;

/// Selects entries of the list of months. An entry is one month of one scope.
#[derive(Clone, Debug, Default)]
pub struct MonthFilter {
    /// Only months in this mode, live or test.
    pub mode: Option<Mode>,
    /// Only this unit.
    pub unit: Option<String>,
    pub months: Vec<Month>,
    /// `true` selects only months that are marked as paid, and `false` only months that are not. `None`
    /// selects both.
    pub is_paid: Option<bool>,
}

/// Lists months of scopes: at most `most`, after the position `after`. They are sorted by month (newest
/// first), unit and mode. A month is listed if the scope has transactions or credits in it, or if it is
/// marked as paid. One query.
pub async fn scope_months(
    ledger: &dyn Ledger,
    filter: &MonthFilter,
    after: Option<&ScopeMonth>,
    most: usize,
) -> Result<Vec<ScopeMonth>> {
    let span = |month: &Month| {
        let (from, until) = month.span_ms()?;
        Some((*month, from, until))
    };
    let query = Months {
        mode: filter.mode,
        units: filter.unit.as_ref().map(|unit| [&**unit]),
        months: filter.months.iter().filter_map(span).collect(),
        is_paid: filter.is_paid,
        after,
        most,
    };
    ask(ledger, &query).await
}

#[derive(Serialize)]
struct Months<'a> {
    mode: Option<Mode>,
    units: Option<[&'a str; 1]>,
    months: Vec<(Month, u64, u64)>,
    is_paid: Option<bool>,
    after: Option<&'a ScopeMonth>,
    most: usize,
}

impl Query for Months<'_> {
    type Row = ScopeMonth;
    // The name of a settlement is `settlement:{mode}:{unit}:{month}`. A scope may have one without transactions.
    const SQL: &'static str = concat!(
        "WITH ",
        wanted!(),
        ", ",
        months!(),
        ", settled AS (
  SELECT substr(name, 12, 4) AS mode, substr(name, -7) AS month, substr(name, 17, length(name) - 24) AS unit
  FROM published WHERE name > 'settlement:' AND name < 'settlement;' AND content IS NOT NULL
), listed AS (
  SELECT month, unit, mode FROM months CROSS JOIN wanted
  WHERE EXISTS (SELECT 1 FROM transactions t
    WHERE t.scope = wanted.scope AND t.created >= from_ms AND t.created < until_ms)
  UNION
  SELECT booked_month, unit, mode FROM credits JOIN months ON months.month = booked_month
  WHERE (?1 ->> '$.mode' IS NULL OR mode = ?1 ->> '$.mode')
    AND (?1 ->> '$.units' IS NULL OR unit = ?1 ->> '$.units[0]')
  UNION
  SELECT settled.month, unit, mode FROM settled JOIN months ON months.month = settled.month
  WHERE (?1 ->> '$.mode' IS NULL OR mode = ?1 ->> '$.mode')
    AND (?1 ->> '$.units' IS NULL OR unit = ?1 ->> '$.units[0]')
)
SELECT json_object('month', month, 'unit', unit, 'mode', mode) FROM listed
WHERE (?1 ->> '$.after' IS NULL OR month < ?1 ->> '$.after.month'
    OR month = ?1 ->> '$.after.month' AND (unit, mode) > (?1 ->> '$.after.unit', ?1 ->> '$.after.mode'))
  AND (?1 ->> '$.is_paid' IS NULL OR ?1 ->> '$.is_paid' = EXISTS (SELECT 1 FROM published p
    WHERE p.name = 'settlement:' || mode || ':' || unit || ':' || month AND p.content IS NOT NULL))
ORDER BY month DESC, unit, mode LIMIT ?1 ->> '$.most'"
    );
}
