//! The SQL that lists the transactions of an API key.
//!
//! A key that was used rarely would have its transactions among many others. So the query finds the days on which the
//! key was used by their stored sums, and reads one day after the other until the page is full. It also reads each series
//! of days without stored sums.

use super::listed::{ListingQuery, Row, columns, columns_of, is_paid, matches_filter, of_scope};
use crate::office::payments::rows::day_charges::{open_spans, stored_charges};
use crate::office::shared::rows::port::Query;
use crate::office::shops::rows::scopes::wanted;
use serde::Serialize;

/// SQL that selects the transactions of a key on the days of a row of `used`, which must be called `scope_of`.
macro_rules! of_days {
    ($beyond:literal, $order:literal) => {
        of_scope!(
            "WHERE",
            "max(?1 ->> '$.first', from_day * 86400000)",
            "min(?1 ->> '$.last', (until_day + 1) * 86400000 - 1)",
            $beyond,
            $order,
            "?1 ->> '$.most'"
        )
    };
}

/// Defines the query for pages in one direction. Its table expressions:
///
/// - `used`: days on which the key may have been used in a scope.
/// - `days`: the same of all scopes, in the order of the page.
/// - `walk`: the first of these days that together have as many transactions as the page.
macro_rules! page {
    ($name:ident, $beyond:literal, $order:literal) => {
        #[derive(Serialize)]
        pub(crate) struct $name<'a>(pub ListingQuery<'a>);

        impl Query for $name<'_> {
            type Row = Row;
            const SQL: &'static str = concat!(
                "WITH RECURSIVE ",
                wanted!(),
                ", scope_of AS MATERIALIZED (
  SELECT w.scope, k.key FROM wanted w JOIN keys k ON k.id = ?1 ->> '$.key' AND k.scope = w.scope
), ",
                open_spans!("?1 ->> '$.first' / 86400000"),
                ", used AS MATERIALIZED (
  SELECT k.scope, k.key, c.day AS from_day, c.day AS until_day FROM scope_of k CROSS JOIN ",
                stored_charges!("k.scope"),
                " WHERE instr(c.keys, ',' || k.key || ',') > 0
  UNION
  SELECT k.scope, k.key, from_day, until_day FROM scope_of k CROSS JOIN spans WHERE NOT is_summed
), days AS MATERIALIZED (
  SELECT day, row_number() OVER (ORDER BY day ",
                $order,
                ") AS place
  FROM (SELECT DISTINCT from_day AS day FROM used WHERE from_day <= ?1 ->> '$.last' / 86400000)
), walk AS (
  SELECT 0 AS place, NULL AS day, 0 AS number
  UNION ALL
  SELECT days.place, days.day, number + (
    SELECT sum((SELECT count(*) FROM (SELECT 1 ",
                of_days!($beyond, $order),
                "))) FROM used scope_of WHERE from_day = days.day)
  FROM walk JOIN days ON days.place = walk.place + 1 WHERE number < ?1 ->> '$.most'
), found AS (
  SELECT scope_of.scope, own.value ->> '$[0]' AS created, own.value ->> '$[1]' AS id
  FROM walk CROSS JOIN used scope_of ON from_day = walk.day
    CROSS JOIN json_each((SELECT json_group_array(json_array(created, id)) FROM (SELECT t.created, t.id ",
                of_days!($beyond, $order),
                "))) own
) ",
                columns!($order)
            );
        }
    };
}

page!(OlderOfKey, "<", "DESC");
page!(NewerOfKey, ">", "ASC");
