//! Finds transactions by reference or e-mail address.

use super::{Damaged, Listing, Metadata, Row, Wanted, scopes};
use crate::operator::{OperatorError, Result, secret};
use crate::scope::{Mode, Scope};
use crate::secret::NamespaceSecret;
use crate::store::{OperatorStore, TransactionKey};
use serde::{Deserialize, Serialize};

/// The text to find a transaction by, in full.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// The shop's reference: needs one list call for each mode.
    Reference(String),
    /// The recipient's e-mail address in any case: lists all records of the shop.
    Email(String),
}

impl By {
    fn prefix(&self, secret: &NamespaceSecret, scope: &Scope) -> String {
        match self {
            By::Reference(reference) => TransactionKey::order_prefix(secret, scope, reference),
            By::Email(_) => TransactionKey::shop_prefix(scope),
        }
    }

    /// Whether a record matches. Its name does not tell: the 40-bit hashes of orders can be equal.
    fn fits(&self, secret: &NamespaceSecret, metadata: &Metadata) -> bool {
        let Some(hashes) = &metadata.summary.lookup else { return false }; // it was erased
        let scope = Scope { mode: metadata.mode, unit: metadata.unit.clone() };
        match self {
            By::Reference(reference) => hashes.reference == secret.reference(&scope, reference),
            By::Email(address) => hashes.email == secret.email(&scope, address),
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

/// Finds a unit's transactions, in one mode or in both. Transactions of the last minute may be missing,
/// and erased ones are.
///
/// # Errors
/// If the namespace has no secret, or the store fails.
pub async fn find(
    store: &impl OperatorStore,
    unit: &str,
    mode: Option<Mode>,
    by: &By,
) -> Result<Found> {
    let secret = secret::find(store).await?.ok_or_else(|| {
        OperatorError::Invalid(
            "this namespace has no secret, which references and addresses are found by: it is \
             made with the first API key"
                .to_owned(),
        )
    })?;
    let prefixes = scopes(unit, mode).iter().map(|scope| by.prefix(&secret, scope)).collect();
    let wanted = Wanted { unit: Some(unit.to_owned()), mode };
    let mut listing = Listing::new(store, prefixes, wanted);
    let mut transactions = Vec::new();
    while let Some(page) = listing.next().await? {
        let found = page.into_iter().filter(|(_, metadata)| by.fits(&secret, metadata));
        transactions.extend(found.filter_map(|(id, metadata)| Row::new(&id, metadata)));
    }
    transactions.sort_by(|a, b| a.created_at.cmp(&b.created_at));
    Ok(Found { transactions, damaged: listing.damaged })
}
