//! Finds transactions by reference or e-mail address.

use super::{Wanted, order};
use crate::ledger::{self, Direction, Ledger, Order, OrderPage, Place};
use crate::operator::coverage::{Coverage, coverage};
use crate::operator::{OperatorError, Pages, Result, bound, secret};
use crate::scope::Scope;
use crate::secret::NamespaceSecret;
use crate::store::{OperatorStore, Recorded, TransactionKey};
use serde::{Deserialize, Serialize};

/// Most shops of one query: each has up to two hashes of 32 bytes, and D1 takes a text of 2 MB.
const MAX_SHOPS: usize = 10_000;
/// Most list calls for the records of one order, of each mode. They share 40 bits of their names.
const MAX_LISTS: usize = 4;

/// The text to find a transaction by, in full.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// The shop's reference.
    Reference(String),
    /// The recipient's e-mail address in any spelling of its mailbox.
    Email(String),
}

/// The transactions that were found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The newest first.
    pub transactions: Vec<Order>,
    /// Whether there are older ones.
    pub more: bool,
    /// Up to when this is complete; `None` where Workers KV was asked: its lists may not show the newest ones yet.
    #[serde(flatten)]
    pub coverage: Option<Coverage>,
}

impl Found {
    /// Where the next page begins; `None` after the last one.
    pub fn older(&self) -> Option<Place> {
        self.transactions.last().filter(|_| self.more).map(Order::place)
    }
}

/// Finds transactions of a unit or of all, in one mode or in both: those after a place, at most so many. A reference of a
/// unit is found in Workers KV, with one list call for each mode; anything else by the ledger, with two queries for all
/// shops. An address does not find what was erased.
///
/// # Errors
/// If the unit's ID is out of bounds, the namespace has no secret, no ledger is bound where it is needed, or store or ledger
/// fail.
pub async fn find(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    (wanted, by): (&Wanted, &By),
    from: &Direction,
    most: usize,
) -> Result<Found> {
    wanted.check()?;
    if let (By::Reference(reference), Some(shops)) = (by, wanted.shops()) {
        let secret = find_secret(store).await?;
        let order = Searched { wanted, secret, shops: &shops, reference };
        return order.find(store, from, most).await;
    }
    let ledger = bound(ledger)?;
    let secret = find_secret(store).await?;
    let shops = match wanted.shops() {
        Some(shops) => shops,
        None => ledger::shops(ledger, wanted.mode, None).await?,
    };
    let mut found = Vec::new();
    for shops in shops.chunks(MAX_SHOPS) {
        let OrderPage { orders, .. } = match by {
            By::Reference(text) => {
                ledger::by_reference(ledger, &secret, (shops, text), from, most + 1).await?
            }
            By::Email(text) => {
                ledger::by_email(ledger, &secret, (shops, text), from, most + 1).await?
            }
        };
        found.extend(orders);
    }
    let coverage = coverage(ledger, wanted.shops().as_deref()).await?;
    Ok(newest(found, most, Some(coverage)))
}

/// The newest of what was found.
fn newest(mut transactions: Vec<Order>, most: usize, coverage: Option<Coverage>) -> Found {
    transactions.sort_unstable_by(|a, b| (b.created_ms, &b.id).cmp(&(a.created_ms, &a.id)));
    let more = transactions.len() > most;
    transactions.truncate(most);
    Found { transactions, more, coverage }
}

/// The secret that references and addresses are found by.
pub(super) async fn find_secret(store: &impl OperatorStore) -> Result<NamespaceSecret> {
    secret::find(store).await?.ok_or_else(|| {
        OperatorError::Invalid(
            "this namespace has no secret, which references and addresses are found by: it is \
             made with the first API key"
                .to_owned(),
        )
    })
}

/// An order of a unit that is searched in Workers KV.
struct Searched<'s> {
    wanted: &'s Wanted,
    secret: NamespaceSecret,
    shops: &'s [Scope],
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
        let prefix = |shop| TransactionKey::order_prefix(&self.secret, shop, self.reference);
        let mut prefixes: Vec<_> = self.shops.iter().map(prefix).collect();
        prefixes.dedup(); // the 40-bit hashes of both modes can be equal
        prefixes
    }

    /// Whether a record matches. Its name does not tell, as the 40-bit hashes of orders can be equal; what was erased has no
    /// other hash any more.
    fn has(&self, recorded: &Recorded) -> bool {
        let hash = recorded.summary.lookup.as_ref().map(|hashes| &hashes.reference);
        let is_own = match hash {
            Some(own) => {
                own.as_ref() == Some(&self.secret.reference(&recorded.scope(), self.reference))
            }
            None => recorded.summary.erased.is_some(),
        };
        is_own && self.wanted.has(recorded)
    }
}
