//! The SQL that lists transactions.

use super::key_listing::{NewerOfKey, OlderOfKey};
use super::listed::{
    Hashes, ListingQuery, Row, columns, columns_of, is_paid, matches_filter, of_filter, of_scope,
};
use super::order::TransactionState;
use super::state_listing::{NewerOfState, OlderOfState};
use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use crate::office::shops::rows::scopes::wanted;
use serde::Serialize;

/// Returns the rows of a page. The oldest row comes first if `is_newer`, otherwise the newest.
pub(crate) async fn rows(
    ledger: &dyn Ledger,
    asked: ListingQuery<'_>,
    is_newer: bool,
) -> Result<Vec<Row>> {
    use TransactionState::{Credited, Erased, Unpriced};
    let state = asked.filter.state;
    let is_looked_up = asked.filter.ids.is_some() || matches!(state, Some(Credited | Erased));
    match (asked.by, is_newer) {
        (Some(Hashes::Email { .. }), false) => ask(ledger, &OlderByEmail(asked)).await,
        (Some(Hashes::Email { .. }), true) => ask(ledger, &NewerByEmail(asked)).await,
        (Some(Hashes::Reference { .. }), false) => ask(ledger, &OlderByReference(asked)).await,
        (Some(Hashes::Reference { .. }), true) => ask(ledger, &NewerByReference(asked)).await,
        (None, false) if is_looked_up => ask(ledger, &OlderOfState(asked)).await,
        (None, true) if is_looked_up => ask(ledger, &NewerOfState(asked)).await,
        (None, false) if state == Some(Unpriced) => ask(ledger, &OlderUnpriced(asked)).await,
        (None, true) if state == Some(Unpriced) => ask(ledger, &NewerUnpriced(asked)).await,
        (None, false) if asked.filter.key.is_some() => ask(ledger, &OlderOfKey(asked)).await,
        (None, true) if asked.filter.key.is_some() => ask(ledger, &NewerOfKey(asked)).await,
        (None, false) => ask(ledger, &Older(asked)).await,
        (None, true) => ask(ledger, &Newer(asked)).await,
    }
}

/// SQL for the spans of time of each scope in which the page's transactions can lie, as `spans(scope, first, last)`. For
/// paid transactions, these are the paid months; for unpaid ones, the times between them. Otherwise, a scope has one span. A
/// unit's ID can contain a colon, so the length of a settlement's name is checked.
macro_rules! spans {
    () => {
        "paid AS MATERIALIZED (
  SELECT w.scope, unixepoch(substr(p.name, -7) || '-01') * 1000 AS first,
    unixepoch(substr(p.name, -7) || '-01', '+1 month') * 1000 - 1 AS last
  FROM wanted w CROSS JOIN published p ON p.name > 'settlement:' || w.mode || ':' || w.unit || ':'
    AND p.name < 'settlement:' || w.mode || ':' || w.unit || ';'
  WHERE ?1 ->> '$.state' IN ('paid', 'unpaid') AND p.content IS NOT NULL
    AND length(p.name) = length(w.mode) + length(w.unit) + 20
), spans AS (
  SELECT scope, ?1 ->> '$.first' AS first, ?1 ->> '$.last' AS last FROM wanted
  WHERE ifnull(?1 ->> '$.state', '') NOT IN ('paid', 'unpaid')
  UNION ALL
  SELECT scope, first, last FROM paid WHERE ?1 ->> '$.state' = 'paid'
  UNION ALL
  SELECT scope, lag(last, 1, -1) OVER (PARTITION BY scope ORDER BY first) + 1, first - 1
  FROM paid WHERE ?1 ->> '$.state' = 'unpaid'
  UNION ALL
  SELECT w.scope, ifnull(max(paid.last) + 1, 0), ?1 ->> '$.last'
  FROM wanted w LEFT JOIN paid ON paid.scope = w.scope WHERE ?1 ->> '$.state' = 'unpaid' GROUP BY w.scope
)"
    };
}

