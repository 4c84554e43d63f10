//! Lists of transactions: the newest of a shop, of a key or of all; those of an address or a reference.

use super::{Ledger, Query, Result, ask};
use crate::pledge::TransactionId;
use crate::scope::{Mode, Scope};
use crate::secret::NamespaceSecret;
use crate::time::date_time;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// Selects transactions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Filter {
    /// Only those of test keys, or of live keys.
    pub mode: Option<Mode>,
    /// Only those of these units; none of them where the list is empty.
    pub units: Option<Vec<String>>,
    /// Only those created then or later, in milliseconds since 1970.
    pub from: u64,
    /// Only those created before, in milliseconds since 1970; `None`: no bound.
    pub until: Option<u64>,
    /// Only those that the API key of this ID made.
    pub key: Option<String>,
    /// Only those with a pledge that has no price.
    pub unpriced: bool,
    /// Only those whose row was written later, in milliseconds since 1970.
    pub changed_after: Option<u64>,
}

/// A transaction in the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    /// Its ID.
    pub id: String,
    /// Whether a test or a live key made it.
    pub mode: Mode,
    /// The unit that it belongs to.
    pub unit: String,
    /// When it was created, in milliseconds since 1970.
    #[serde(skip)]
    pub created_ms: u64,
    /// The same, an RFC 3339 date-time.
    pub created_at: String,
    /// The charge, a decimal with two places.
    pub amount: String,
    /// The code of the currency of `amount`.
    pub currency_code: String,
    /// Number of its pledges whose offering had no price.
    pub unpriced: usize,
    /// The ID of the API key that made it; `None` where that is not known.
    pub key: Option<String>,
    /// When its personal data was erased, an RFC 3339 date-time.
    pub erased: Option<String>,
}

impl Order {
    /// Its place in a list.
    pub fn place(&self) -> Place {
        Place { created: self.created_ms, id: self.id.clone() }
    }
}

/// A place in a list that is sorted by time and ID. Its text, `{milliseconds}-{ID}`, fits an address: an ID is no
/// personal data.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    created: u64,
    id: String,
}

impl Place {
    /// Reads the text of a place; `None` for any other.
    pub fn parse(text: &str) -> Option<Self> {
        let (created, id) = text.split_once('-')?;
        let id = TransactionId::parse(id)?.into_string();
        Some(Place { created: created.parse().ok()?, id })
    }
}

impl Display for Place {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}-{}", self.created, self.id)
    }
}

/// Where a page of a list begins. A list has the newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Direction {
    /// With the newest.
    Newest,
    /// After a place: older ones.
    Older(Place),
    /// Ends before a place: newer ones.
    Newer(Place),
}

/// A page of a list, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OrderPage {
    /// At most as many as were asked for.
    pub orders: Vec<Order>,
    /// Leads to the page of newer ones; `None` where there are none.
    #[serde(skip)]
    pub newer: Option<Place>,
    /// Leads to the page of older ones; `None` where there are none.
    #[serde(skip)]
    pub older: Option<Place>,
}

/// A page of the transactions that a filter selects. One query.
///
/// # Errors
/// If the ledger does not answer.
pub async fn orders(
    ledger: &dyn Ledger,
    filter: &Filter,
    from: &Direction,
    most: usize,
) -> Result<OrderPage> {
    page(ledger, &Selection { filter, hashes: None, prefixes: None }, from, most).await
}

/// A page of the transactions of an e-mail address in these shops, in any spelling of its mailbox. Erased ones are not
/// found. One query.
///
/// # Errors
/// If the ledger does not answer.
pub async fn by_email(
    ledger: &dyn Ledger,
    secret: &NamespaceSecret,
    (shops, email): (&[Scope], &str),
    from: &Direction,
    most: usize,
) -> Result<OrderPage> {
    let hashes = shops.iter().flat_map(|scope| secret.emails(scope, email)).collect();
    let filter = &Filter::default();
    page(ledger, &Selection { filter, hashes: Some(hashes), prefixes: None }, from, most).await
}

/// A page of the transactions of a reference in these shops, erased ones included. One query.
///
/// # Errors
/// If the ledger does not answer.
pub async fn by_reference(
    ledger: &dyn Ledger,
    secret: &NamespaceSecret,
    (shops, reference): (&[Scope], &str),
    from: &Direction,
    most: usize,
) -> Result<OrderPage> {
    let prefix = |scope: &Scope| TransactionId::order_prefix(secret, scope, reference);
    let prefixes = shops.iter().map(prefix).collect();
    let filter = &Filter::default();
    page(ledger, &Selection { filter, hashes: None, prefixes: Some(prefixes) }, from, most).await
}

