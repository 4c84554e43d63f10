//! What the queries that list transactions share.

use super::order::{Filter, Order};
use crate::office::shared::rows::money::money;
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

/// SQL: whether the month of the transaction `t` is marked as paid.
macro_rules! is_paid {
    () => {
        "EXISTS (SELECT 1 FROM scopes o JOIN published p
    ON p.name = 'settlement:' || o.mode || ':' || o.unit || ':' || strftime('%Y-%m', t.created / 1000, 'unixepoch')
    WHERE o.scope = t.scope AND p.content IS NOT NULL)"
    };
}
pub(crate) use is_paid;

/// SQL: whether the transaction `t` matches the members of the filter that no index decides.
macro_rules! matches_filter {
    () => {
        concat!(
            "(?1 ->> '$.changed_after' IS NULL OR t.changed > ?1 ->> '$.changed_after')
      AND (?1 ->> '$.least' IS NULL OR ifnull(t.cents >= ?1 ->> '$.least', 1))
      AND (?1 ->> '$.greatest' IS NULL OR t.cents <= ?1 ->> '$.greatest')
      AND CASE ?1 ->> '$.state' WHEN 'unpriced' THEN t.unpriced > 0 WHEN 'erased' THEN t.erased IS NOT NULL
        WHEN 'failed' THEN t.erased IS NULL WHEN 'credited' THEN EXISTS (SELECT 1 FROM credits c WHERE c.id = t.id)
        WHEN 'paid' THEN ",
            is_paid!(),
            " WHEN 'unpaid' THEN NOT ",
            is_paid!(),
            " ELSE 1 END"
        )
    };
}
pub(crate) use matches_filter;

/// SQL for rows that are not found by their scope and time. It keeps only rows that belong to the page and match the
/// filter. The `+` prevents SQLite from looking up each row once for each scope.
macro_rules! of_filter {
    ($beyond:literal) => {
        concat!(
            "(t.created, t.id) ",
            $beyond,
            " (?1 ->> '$.created', ?1 ->> '$.id')
    AND t.created BETWEEN ?1 ->> '$.first' AND ?1 ->> '$.last' AND ",
            matches_filter!(),
            "
    AND (?1 ->> '$.key' IS NULL OR t.key IN (SELECT key FROM keys WHERE id = ?1 ->> '$.key'))
    AND (json_type(?1, '$.ids') IS NULL OR t.id IN (SELECT value FROM json_each(?1, '$.ids')))
    AND +t.scope IN (SELECT scope FROM wanted)"
        )
    };
}
pub(crate) use of_filter;

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
pub(crate) use columns;

/// SQL that selects the transactions of a scope that match the filter and lie between two times, newest or
/// oldest first. `$unpriced` is an SQL condition with the index that finds it, or nothing.
macro_rules! of_scope {
    ($unpriced:literal, $first:literal, $last:literal, $beyond:literal, $order:literal, $most:literal) => {
        concat!(
            "FROM transactions t ",
            $unpriced,
            " t.scope = scope_of.scope AND t.created BETWEEN ",
            $first,
            " AND ",
            $last,
            " AND (t.created, t.id) ",
            $beyond,
            " (?1 ->> '$.created', ?1 ->> '$.id')
      AND (scope_of.key IS NULL OR t.key = scope_of.key) AND ",
            matches_filter!(),
            "
    ORDER BY t.created ",
            $order,
            ", t.id ",
            $order,
            " LIMIT ",
            $most
        )
    };
}
pub(crate) use of_scope;
