//! Lists transactions, newest first: by scope, API key, e-mail address or reference, or all transactions.

use super::listed::{Hashes, ListingQuery, Row};
use super::listing::rows;
use super::order::{Filter, Order, PageCursor};
use super::related::Likeness;
use crate::office::shared::rows::port::{Ledger, Result};
use crate::pledges::scope::Scope;
use crate::pledges::secret::NamespaceSecret;
use crate::pledges::types::TransactionId;
use serde::Serialize;

/// Which page of a list to read. A list begins with the newest transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The first page, with the newest transactions.
    Newest,
    /// The page of transactions that are older than this cursor.
    Older(PageCursor),
    /// The page of transactions that are newer than this cursor.
    Newer(PageCursor),
}

/// A page of a list, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OrderPage {
    /// The transactions of the page, at most as many as were requested.
    pub orders: Vec<Order>,
    /// The cursor for [`Direction::Newer`]; `None` on the first page.
    #[serde(skip)]
    pub newer: Option<PageCursor>,
    /// The cursor for [`Direction::Older`]; `None` on the last page.
    #[serde(skip)]
    pub older: Option<PageCursor>,
}

/// Returns a page of the transactions that match a filter. One query.
pub async fn orders(
    ledger: &dyn Ledger,
    filter: &Filter,
    from: &Direction,
    most: usize,
) -> Result<OrderPage> {
    page(ledger, &Selection { filter, by: None }, from, most).await
}

/// Returns a page of the transactions of an e-mail address in these scopes. Other spellings of the same
/// mailbox count, too. Erased transactions are not found. One query.
pub async fn by_email(
    ledger: &dyn Ledger,
    secret: &NamespaceSecret,
    (scopes, email): (&[Scope], &str),
    from: &Direction,
    most: usize,
) -> Result<OrderPage> {
    let hashes = scopes.iter().map(|scope| secret.email(scope, email)).collect();
    let by = Some(Hashes::Email { hashes });
    page(ledger, &Selection { filter: &Filter::default(), by }, from, most).await
}

/// Returns a page of the transactions with a reference in these scopes. Also finds other spellings of the
/// reference's [`order_number`](crate::pledges::order_number::order_number). One query.
///
/// Erased transactions are found only by the exact reference.
pub async fn by_reference(
    ledger: &dyn Ledger,
    secret: &NamespaceSecret,
    (scopes, reference): (&[Scope], &str),
    from: &Direction,
    most: usize,
) -> Result<OrderPage> {
    with_reference(ledger, secret, (scopes, reference), &Filter::default(), from, most).await
}

/// Returns a page of the transactions that [`by_reference`] finds and that match a filter. One query.
pub(crate) async fn with_reference(
    ledger: &dyn Ledger,
    secret: &NamespaceSecret,
    (scopes, reference): (&[Scope], &str),
    filter: &Filter,
    from: &Direction,
    most: usize,
) -> Result<OrderPage> {
    let prefix = |scope: &Scope| TransactionId::order_prefix(secret, scope, reference);
    let prefixes = scopes.iter().map(prefix).collect();
    let hashes = scopes.iter().map(|scope| secret.order(scope, reference)).collect();
    let by = Some(Hashes::Reference { hashes, prefixes });
    page(ledger, &Selection { filter, by }, from, most).await
}

/// Returns a page of the transactions that have the same buyer or the same reference as the given
/// transaction, and match a filter. All of them belong to that transaction's scope. The given transaction
/// itself is included. The page is empty if the given transaction is erased or has no row. Two queries.
pub async fn like(
    ledger: &dyn Ledger,
    (likeness, id): (Likeness, &TransactionId),
    filter: &Filter,
    from: &Direction,
    most: usize,
) -> Result<OrderPage> {
    let by = Some(likeness.hashes(ledger, id).await?);
    page(ledger, &Selection { filter, by }, from, most).await
}

/// How a page selects transactions: by a filter, and by the hashes of an e-mail address or a reference.
struct Selection<'s> {
    filter: &'s Filter,
    by: Option<Hashes>,
}

async fn page(
    ledger: &dyn Ledger,
    selection: &Selection<'_>,
    from: &Direction,
    most: usize,
) -> Result<OrderPage> {
    let last = PageCursor { created: i64::MAX as u64, id: String::new() };
    let (place, is_newer) = match from {
        Direction::Newest => (&last, false),
        Direction::Older(place) => (place, false),
        Direction::Newer(place) => (place, true),
    };
    let filter = selection.filter;
    let until = filter.until.map_or(last.created, |until| until.saturating_sub(1));
    let asked = ListingQuery {
        filter,
        created: place.created,
        id: &place.id,
        first: if is_newer { filter.from.max(place.created) } else { filter.from },
        last: if is_newer { until } else { until.min(place.created) },
        most: most.saturating_add(1), // one more shows whether there is a next page
        by: selection.by.as_ref(),
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
