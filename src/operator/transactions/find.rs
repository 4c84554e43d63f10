//! Finds transactions by reference or e-mail address.

use super::{Damaged, Listing, Position, Row, Wanted, scopes};
use crate::operator::{OperatorError, Pages, Result, secret};
use crate::secret::NamespaceSecret;
use crate::store::{Key as _, OperatorStore, Recorded, TransactionKey};
use serde::{Deserialize, Serialize};

/// The text to find a transaction by, in full.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// The shop's reference: needs one list call for each mode.
    Reference(String),
    /// The recipient's e-mail address in any spelling of its mailbox: lists all records of the shop, or of all units.
    Email(String),
}

impl By {
    /// The prefixes of the names of all records that may match.
    fn prefixes(&self, secret: &NamespaceSecret, wanted: &Wanted) -> Vec<String> {
        match (self, &wanted.unit) {
            (By::Reference(reference), Some(unit)) => scopes(unit, wanted.mode)
                .iter()
                .map(|scope| TransactionKey::order_prefix(secret, scope, reference))
                .collect(),
            _ => wanted.prefixes(),
        }
    }

    /// Whether a record matches. Its name does not tell: the 40-bit hashes of orders can be equal.
    fn fits(&self, secret: &NamespaceSecret, recorded: &Recorded) -> bool {
        let Some(hashes) = &recorded.summary.lookup else { return false }; // it was erased
        let scope = recorded.scope();
        match self {
            By::Reference(reference) => {
                hashes.reference.as_ref() == Some(&secret.reference(&scope, reference))
            }
            By::Email(address) => secret.is_email(&hashes.email, &scope, address),
        }
    }
}

/// The transactions that were found.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    /// Sorted by time.
    pub transactions: Vec<Row>,
    /// Records that could not be read.
    pub damaged: Damaged,
}

/// What a step of a search has found.
#[derive(Clone, Debug, Serialize)]
pub struct FoundStep {
    /// Sorted by time; at most as many as were listed.
    pub transactions: Vec<Row>,
    /// Records of this step that could not be read.
    pub damaged: Damaged,
    /// Number of records that were listed.
    pub listed: usize,
    /// Where the next step goes on; `None` at the end.
    #[serde(skip)]
    pub next: Option<Position>,
}

/// Finds transactions of a unit or of all, in one mode or in both. Transactions of the last minute may
/// be missing, and erased ones are.
///
/// # Errors
/// If the unit's ID is out of bounds, the namespace has no secret, or the store fails.
pub async fn find(store: &impl OperatorStore, wanted: Wanted, by: &By) -> Result<Found> {
    wanted.check()?;
    let FoundStep { transactions, damaged, .. } =
        find_step(store, &wanted, by, None, usize::MAX).await?;
    Ok(Found { transactions, damaged })
}

/// As [`find`], with at most so many list calls, and at least one. Begins where the step before ended.
///
/// # Errors
/// As [`find`].
pub async fn find_step(
    store: &impl OperatorStore,
    wanted: &Wanted,
    by: &By,
    from: Option<&Position>,
    lists: usize,
) -> Result<FoundStep> {
    let mut search = Search::new(store, wanted, by, from).await?;
    let mut transactions = Vec::new();
    for _ in 0..lists.max(1) {
        let Some(found) = search.next().await? else { break };
        for recorded in found {
            let name = TransactionKey(&recorded.id).name();
            match Row::new(recorded) {
                Some(row) => transactions.push(row),
                None => search.listing.damaged.add(name),
            }
        }
    }
    transactions.sort_unstable_by(|a, b| (&a.created_at, &a.id).cmp(&(&b.created_at, &b.id)));
    let Listing { damaged, listed, position, .. } = search.listing;
    Ok(FoundStep { transactions, damaged, listed, next: position })
}

/// A search, page by page.
pub(super) struct Search<'s, S> {
    pub listing: Listing<'s, S>,
    by: &'s By,
    secret: NamespaceSecret,
}

impl<'s, S: OperatorStore> Search<'s, S> {
    pub async fn new(
        store: &'s S,
        wanted: &Wanted,
        by: &'s By,
        from: Option<&Position>,
    ) -> Result<Self> {
        let secret = secret::find(store).await?.ok_or_else(|| {
            OperatorError::Invalid(
                "this namespace has no secret, which references and addresses are found by: it is \
                 made with the first API key"
                    .to_owned(),
            )
        })?;
        let listing = Listing::new(store, by.prefixes(&secret, wanted), wanted.clone(), from);
        Ok(Search { listing, by, secret })
    }

    /// What matches of the next page; `None` after the last page.
    pub async fn next(&mut self) -> Result<Option<Vec<Recorded>>> {
        let Some(mut page) = self.listing.next().await? else { return Ok(None) };
        page.retain(|recorded| self.by.fits(&self.secret, recorded));
        Ok(Some(page))
    }
}

/// Pages of a list that are counted before it is searched.
const MAX_COUNTED_PAGES: u32 = 10;

/// The number of records that a search over all units lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Size {
    /// The records that were counted.
    pub records: usize,
    /// Whether there are more: their number would cost as much as the search.
    pub more: bool,
}

/// Counts what a search over all units lists, within ten pages.
///
/// # Errors
/// If the store fails.
pub async fn size_of_all(store: &impl OperatorStore) -> Result<Size> {
    let mut pages = Pages::new(store, TransactionKey::PREFIX);
    let mut records = 0;
    for _ in 0..MAX_COUNTED_PAGES {
        let Some(page) = pages.next().await? else { return Ok(Size { records, more: false }) };
        records += page.len();
    }
    Ok(Size { records, more: pages.next().await?.is_some_and(|page| !page.is_empty()) })
}
