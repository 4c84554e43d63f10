//! Finds transactions by reference or e-mail address.

use super::{TransactionFilter, order};
use crate::office::orders::rows::order::{Order, PageCursor};
use crate::office::orders::rows::orders;
use crate::office::orders::rows::orders::{Direction, OrderPage};
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::coverage::{Coverage, coverage};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::records::Pages;
use crate::office::shops::rows::scopes;
use crate::office::system::rule::secret;
use crate::pledges::scope::Scope;
use crate::pledges::secret::NamespaceSecret;
use crate::pledges::store::{OperatorStore, Recorded, TransactionKey};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Largest number of scopes in one query. Each scope has up to two hashes of 32 bytes, and D1 accepts a text of up to 2
/// MB.
const MAX_SCOPES: usize = 10_000;
/// Largest number of list calls for one reference in each mode. One call may not be enough, because the records of
/// other references can have the same 40-bit hash in their names.
const MAX_LISTS: usize = 4;

/// What transactions are searched for: a whole reference or a whole e-mail address.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchKey {
    /// The transaction's reference. Different spellings of one order number match, such as `1053` and `#1053`.
    Reference(String),
    /// The recipient's e-mail address. Different spellings of the same mailbox match.
    Email(String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The transactions, newest first.
    pub transactions: Vec<Order>,
    pub more: bool,
    /// How complete the result is. `None` for a result from Workers KV, whose lists may not show the newest
    /// transactions yet.
    #[serde(flatten)]
    pub coverage: Option<Coverage>,
}

impl Found {
    /// Returns the position from which a search finds older matches; `None` if there are none.
    pub fn older(&self) -> Option<PageCursor> {
        self.transactions.last().filter(|_| self.more).map(Order::place)
    }
}

/// Finds at most `most` transactions by reference or e-mail address, in one unit or all, and in one mode or
/// both. `from` is the position to continue from. Erased transactions are not found by e-mail address.
///
/// The ledger also finds other spellings of the reference, such as `#1053` for `1053`
/// ([`order_number`](crate::pledges::order_number::order_number)). Ledger cost: 1 query per 10,000 scopes, and 2 for the
/// coverage. A search in all units costs 1 more query.
///
/// If the ledger finds nothing, a search for a reference in one unit continues in Workers KV.
/// There, only the exact reference is found, but in all months. KV cost: usually 1 list for each mode, at
/// most 4.
///
/// # Errors
/// - If the unit's ID is not valid, or the namespace has no secret.
/// - If the store or the ledger fails.
pub async fn find(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    (filter, by): (&TransactionFilter, &SearchKey),
    from: &Direction,
    most: usize,
) -> Result<Found> {
    filter.check()?;
    let (SearchKey::Reference(reference), Some(scopes)) = (by, filter.scopes()) else {
        let secret = find_secret(store).await?;
        return in_ledger((ledger, &secret), (filter, by), from, most).await;
    };
    let secret = &find_secret(store).await?;
    let of_ledger = in_ledger((ledger, secret), (filter, by), from, most).await?;
    if !of_ledger.transactions.is_empty() {
        return Ok(of_ledger);
    }
    let found =
        Searched { filter, secret, scopes: &scopes, reference }.find(store, from, most).await?;
    Ok(if found.transactions.is_empty() { of_ledger } else { found })
}

async fn in_ledger(
    (ledger, secret): (&dyn Ledger, &NamespaceSecret),
    (filter, by): (&TransactionFilter, &SearchKey),
    from: &Direction,
    most: usize,
) -> Result<Found> {
    let scopes = match filter.scopes() {
        Some(scopes) => scopes,
        None => scopes::scopes(ledger, filter.mode, None).await?,
    };
    let found = of_scopes(ledger, secret, (&scopes, by), from, most).await?;
    let coverage = coverage(ledger, filter.scopes().as_deref()).await?;
    Ok(newest(found, most, Some(coverage)))
}

/// Finds at most `most` transactions as [`find`] does, but only those of the given units, which must be
/// sorted. Finds nothing if the filter names another unit. Uses only the ledger. Ledger cost: 1 query for the
/// scopes, 1 per 10,000 scopes, and 2 for the coverage.
///
/// # Errors
/// If the namespace has no secret, or the store or the ledger fails.
pub async fn find_within(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    units: &[String],
    (filter, by): (&TransactionFilter, &SearchKey),
    from: &Direction,
    most: usize,
) -> Result<Found> {
    let secret = find_secret(store).await?;
    let is_wanted = |unit: &&String| filter.unit.as_ref().is_none_or(|wanted| wanted == *unit);
    let wanted: Vec<_> = units.iter().filter(is_wanted).cloned().collect();
    let scopes = scopes::scopes(ledger, filter.mode, Some(&wanted)).await?;
    let mut found = of_scopes(ledger, &secret, (&scopes, by), from, most).await?;
    // IDs of two scopes can have the same 40-bit hash.
    found.retain(|order| wanted.binary_search(&order.scope.unit).is_ok());
    let coverage = coverage(ledger, Some(&scopes)).await?;
    Ok(newest(found, most, Some(coverage)))
}

