//! The charges of each ended day by scope and currency. `src/office/system/rows/days.rs` stores them.

use crate::office::shared::rows::money::{laid_out, part_sum, parts};
use crate::office::shared::rows::port::Query;
use serde::Serialize;

/// SQL: several table expressions. The last one, `spans(month, is_summed, from_day, until_day)`, divides each month
/// of the table expression `months` into series of consecutive days, with or without stored sums.
///
/// Of a day without stored sums, `day_charges` may still have the rows of some scopes. These must not be read.
macro_rules! spans {
    () => {
        "days AS (
  SELECT month, from_ms / 86400000 AS day, until_ms / 86400000 AS until FROM months
  UNION ALL SELECT month, day + 1, until FROM days WHERE day + 1 < until
), states AS (
  SELECT month, day, EXISTS (SELECT 1 FROM day_quantities stored WHERE stored.day = days.day) AS is_summed FROM days
), runs AS (
  SELECT month, day, is_summed, day - row_number() OVER (PARTITION BY month, is_summed ORDER BY day) AS run FROM states
), spans AS MATERIALIZED (
  SELECT month, is_summed, min(day) AS from_day, max(day) AS until_day FROM runs GROUP BY month, is_summed, run
)"
    };
}
pub(crate) use spans;

/// SQL: several table expressions. The last one, `spans(is_summed, from_day, until_day)`, divides all days from a first one
/// on into series of consecutive days, with or without stored sums. The last series has no end. `$first` is the SQL
/// expression of the first day.
macro_rules! open_spans {
    ($first:literal) => {
        concat!(
            "marks AS MATERIALIZED (
  SELECT DISTINCT day FROM day_quantities WHERE day >= ",
            $first,
            "
), gaps AS (
  SELECT lag(day, 1, ",
            $first,
            " - 1) OVER (ORDER BY day) + 1 AS from_day, day - 1 AS until_day FROM marks
  UNION ALL
  SELECT ifnull(max(day) + 1, ",
            $first,
            "), 100000000000 FROM marks
), spans AS MATERIALIZED (
  SELECT 0 AS is_summed, from_day, until_day FROM gaps WHERE from_day <= until_day
  UNION ALL
  SELECT 1, min(day), max(day) FROM (SELECT day, day - row_number() OVER (ORDER BY day) AS run FROM marks) GROUP BY run
)"
        )
    };
}
pub(crate) use open_spans;

/// SQL that joins the stored sums of a scope, as `c`, to the table expression `spans`. `$scope` is the SQL expression of
/// the scope.
macro_rules! stored_charges {
    ($scope:literal) => {
        concat!(
            "spans CROSS JOIN day_charges c ON is_summed AND c.scope = ",
            $scope,
            " AND c.day BETWEEN from_day AND until_day"
        )
    };
}
pub(crate) use stored_charges;

/// SQL that joins the transactions of the days without stored sums, as `t`, to the table expression `spans`.
macro_rules! unsummed {
    ($scope:literal) => {
        concat!(
            "spans CROSS JOIN transactions t ON NOT is_summed AND t.scope = ",
            $scope,
            " AND t.created >= from_day * 86400000 AND t.created < (until_day + 1) * 86400000"
        )
    };
}
pub(crate) use unsummed;

/// Computes and stores the charges of a day, one row for each scope and currency that lacks one.
#[derive(Serialize)]
pub(crate) struct StoreCharges {
    pub day: u64,
}

impl Query for StoreCharges {
    type Row = ();
    const SQL: &'static str = concat!(
        "WITH RECURSIVE ",
        parts!(),
        ", own AS MATERIALIZED (
  SELECT t.scope, t.currency, t.cents, t.amount, t.unpriced, t.key
  FROM scopes s CROSS JOIN transactions t ON t.scope = s.scope
    AND t.created >= ?1 ->> '$.day' * 86400000 AND t.created < (?1 ->> '$.day' + 1) * 86400000
), ranked AS (
  SELECT *, row_number() OVER (PARTITION BY scope, currency ORDER BY cents NULLS LAST) AS place,
    count(cents) OVER (PARTITION BY scope, currency) AS charges FROM own
), summed AS MATERIALIZED (
  SELECT scope, currency, count(*) AS number, sum(unpriced) AS unpriced, count(*) - count(cents) AS large,
    ifnull(sum(cents / 1000000), 0) AS millions, ifnull(sum(cents % 1000000), 0) AS rest,
    max(cents) FILTER (WHERE place = (charges + 1) / 2) AS middle, max(cents) AS most,
    ',' || ifnull(group_concat(DISTINCT key) || ',', '') AS keys
  FROM ranked GROUP BY scope, currency
), texts AS MATERIALIZED (
  SELECT scope, currency, ",
        laid_out!("amount"),
        " AS digits FROM own WHERE cents IS NULL
), large AS MATERIALIZED (
  SELECT scope, currency, json_group_array(json_array(part, sum)) AS parts FROM (
    SELECT scope, currency, part, ",
        part_sum!(),
        " AS sum FROM texts CROSS JOIN parts GROUP BY scope, currency, part
  ) WHERE sum > 0 GROUP BY scope, currency
)
INSERT INTO day_charges (scope, day, currency, number, unpriced, large, millions, rest, parts, middle, most, keys)
SELECT scope, ?1 ->> '$.day', currency, number, unpriced, summed.large, millions, rest, parts, middle, most, keys
FROM summed LEFT JOIN large USING (scope, currency) WHERE true
ON CONFLICT DO NOTHING"
    );
}
