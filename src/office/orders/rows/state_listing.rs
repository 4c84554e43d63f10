//! The SQL that lists credited, erased or given transactions. Each of these is few among many others, so the query looks
//! them up one by one: by their credits, by the index of erasures, or by their IDs.

use super::listed::{ListingQuery, Row, columns, columns_of, is_paid, matches_filter, of_filter};
use crate::office::shared::rows::port::Query;
use crate::office::shops::rows::scopes::wanted;
use serde::Serialize;

/// Defines the query for pages in one direction. Its table expressions:
///
/// - `candidates`: all such transactions, in the order of the page, as the indexes have them. `LIMIT -1` keeps SQLite from
///   leaving out the sort.
/// - `found`: the first of them that match the filter. Only their rows are read.
macro_rules! page {
    ($name:ident, $beyond:literal, $order:literal) => {
        #[derive(Serialize)]
        pub(crate) struct $name<'a>(pub ListingQuery<'a>);

        impl Query for $name<'_> {
            type Row = Row;
            const SQL: &'static str = concat!(
                "WITH ",
                wanted!(),
                ", asked AS MATERIALIZED (
  SELECT value AS id FROM json_each(?1, '$.ids')
  UNION
  SELECT c.id FROM wanted w CROSS JOIN credits c ON c.unit = w.unit AND c.mode = w.mode
  WHERE ?1 ->> '$.state' = 'credited'
), indexed AS (
  SELECT t.scope, t.created, t.id FROM asked CROSS JOIN transactions t ON t.id = asked.id
  UNION ALL
  SELECT t.scope, t.created, t.id FROM transactions t INDEXED BY by_erasure
  WHERE ?1 ->> '$.state' = 'erased' AND t.erased IS NOT NULL
), candidates AS MATERIALIZED (
  SELECT scope, created, id FROM indexed
  WHERE created BETWEEN ?1 ->> '$.first' AND ?1 ->> '$.last'
  ORDER BY created ",
                $order,
                ", id ",
                $order,
                " LIMIT -1
), found AS MATERIALIZED (
  SELECT t.scope, t.created, t.id FROM candidates c
  CROSS JOIN transactions t ON t.scope = c.scope AND t.created = c.created AND t.id = c.id
  WHERE ",
                of_filter!($beyond),
                " LIMIT ?1 ->> '$.most'
) ",
                columns!($order)
            );
        }
    };
}

page!(OlderOfState, "<", "DESC");
page!(NewerOfState, ">", "ASC");