/// Returns the transactions of these scopes that match the search. Reads at most `most` + 1 transactions for
/// every 10,000 scopes. The additional one shows that there are more matches.
async fn of_scopes(
    ledger: &dyn Ledger,
    secret: &NamespaceSecret,
    (scopes, by): (&[Scope], &SearchKey),
    from: &Direction,
    most: usize,
) -> Result<Vec<Order>> {
    let mut found = Vec::new();
    for scopes in scopes.chunks(MAX_SCOPES) {
        let OrderPage { orders, .. } = match by {
            SearchKey::Reference(text) => {
                orders::by_reference(ledger, secret, (scopes, text), from, most + 1).await?
            }
            SearchKey::Email(text) => {
                orders::by_email(ledger, secret, (scopes, text), from, most + 1).await?
            }
        };
        found.extend(orders);
    }
    Ok(found)
}

fn newest(mut transactions: Vec<Order>, most: usize, coverage: Option<Coverage>) -> Found {
    transactions.sort_unstable_by(|a, b| (b.created_ms, &b.id).cmp(&(a.created_ms, &a.id)));
    let more = transactions.len() > most;
    transactions.truncate(most);
    Found { transactions, more, coverage }
}

/// Returns the namespace's secret, which is needed to hash references and addresses. KV cost: 1 read, or more
/// while KV does not show the secret's record yet.
///
/// # Errors
/// If the namespace has no secret, or the store fails.
pub async fn find_secret(store: &impl OperatorStore) -> Result<NamespaceSecret> {
    secret::find(store).await?.ok_or_else(|| {
        OperatorError::invalid(
            "nothing can be found by reference or address yet, because this namespace has no secret. \
             The secret is created with the first API key"
                .to_owned(),
        )
    })
}

/// A search in Workers KV for a reference in one unit.
struct Searched<'s> {
    filter: &'s TransactionFilter,
    secret: &'s NamespaceSecret,
    scopes: &'s [Scope],
    reference: &'s str,
}

impl Searched<'_> {
    async fn find(
        &self,
        store: &impl OperatorStore,
        from: &Direction,
        most: usize,
    ) -> Result<Found> {
        let mut found = Vec::new();
        for prefix in self.prefixes() {
            let mut pages = Pages::new(store, prefix);
            for _ in 0..MAX_LISTS {
                let Some(page) = pages.next().await? else { break };
                let recorded = page.into_iter().filter_map(|record| {
                    let id = TransactionKey::parse(&record.name)?;
                    Recorded::from_metadata(id, &record.metadata).ok()
                });
                found.extend(recorded.filter(|it| self.has(it)).filter_map(order));
            }
        }
        if let Direction::Older(place) = from {
            found.retain(|order| order.place() < *place);
        }
        Ok(newest(found, most, None))
    }

    fn prefixes(&self) -> Vec<String> {
        let prefix = |scope| TransactionKey::order_prefix(self.secret, scope, self.reference);
        let mut prefixes: Vec<_> = self.scopes.iter().map(prefix).collect();
        prefixes.dedup(); // the 40-bit hashes of both modes can be equal
        prefixes
    }

    /// Returns whether a record has the reference. Compares the full hash of the reference, because the hash
    /// in the record's name has only 40 bits. Two references can share these 40 bits. An erased transaction
    /// has no full hash, so its name is enough.
    fn has(&self, recorded: &Recorded) -> bool {
        let is_own = match &recorded.summary.lookup {
            Some(hashes) => hashes.order == self.secret.order(&recorded.scope, self.reference),
            None => recorded.summary.erased.is_some(),
        };
        is_own && self.filter.has(recorded)
    }
}

/// Counts transactions by unit and mode.
pub fn counts_by_scope(transactions: &[Order]) -> BTreeMap<&Scope, usize> {
    let mut counts = BTreeMap::new();
    for order in transactions {
        *counts.entry(&order.scope).or_default() += 1;
    }
    counts
}
