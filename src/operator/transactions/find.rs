//! Transactions by what a caller on the phone knows.

use super::{Damaged, Listing, Row, Wanted, scopes};
use crate::operator::{OperatorError, Result, secret};
use crate::scope::{Mode, Scope};
use crate::secret::NamespaceSecret;
use crate::store::{OperatorStore, Summary, TransactionKey};
use serde::{Deserialize, Serialize};

/// What is known of a transaction, in full.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// The shop's reference: one list call for each mode finds the order.
    Reference(String),
    /// The recipient's e-mail address, in whatever case: all of the shop's records are listed.
    Email(String),
}

impl By {
    fn prefix(&self, secret: &NamespaceSecret, scope: &Scope) -> String {
        match self {
            By::Reference(reference) => TransactionKey::order_prefix(secret, scope, reference),
            By::Email(_) => TransactionKey::shop_prefix(scope),
        }
    }

    /// Whether a record is meant. Its name alone does not say: 40 bits of it stand for an order.
    fn fits(&self, secret: &NamespaceSecret, scope: &Scope, summary: &Summary) -> bool {
        let Some(hashes) = &summary.lookup else { return false }; // it was erased
        match self {
            By::Reference(reference) => hashes.reference == secret.reference(scope, reference),
            By::Email(address) => hashes.email == secret.email(scope, address),
        }
    }
}

/// What was found.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    /// In the order of their times.
    pub transactions: Vec<Row>,
    /// Records that could not be looked at.
    pub damaged: Damaged,
}

/// Finds a unit's transactions, in one mode or in both. Those of the last minute may be missing, and
/// those that were erased are.
///
/// # Errors
/// If the namespace has no secret, or the store fails.
pub async fn find(
    store: &impl OperatorStore,
    unit: &str,
    mode: Option<Mode>,
    by: &By,
) -> Result<Found> {
    let secret = secret::find(store).await?.ok_or(OperatorError::NoSecret)?;
    let mut found = Found { transactions: Vec::new(), damaged: Damaged::default() };
    for scope in scopes(unit, mode) {
        let wanted = Wanted { unit: Some(scope.unit.clone()), mode: Some(scope.mode) };
        let mut listing = Listing::new(store, vec![by.prefix(&secret, &scope)], wanted);
        while let Some(page) = listing.next().await? {
            for (id, metadata) in page {
                if by.fits(&secret, &scope, &metadata.summary) {
                    found.transactions.extend(Row::new(&id, metadata));
                }
            }
        }
        found.damaged = found.damaged.and(listing.damaged);
    }
    found.transactions.sort_by(|a, b| a.created_at.cmp(&b.created_at));
    Ok(found)
}
