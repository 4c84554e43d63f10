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
      AND (scope_of.key IS NULL OR t.key = scope_of.key)
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
pub(crate) use of_scope;
