//! The SQL that lists transactions.

use super::key_listing::{NewerOfKey, OlderOfKey};
use super::listed::{Hashes, ListingQuery, Row, columns, columns_of, of_scope};
use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use crate::office::shops::rows::scopes::wanted;
use serde::Serialize;

/// Returns the rows of a page. The oldest row comes first if `is_newer`, otherwise the newest.
pub(crate) async fn rows(
    ledger: &dyn Ledger,
    asked: ListingQuery<'_>,
    is_newer: bool,
) -> Result<Vec<Row>> {
    match (asked.by, is_newer) {
        (Some(Hashes::Email { .. }), false) => ask(ledger, &OlderByEmail(asked)).await,
        (Some(Hashes::Email { .. }), true) => ask(ledger, &NewerByEmail(asked)).await,
        (Some(Hashes::Reference { .. }), false) => ask(ledger, &OlderByReference(asked)).await,
        (Some(Hashes::Reference { .. }), true) => ask(ledger, &NewerByReference(asked)).await,
        (None, false) if asked.filter.unpriced => ask(ledger, &OlderUnpriced(asked)).await,
        (None, true) if asked.filter.unpriced => ask(ledger, &NewerUnpriced(asked)).await,
        (None, false) if asked.filter.key.is_some() => ask(ledger, &OlderOfKey(asked)).await,
        (None, true) if asked.filter.key.is_some() => ask(ledger, &NewerOfKey(asked)).await,
        (None, false) => ask(ledger, &Older(asked)).await,
        (None, true) => ask(ledger, &Newer(asked)).await,
    }
}

/// SQL for rows that are found by a hash. It keeps only rows that belong to the page and match the filter. The `+` prevents SQLite from
/// looking up each hash once for each scope.
macro_rules! of_filter {
    ($beyond:literal) => {
        concat!(
            "(t.created, t.id) ",
            $beyond,
            " (?1 ->> '$.created', ?1 ->> '$.id')
    AND t.created BETWEEN ?1 ->> '$.first' AND ?1 ->> '$.last' AND (NOT ?1 ->> '$.unpriced' OR t.unpriced > 0)
    AND (?1 ->> '$.changed_after' IS NULL OR t.changed > ?1 ->> '$.changed_after')
    AND (?1 ->> '$.key' IS NULL OR t.key IN (SELECT key FROM keys WHERE id = ?1 ->> '$.key'))
    AND +t.scope IN (SELECT scope FROM wanted)"
        )
    };
}

/// Defines a query for pages of all transactions in one direction, or of all that are unpriced.
///
/// It reads only those scopes that can contribute to the page. It sorts the scopes by their
/// first transaction in this direction, and takes as many scopes as the page has entries. The first transactions of
/// these scopes already fill a page, so other scopes cannot contribute.
macro_rules! page {
    ($name:ident, $unpriced:literal, $beyond:literal, $order:literal, $first:literal, $last:literal, $within:literal) => {
        #[derive(Serialize)]
        struct $name<'a>(ListingQuery<'a>);

        impl Query for $name<'_> {
            type Row = Row;
            const SQL: &'static str = concat!(
                "WITH ",
                wanted!(),
                ", scope_of AS (
  SELECT w.scope, k.key FROM wanted w LEFT JOIN keys k ON k.id = ?1 ->> '$.key' AND k.scope = w.scope
  WHERE ?1 ->> '$.key' IS NULL OR k.key IS NOT NULL
), first_of AS MATERIALIZED (
  SELECT scope, key, (SELECT t.created ",
                of_scope!($unpriced, "?1 ->> '$.first'", "?1 ->> '$.last'", $beyond, $order, "1"),
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
    "ifnull((SELECT created FROM bound), ?1 ->> '$.first')",
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
    "ifnull((SELECT created FROM bound), ?1 ->> '$.last')",
    "<="
);