/// What a page selects: by a filter, by hashes of an address, or by prefixes of IDs.
struct Selection<'s> {
    filter: &'s Filter,
    hashes: Option<Vec<String>>,
    prefixes: Option<Vec<String>>,
}

#[derive(Serialize)]
struct Asked<'a> {
    #[serde(flatten)]
    filter: &'a Filter,
    /// The place that the page goes on from, and the times between which it can be.
    created: u64,
    id: &'a str,
    first: u64,
    last: u64,
    most: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    hashes: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prefixes: Option<&'a [String]>,
}

async fn page(
    ledger: &dyn Ledger,
    selection: &Selection<'_>,
    from: &Direction,
    most: usize,
) -> Result<OrderPage> {
    let last = Place { created: i64::MAX as u64, id: String::new() };
    let (place, is_newer) = match from {
        Direction::Newest => (&last, false),
        Direction::Older(place) => (place, false),
        Direction::Newer(place) => (place, true),
    };
    let filter = selection.filter;
    let until = filter.until.map_or(last.created, |until| until.saturating_sub(1));
    let asked = Asked {
        filter,
        created: place.created,
        id: &place.id,
        first: if is_newer { filter.from.max(place.created) } else { filter.from },
        last: if is_newer { until } else { until.min(place.created) },
        most: most.saturating_add(1), // whether there are more
        hashes: selection.hashes.as_deref(),
        prefixes: selection.prefixes.as_deref(),
    };
    let rows = rows(ledger, asked, is_newer).await?;
    let has_more = rows.len() > most;
    let mut orders: Vec<_> = rows.into_iter().take(most).map(Row::into_order).collect();
    if is_newer {
        orders.reverse();
    }
    let came_from_newer = matches!(from, Direction::Older(_));
    let (has_newer, has_older) = match is_newer {
        true => (has_more, true),
        false => (came_from_newer, has_more),
    };
    let newer = orders.first().filter(|_| has_newer).map(Order::place);
    let older = orders.last().filter(|_| has_older).map(Order::place);
    Ok(OrderPage { orders, newer, older })
}

async fn rows(ledger: &dyn Ledger, asked: Asked<'_>, is_newer: bool) -> Result<Vec<Row>> {
    match (asked.hashes, asked.prefixes, is_newer) {
        (Some(_), _, false) => ask(ledger, &OlderByEmail(asked)).await,
        (Some(_), _, true) => ask(ledger, &NewerByEmail(asked)).await,
        (None, Some(_), false) => ask(ledger, &OlderByReference(asked)).await,
        (None, Some(_), true) => ask(ledger, &NewerByReference(asked)).await,
        (None, None, false) => ask(ledger, &Older(asked)).await,
        (None, None, true) => ask(ledger, &Newer(asked)).await,
    }
}

/// A row of the answer.
#[derive(Deserialize)]
struct Row {
    id: String,
    mode: Mode,
    unit: String,
    created: u64,
    currency: String,
    cents: Option<u64>,
    amount: Option<String>,
    unpriced: usize,
    key: Option<String>,
    erased: Option<u64>,
}

impl Row {
    fn into_order(self) -> Order {
        Order {
            id: self.id,
            mode: self.mode,
            unit: self.unit,
            created_ms: self.created,
            created_at: date_time(self.created),
            amount: super::money::money(self.cents, self.amount.as_deref()),
            currency_code: self.currency,
            unpriced: self.unpriced,
            key: self.key,
            erased: self.erased.map(date_time),
        }
    }
}

// ---- SQL -----------------------------------------------------------------------------------------

/// The shops that are wanted, as `wanted(shop, mode, unit)`.
macro_rules! wanted {
    () => {
        "wanted AS (
  SELECT shop, mode, unit FROM shops
  WHERE (?1 ->> '$.mode' IS NULL OR mode = ?1 ->> '$.mode')
    AND (?1 ->> '$.units' IS NULL OR unit IN (SELECT value FROM json_each(?1, '$.units')))
)"
    };
}
pub(super) use wanted;

