//! The SQL that lists transactions.

use super::order::{Filter, Order};
use crate::office::shared::rows::money::money;
use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use crate::office::shops::rows::scopes::wanted;
use crate::pledges::scope::Scope;
use crate::pledges::time::date_time;
use serde::{Deserialize, Serialize};

#[derive(Serialize)]
pub(crate) struct ListingQuery<'a> {
    #[serde(flatten)]
    pub filter: &'a Filter,
    /// The page continues after the transaction with this creation time and the ID `id`. It contains only
    /// transactions that were created between `first` and `last`.
    pub created: u64,
    pub id: &'a str,
    pub first: u64,
    pub last: u64,
    pub most: usize,
    #[serde(flatten)]
    pub by: Option<&'a Hashes>,
}

/// The hashes by which a page selects its transactions.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Hashes {
    Email {
        hashes: Vec<String>,
    },
    /// The hashes of a reference. Rows without a hash are found by `prefixes`: the beginnings of the
    /// transactions' IDs.
    Reference {
        hashes: Vec<String>,
        prefixes: Vec<String>,
    },
}

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
        (None, false) => ask(ledger, &Older(asked)).await,
        (None, true) => ask(ledger, &Newer(asked)).await,
    }
}

#[derive(Deserialize)]
pub(crate) struct Row {
    id: String,
    #[serde(flatten)]
    scope: Scope,
    created: u64,
    currency: String,
    cents: Option<u64>,
    amount: Option<String>,
    unpriced: usize,
    key: Option<String>,
    prices: Option<u64>,
    erased: Option<u64>,
    credits: u8,
    credit_cents: Option<u64>,
    credit_amount: Option<String>,
    paid: u8,
}

impl Row {
    pub fn into_order(self) -> Order {
        let credited = || money(self.credit_cents, self.credit_amount.as_deref());
        Order {
            credited: (self.credits > 0).then(credited),
            paid: self.paid > 0,
            cancelled: false,
            id: self.id,
            scope: self.scope,
            created_ms: self.created,
            created_at: date_time(self.created),
            amount: money(self.cents, self.amount.as_deref()),
            currency_code: self.currency,
            unpriced: self.unpriced,
            key: self.key,
            prices: self.prices,
            erased: self.erased.map(date_time),
        }
    }
}

/// SQL for the columns of a [`Row`], taken from the transaction `t` and its scope `s`.
macro_rules! columns_of {
    () => {
        "json_object('id', t.id, 'mode', s.mode, 'unit', s.unit, 'created', t.created,
  'currency', t.currency, 'cents', t.cents, 'amount', t.amount, 'unpriced', t.unpriced,
  'key', (SELECT id FROM keys WHERE key = t.key), 'prices', t.prices, 'erased', t.erased,
  'credits', (SELECT count(*) FROM credits c WHERE c.id = t.id),
  'credit_cents', (SELECT sum(cents) FROM credits c WHERE c.id = t.id),
  'credit_amount', (SELECT max(amount) FROM credits c WHERE c.id = t.id),
  'paid', EXISTS (SELECT 1 FROM published p WHERE p.content IS NOT NULL
    AND p.name = 'settlement:' || s.mode || ':' || s.unit || ':' || strftime('%Y-%m', t.created / 1000, 'unixepoch')))"
    };
}
pub(crate) use columns_of;

/// SQL that selects the columns of a [`Row`] for each transaction of the table expression `found(scope, created, id)`,
/// sorted.
macro_rules! columns {
    ($order:literal) => {
        concat!(
            "SELECT ",
            columns_of!(),
            "
FROM found CROSS JOIN transactions t ON t.scope = found.scope AND t.created = found.created AND t.id = found.id
  CROSS JOIN scopes s ON s.scope = t.scope
ORDER BY t.created ",
            $order,
            ", t.id ",
            $order,
            " LIMIT ?1 ->> '$.most'"
        )
    };
}

/// SQL that selects the transactions of a scope that match the filter and lie between two times, newest or
/// oldest first.
macro_rules! of_scope {
    ($first:literal, $last:literal, $beyond:literal, $order:literal, $most:literal) => {
        concat!(
            "FROM transactions t
    WHERE t.scope = scope_of.scope AND t.created BETWEEN ",
            $first,
            " AND ",
            $last,
            " AND (t.created, t.id) ",
            $beyond,
            " (?1 ->> '$.created', ?1 ->> '$.id')
      AND (scope_of.key IS NULL OR t.key = scope_of.key) AND (NOT ?1 ->> '$.unpriced' OR t.unpriced > 0)
      AND (?1 ->> '$.changed_after' IS NULL OR t.changed > ?1 ->> '$.changed_after')
    ORDER BY t.created ",
            $order,
            ", t.id ",
            $order,
            " LIMIT ",
            $most
        )
    };
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

/// Defines three queries for pages in one direction: for all transactions, for those of an e-mail address,
/// and for those of a reference.
///
/// The first query reads only those scopes that can contribute to the page. It sorts the scopes by their
/// first transaction in this direction, and takes as many scopes as the page has entries. The first transactions of
/// these scopes already fill a page, so other scopes cannot contribute.
macro_rules! pages {
    ($name:ident, $by_email:ident, $by_reference:ident, $beyond:literal, $order:literal, $first:literal, $last:literal, $within:literal) => {
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
                of_scope!("?1 ->> '$.first'", "?1 ->> '$.last'", $beyond, $order, "1"),
                ") AS created FROM scope_of
), bound AS (
  SELECT created FROM first_of WHERE created IS NOT NULL
  ORDER BY created ",
                $order,
                " LIMIT 1 OFFSET ?1 ->> '$.most' - 1
), found AS (
  SELECT scope_of.scope, own.value ->> '$[0]' AS created, own.value ->> '$[1]' AS id
  FROM first_of scope_of CROSS JOIN json_each((SELECT json_group_array(json_array(created, id)) FROM (SELECT t.created, t.id ",
                of_scope!($first, $last, $beyond, $order, "?1 ->> '$.most'"),
                "))) own
  WHERE scope_of.created ",
                $within,
                " ifnull((SELECT created FROM bound), scope_of.created)
) ",
                columns!($order)
            );
        }

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
    NewerByEmail,
    NewerByReference,
    ">",
    "ASC",
    "scope_of.created",
    "ifnull((SELECT created FROM bound), ?1 ->> '$.last')",
    "<="
);