/// Defines a query for pages of all transactions in one direction, or of all that are unpriced.
///
/// It reads only those spans of scopes that can contribute to the page. It sorts the spans by their
/// first transaction in this direction, and takes as many spans as the page has entries. The first transactions of
/// these spans already fill a page, so other spans cannot contribute.
macro_rules! page {
    ($name:ident, $unpriced:literal, $beyond:literal, $order:literal, $first:literal, $last:literal, $within:literal) => {
        #[derive(Serialize)]
        struct $name<'a>(ListingQuery<'a>);

        impl Query for $name<'_> {
            type Row = Row;
            const SQL: &'static str = concat!(
                "WITH ",
                wanted!(),
                ", ",
                spans!(),
                ", scope_of AS (
  SELECT w.scope, k.key, max(w.first, ?1 ->> '$.first') AS first, min(w.last, ?1 ->> '$.last') AS last
  FROM spans w LEFT JOIN keys k ON k.id = ?1 ->> '$.key' AND k.scope = w.scope
  WHERE (?1 ->> '$.key' IS NULL OR k.key IS NOT NULL) AND max(w.first, ?1 ->> '$.first') <= min(w.last, ?1 ->> '$.last')
), first_of AS MATERIALIZED (
  SELECT scope, key, first, last, (SELECT t.created ",
                of_scope!($unpriced, "scope_of.first", "scope_of.last", $beyond, $order, "1"),
                ") AS created FROM scope_of
), bound AS (
  SELECT created FROM first_of WHERE created IS NOT NULL
  ORDER BY created ",
                $order,
                " LIMIT 1 OFFSET ?1 ->> '$.most' - 1
), found AS (
  SELECT scope_of.scope, own.value ->> '$[0]' AS created, own.value ->> '$[1]' AS id
  FROM first_of scope_of CROSS JOIN json_each((SELECT json_group_array(json_array(created, id)) FROM (SELECT t.created, t.id ",
                of_scope!($unpriced, $first, $last, $beyond, $order, "?1 ->> '$.most'"),
                "))) own
  WHERE scope_of.created ",
                $within,
                " ifnull((SELECT created FROM bound), scope_of.created)
) ",
                columns!($order)
            );
        }
    };
}

/// Defines the queries for pages in one direction: for all transactions, for those that are unpriced, for those of an
/// e-mail address, and for those of a reference.
macro_rules! pages {
    ($name:ident, $unpriced:ident, $by_email:ident, $by_reference:ident, $beyond:literal, $order:literal, $first:literal, $last:literal, $within:literal) => {
        page!($name, "WHERE", $beyond, $order, $first, $last, $within);
        page!(
            $unpriced,
            "INDEXED BY by_unpriced WHERE t.unpriced > 0 AND",
            $beyond,
            $order,
            $first,
            $last,
            $within
        );

        #[derive(Serialize)]
        struct $by_email<'a>(ListingQuery<'a>);

        impl Query for $by_email<'_> {
            type Row = Row;
            const SQL: &'static str = concat!(
                "WITH ",
                wanted!(),
                ", found AS (
  SELECT t.scope, t.created, t.id FROM json_each(?1, '$.hashes') asked CROSS JOIN transactions t ON t.email = asked.value
  WHERE ",
                of_filter!($beyond),
                "
) ",
                columns!($order)
            );
        }

        #[derive(Serialize)]
        struct $by_reference<'a>(ListingQuery<'a>);

        impl Query for $by_reference<'_> {
            type Row = Row;
            // `{` is the character after `z`, the last one that IDs use.
            const SQL: &'static str = concat!(
                "WITH ",
                wanted!(),
                ", found AS (
  SELECT t.scope, t.created, t.id FROM json_each(?1, '$.hashes') asked
  CROSS JOIN transactions t ON t.reference = asked.value
  WHERE ",
                of_filter!($beyond),
                "
  UNION ALL
  SELECT t.scope, t.created, t.id FROM json_each(?1, '$.prefixes') asked
  CROSS JOIN transactions t ON t.id >= asked.value AND t.id < asked.value || '{'
  WHERE t.reference IS NULL AND ",
                of_filter!($beyond),
                "
) ",
                columns!($order)
            );
        }
    };
}

pages!(
    Older,
    OlderUnpriced,
    OlderByEmail,
    OlderByReference,
    "<",
    "DESC",
    "max(scope_of.first, ifnull((SELECT created FROM bound), 0))",
    "scope_of.created",
    ">="
);
pages!(
    Newer,
    NewerUnpriced,
    NewerByEmail,
    NewerByReference,
    ">",
    "ASC",
    "scope_of.created",
    "min(scope_of.last, ifnull((SELECT created FROM bound), scope_of.last))",
    "<="
);
