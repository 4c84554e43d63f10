//! The pledged quantities of each ended day, for all units together. `src/office/system/rows/days.rs` stores them.

use crate::office::shared::rows::money::{laid_out, parts};
use crate::office::shared::rows::port::Query;
use crate::office::shops::rows::scopes::wanted;
use serde::Serialize;

/// Maximum size of the sums of a day and mode, in bytes. D1 accepts a text of 2 MB. Larger sums are not stored.
const MAX_BYTES: usize = 1_000_000;

/// SQL: a table expression `pledged(month, mode, offering, number, quantity)`. It takes the transactions
/// from the table expressions `spans(month, mode, from_ms, until_ms)` and `wanted`. The condition `$which`
/// restricts the transactions.
///
/// Many transactions have the same quantity of the same offering. Such equal pairs are counted first, so that
/// each pair is parsed only once. The column `offering` has the ID as JSON text, so that an ID with a NUL
/// character is not cut off.
///
/// The row of each offering has its ID. With `$name` and `$pair`, each row has another text instead, as JSON, and pairs that do
/// not meet the condition `$pair` are left out.
macro_rules! pledged {
    ($which:literal) => {
        pledged!($which, "value -> '$[0]'", "NULL", "")
    };
    ($which:literal, $name:literal, $own:literal, $pair:literal) => {
        concat!(
            "pairs AS MATERIALIZED (
  SELECT month, wanted.mode, ",
            $own,
            " AS own, pair.value, count(*) AS number FROM spans CROSS JOIN wanted ON wanted.mode = spans.mode
  CROSS JOIN transactions t ON t.scope = wanted.scope AND t.created >= from_ms AND t.created < until_ms",
            $which,
            " CROSS JOIN json_each(t.quantities) pair ",
            $pair,
            " GROUP BY month, wanted.mode, own, pair.value
), pledged AS (
  SELECT month, mode, ",
            $name,
            " AS offering, number, value ->> '$[1]' AS quantity FROM pairs
)"
        )
    };
}
pub(crate) use pledged;

/// SQL: several table expressions. The last one, `large(month, mode, offering, part, sum)`, sums the large
/// quantities of `pledged`, which are stored as texts. Each text is split into parts of twelve digits, and
/// each part is summed separately.
macro_rules! large {
    () => {
        concat!(
            parts!(),
            ", texts AS MATERIALIZED (SELECT month, mode, offering, number, ",
            laid_out!("quantity"),
            " AS digits FROM pledged WHERE typeof(quantity) = 'text'
), large AS (
  SELECT month, mode, offering, part, sum(number * CAST(substr(digits, 12 * part + 1, 12) AS INTEGER)) AS sum
  FROM texts CROSS JOIN parts GROUP BY month, mode, offering, part
)"
        )
    };
}
pub(crate) use large;

/// SQL that sums one part of each quantity that is stored as a number. With the operator `/`, this part is
/// the whole millions. With `%`, it is the rest below a million.
macro_rules! sum_of {
    ($operator:literal) => {
        concat!(
            "sum(iif(typeof(quantity) = 'text', 0, number * (quantity ",
            $operator,
            " 1000000)))"
        )
    };
}
pub(crate) use sum_of;

/// Computes and stores the quantities of a day, one row for each mode.
#[derive(Serialize)]
pub(crate) struct StoreQuantities {
    day: u64,
    max_bytes: usize,
}

impl StoreQuantities {
    pub fn of(day: u64) -> Self {
        StoreQuantities { day, max_bytes: MAX_BYTES }
    }
}

impl Query for StoreQuantities {
    type Row = ();
    const SQL: &'static str = concat!(
        "WITH RECURSIVE ",
        wanted!(),
        ", modes(mode) AS (VALUES ('live'), ('test')), spans AS (
  SELECT '' AS month, mode, ?1 ->> '$.day' * 86400000 AS from_ms, (?1 ->> '$.day' + 1) * 86400000 AS until_ms FROM modes
), ",
        pledged!(""),
        ", ",
        large!(),
        ", texts_of AS MATERIALIZED (
  SELECT mode, offering, json_group_array(json_array(part, sum)) AS parts FROM large WHERE sum > 0 GROUP BY mode, offering
), summed AS (
  SELECT mode, offering, sum(number) AS number, ",
        sum_of!("/"),
        " AS millions, ",
        sum_of!("%"),
        " AS rest FROM pledged GROUP BY mode, offering
), entries AS (
  SELECT mode, offering, CASE WHEN parts IS NULL THEN json_array(json(offering), number, millions, rest)
    ELSE json_array(json(offering), number, millions, rest, json(parts)) END AS entry
  FROM summed LEFT JOIN texts_of USING (mode, offering)
), sized AS MATERIALIZED (
  SELECT mode, entry, sum(length(CAST(entry AS BLOB)) + 1)
    OVER (PARTITION BY mode ORDER BY offering ROWS UNBOUNDED PRECEDING) AS bytes FROM entries
)
INSERT INTO day_quantities (day, mode, sums)
SELECT ?1 ->> '$.day', modes.mode, iif(max(bytes) > ?1 ->> '$.max_bytes', NULL,
  json_group_array(json(entry)) FILTER (WHERE bytes <= ?1 ->> '$.max_bytes'))
FROM modes LEFT JOIN sized ON sized.mode = modes.mode WHERE true GROUP BY modes.mode
ON CONFLICT DO NOTHING"
    );
}