/// The columns of a [`Row`], of `found(shop, created, id)`, sorted.
macro_rules! columns {
    ($order:literal) => {
        concat!(
            "SELECT json_object('id', t.id, 'mode', s.mode, 'unit', s.unit, 'created', t.created,
  'currency', t.currency, 'cents', t.cents, 'amount', t.amount, 'unpriced', t.unpriced,
  'key', (SELECT id FROM keys WHERE key = t.key), 'erased', t.erased)
FROM found CROSS JOIN transactions t ON t.shop = found.shop AND t.created = found.created AND t.id = found.id
  CROSS JOIN shops s ON s.shop = t.shop
ORDER BY t.created ",
            $order,
            ", t.id ",
            $order,
            " LIMIT ?1 ->> '$.most'"
        )
    };
}

/// The transactions of a shop that a filter selects, in a direction: those between two times.
macro_rules! of_shop {
    ($first:literal, $last:literal, $beyond:literal, $order:literal, $most:literal) => {
        concat!(
            "FROM transactions t
    WHERE t.shop = shop_of.shop AND t.created BETWEEN ",
            $first,
            " AND ",
            $last,
            " AND (t.created, t.id) ",
            $beyond,
            " (?1 ->> '$.created', ?1 ->> '$.id')
      AND (shop_of.key IS NULL OR t.key = shop_of.key) AND (NOT ?1 ->> '$.unpriced' OR t.unpriced > 0)
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

/// Pages in one direction. Of many shops those are looked at alone that can have a part of the page: as many as it has
/// orders, by the first order of each. That of the last one of them bounds all.
macro_rules! pages {
    ($name:ident, $by_email:ident, $by_reference:ident, $beyond:literal, $order:literal, $first:literal, $last:literal, $within:literal) => {
        #[derive(Serialize)]
        struct $name<'a>(Asked<'a>);

        impl Query for $name<'_> {
            type Row = Row;
            const SQL: &'static str = concat!(
                "WITH ",
                wanted!(),
                ", shop_of AS (
  SELECT w.shop, k.key FROM wanted w LEFT JOIN keys k ON k.id = ?1 ->> '$.key' AND k.shop = w.shop
  WHERE ?1 ->> '$.key' IS NULL OR k.key IS NOT NULL
), first_of AS MATERIALIZED (
  SELECT shop, key, (SELECT t.created ",
                of_shop!("?1 ->> '$.first'", "?1 ->> '$.last'", $beyond, $order, "1"),
                ") AS created FROM shop_of
), bound AS (
  SELECT created FROM first_of WHERE created IS NOT NULL
  ORDER BY created ",
                $order,
                " LIMIT 1 OFFSET ?1 ->> '$.most' - 1
), found AS (
  SELECT shop_of.shop, own.value ->> '$[0]' AS created, own.value ->> '$[1]' AS id
  FROM first_of shop_of CROSS JOIN json_each((SELECT json_group_array(json_array(created, id)) FROM (SELECT t.created, t.id ",
                of_shop!($first, $last, $beyond, $order, "?1 ->> '$.most'"),
                "))) own
  WHERE shop_of.created ",
                $within,
                " ifnull((SELECT created FROM bound), shop_of.created)
) ",
                columns!($order)
            );
        }

        #[derive(Serialize)]
        struct $by_email<'a>(Asked<'a>);

        impl Query for $by_email<'_> {
            type Row = Row;
            const SQL: &'static str = concat!(
                "WITH found AS (
  SELECT t.shop, t.created, t.id FROM json_each(?1, '$.hashes') asked CROSS JOIN transactions t ON t.email = asked.value
  WHERE (t.created, t.id) ",
                $beyond,
                " (?1 ->> '$.created', ?1 ->> '$.id')
) ",
                columns!($order)
            );
        }

        #[derive(Serialize)]
        struct $by_reference<'a>(Asked<'a>);

        impl Query for $by_reference<'_> {
            type Row = Row;
            // `{` is the next character after `z`, the last one of IDs.
            const SQL: &'static str = concat!(
                "WITH found AS (
  SELECT t.shop, t.created, t.id FROM json_each(?1, '$.prefixes') asked
  CROSS JOIN transactions t ON t.id >= asked.value AND t.id < asked.value || '{'
  WHERE (t.created, t.id) ",
                $beyond,
                " (?1 ->> '$.created', ?1 ->> '$.id')
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
    "shop_of.created",
    ">="
);
pages!(
    Newer,
    NewerByEmail,
    NewerByReference,
    ">",
    "ASC",
    "shop_of.created",
    "ifnull((SELECT created FROM bound), ?1 ->> '$.last')",
    "<="
);
